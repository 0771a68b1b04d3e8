package run

import (
	"bufio"
	"context"
	"io"
	"time"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

const (
	// pipeBuffer is what is collected before a pipe is written to: its size on
	// Linux.
	pipeBuffer = 64 << 10
	// removeTime bounds the removal of parts after the user gave up.
	removeTime = 30 * time.Second
)

// part is one file being written: the format, which writes to the compression
// where there is one, which writes to the output.
type part struct {
	name  string
	file  format.File
	pack  io.WriteCloser // nil: none
	lease *mem.Lease     // of pack
	out   store.Output
	sent  format.Counter // what the output got
}

// beginPart begins the file called name in the directory, or the only one.
func (w *files) beginPart(name string) (*part, error) {
	p := &part{name: name}
	var err error
	if w.Pipe != nil {
		p.out, err = newPipe(w.Pipe, w.out)
	} else {
		p.out, err = w.Store.Create(w.ctx, w.URL+name, w.out)
	}
	if err != nil {
		return nil, err
	}
	p.sent.Writer = p.out
	var to format.Output = countedOutput{p}
	if w.pack != codec.PlainFile {
		if err := p.openPack(w); err != nil {
			p.abort()
			return nil, err
		}
		to = packedOutput{p.pack}
	}
	if p.file, err = w.Writer.Begin(to, w.schema, w.Options, w.writer); err != nil {
		p.abort()
		return nil, err
	}
	return p, nil
}

func (p *part) openPack(w *files) (err error) {
	if p.lease, err = w.writer.Acquire(w.ctx, w.packCost()); err != nil {
		return err
	}
	p.pack, err = w.pack.NewWriter(&p.sent, w.level)
	return err
}

// size is that of the file if it were closed now.
func (p *part) size() int64 {
	if p.pack != nil {
		return p.sent.N
	}
	return p.file.Size()
}

// commit makes the file permanent, or leaves nothing behind.
func (p *part) commit(ctx context.Context) (format.Part, error) {
	done, err := p.file.Close()
	p.file = nil
	if err == nil && p.pack != nil {
		err = p.pack.Close()
	}
	p.lease.Release()
	if err != nil {
		p.abort()
		return done, err
	}
	done.Name, done.Bytes = p.name, p.sent.N
	return done, p.out.Commit(ctx)
}

// abort leaves nothing behind.
func (p *part) abort() {
	if p.file != nil {
		p.file.Abort()
	}
	p.lease.Release()
	p.out.Abort()
}

// countedOutput is a part's output as a format sees it.
type countedOutput struct{ *part }

func (o countedOutput) Write(b []byte) (int, error)     { return o.sent.Write(b) }
func (o countedOutput) Patch(b []byte, off int64) error { return o.out.Patch(b, off) }

// packedOutput is compressed on its way.
type packedOutput struct{ io.Writer }

func (packedOutput) Patch([]byte, int64) error {
	return format.Error(format.ErrUsage, "this format goes back to the beginning of its file: it cannot be compressed as a whole")
}

// pipe is an output that cannot be taken back.
type pipe struct {
	*bufio.Writer
	lease *mem.Lease
}

func newPipe(w io.Writer, share *mem.Budget) (store.Output, error) {
	lease, ok := share.TryAcquire(pipeBuffer)
	if !ok {
		return nil, &mem.TooSmallError{Share: "output", Need: pipeBuffer, Limit: share.Free()}
	}
	return &pipe{bufio.NewWriterSize(w, pipeBuffer), lease}, nil
}

func (p *pipe) Patch([]byte, int64) error {
	return format.Error(format.ErrUsage, "this format goes back to the beginning of its file: it cannot be written to a pipe; name a file with -o")
}

func (p *pipe) Commit(context.Context) error {
	p.lease.Release()
	return p.Flush()
}

func (p *pipe) Abort() { p.lease.Release() }
