package run

import (
	"log/slog"
	"time"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// fileLog writes one record for each file that is done.
type fileLog struct {
	log     *slog.Logger
	objects []store.Object
	next    int   // first file not done
	rows    int64 // rows since the last record
	began   time.Time
}

// batch counts rows, the last of which lies before after. Those of a batch that
// begins in one file and ends in another are told apart by the cursor.
func (f *fileLog) batch(rows int64, after stream.Cursor) {
	if after.Object == f.next {
		f.rows += rows
		return
	}
	inside := min(rows, after.Row)
	f.rows += rows - inside
	f.advance(after.Object)
	f.rows = inside
}

// advance says that all files before object are done.
func (f *fileLog) advance(object int) {
	for ; f.next < min(object, len(f.objects)); f.next++ {
		o := f.objects[f.next]
		f.log.Info("file read", "file", o.URL, "bytes", o.Size, "rows", f.rows,
			"seconds", time.Since(f.began).Seconds())
		f.rows, f.began = 0, time.Now()
	}
}

// badShown is how many records that cannot be read are logged.
const badShown = 10

// badLog counts records that are left out.
type badLog struct {
	log     *slog.Logger
	reading bool // planning may see the same records before
	n       int64
}

// skip is a format.Options.Bad.
func (l *badLog) skip(err error) {
	if !l.reading {
		return
	}
	if l.n++; l.n <= badShown {
		l.log.Warn("record skipped", "error", err)
	}
	if l.n == badShown {
		l.log.Warn("more skipped records are counted only")
	}
}
