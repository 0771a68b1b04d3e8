package corpus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stage/dedup/near"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// hashRows is how many keys are made at a time, chunkRows how many by one
	// thread.
	hashRows  = 64 << 10
	chunkRows = 4 << 10
	keyBytes  = 16
	// readBuffer is that of files of keys.
	readBuffer = 256 << 10
	hashLeast  = dedup.Floor + hashRows*keyBytes + 2*readBuffer
)

// finder is the sink of the first pass: it finds out which rows are kept.
type finder interface {
	run.Sink
	// open takes up what a run that was ended has left.
	open(share *mem.Budget) error
	close()
}

// hash is the first pass: it finds out which rows are kept. It reads the columns
// that are compared, and nothing else.
func (w *work) hash(ctx context.Context) (run.Report, error) {
	c := w.Run
	if len(w.Dedup.By) > 0 {
		c.Options.Columns = w.Dedup.By
	}
	reading, err := run.Open(ctx, c)
	if err != nil {
		return run.Report{}, err
	}
	f, err := w.finder(ctx, reading.Schema())
	if err != nil {
		return run.Report{}, err
	}
	share, c, err := w.divide(reading, "keys", w.hashLeast(), 1<<50)
	if err != nil {
		return run.Report{}, err
	}
	defer share.Close()
	defer c.Budget.Close()
	defer f.close()
	if err := f.open(share); err != nil {
		return run.Report{}, err
	}
	if rows := reading.Info().Rows; rows > 0 && w.from.Pass == 0 {
		need, err := w.hashScratch(rows)
		if err == nil {
			err = w.scratch.Check(need)
		}
		if err != nil {
			return run.Report{}, err
		}
	}
	c.From = w.from.Cursor
	ready := run.Ready(f)
	c.Sink = func(context.Context, *arrow.Schema) (run.Prepared, error) { return ready, nil }
	return run.Scan(ctx, c)
}

// finder is the one for rows of a schema.
func (w *work) finder(ctx context.Context, schema *arrow.Schema) (finder, error) {
	if w.Dedup.Near > 0 {
		return newNearing(ctx, w, schema)
	}
	hasher, err := dedup.NewHasher(schema, nil, dedup.HashOptions{Normalize: w.Dedup.Normalize})
	return &hashing{work: w, ctx: ctx, last: time.Now(), hasher: hasher}, err
}

// hashLeast is what the first pass cannot do without beside reading.
func (w *work) hashLeast() int64 {
	if w.Dedup.Near > 0 {
		rows := w.reading.Info().Rows // less than 0: not known
		return w.signLeast() + max(near.Floor, near.Least(max(0, rows), w.Dedup.near(), max(1, w.Run.Options.Threads)))
	}
	return hashLeast
}

// hashScratch is the scratch space that rows need at most.
func (w *work) hashScratch(rows int64) (int64, error) {
	if w.Dedup.Near > 0 {
		return near.Scratch(rows, max(0, w.reading.Info().InMemory), w.Dedup.near())
	}
	return dedup.Scratch(rows), nil
}

// hashing finds rows that are equal.
type hashing struct {
	*work
	ctx    context.Context
	hasher *dedup.Hasher
	pool   *stream.Pool[dedup.HashScratch]
	lease  *mem.Lease
	keys   []dedup.Key
	set    *dedup.Set
	share  *mem.Budget // its
	last   time.Time   // of the last checkpoint
	save   *os.File    // of the keys, under a name of its own; nil: they are not saved
}

// open takes up the set of a run that was ended.
func (h *hashing) open(share *mem.Budget) error {
	var err error
	if h.lease, err = share.Acquire(h.ctx, hashRows*keyBytes); err != nil {
		return err
	}
	h.keys = make([]dedup.Key, hashRows)
	threads := max(1, h.Run.Options.Threads)
	h.pool = stream.NewPool(threads, func() *dedup.HashScratch { return new(dedup.HashScratch) })
	if h.share, err = share.Carve("set", share.Free()); err != nil {
		return err
	}
	c := dedup.Config{Share: h.share, Scratch: h.scratch, Threads: threads, Examples: h.Dedup.Show}
	if h.state.Set != nil {
		h.set, err = dedup.Resume(h.ctx, c, *h.state.Set)
	} else if h.set, err = dedup.Open(c); err == nil {
		err = h.earlier()
	}
	if err != nil || h.Dedup.Save == "" {
		return err
	}
	if h.save, err = os.CreateTemp(filepath.Dir(h.Dedup.Save), "."+filepath.Base(h.Dedup.Save)+".*"); err != nil {
		return err
	}
	h.set.SaveHashes(h.hasher.Description(), h.save)
	return nil
}

// earlier takes the keys of earlier runs.
func (h *hashing) earlier() error {
	for _, name := range h.Dedup.Against {
		f, err := os.Open(name)
		if err != nil {
			return format.Error(format.ErrUsage, "against: %w", err)
		}
		err = h.set.Against(h.ctx, h.hasher.Description(), bufio.NewReaderSize(f, readBuffer))
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (h *hashing) close() {
	if h.set != nil {
		h.set.Close()
	}
	if h.pool != nil {
		h.pool.Close()
	}
	h.share.Close()
	if h.save != nil {
		h.save.Close()
		os.Remove(h.save.Name()) // not there if all went well
	}
	h.lease.Release()
}

// Write adds the keys of a batch.
func (h *hashing) Write(b *stream.Batch) error {
	n := int(b.Rows())
	for from := 0; from < n; from += hashRows {
		keys := h.keys[:min(hashRows, n-from)]
		chunks := (len(keys) + chunkRows - 1) / chunkRows
		err := h.pool.Each(chunks, func(i int, s *dedup.HashScratch) error {
			lo, hi := i*chunkRows, min((i+1)*chunkRows, len(keys))
			h.hasher.Hash(b.Record, from+lo, from+hi, keys[lo:hi], s)
			return nil
		})
		if err != nil {
			return err
		}
		if err := h.set.Add(h.ctx, keys); err != nil {
			return err
		}
	}
	if time.Since(h.last) < h.Every {
		return nil
	}
	return h.note(b.After)
}

// note makes a checkpoint behind a batch.
func (h *hashing) note(after stream.Cursor) error {
	set, err := h.set.Checkpoint(h.ctx)
	if err != nil {
		return err
	}
	h.last, h.state.Set = time.Now(), &set
	return h.checkpoint(h.ctx, dataset.Checkpoint{Pass: passHash, Cursor: after})
}

// Close finds out which rows are kept.
func (h *hashing) Close() error {
	kept, err := h.set.Finish(h.ctx)
	if err != nil {
		return err
	}
	if h.save != nil {
		if err := errors.Join(h.save.Chmod(0o644), h.save.Sync(), os.Rename(h.save.Name(), h.Dedup.Save)); err != nil {
			return err
		}
	}
	h.state.Set = nil
	return h.found(h.ctx, kept, h.set.Remove)
}

// found notes which rows are kept; then what they were found with is not needed.
func (w *work) found(ctx context.Context, kept *dedup.Kept, remove func() error) error {
	w.state.Kept = kept
	if err := w.checkpoint(ctx, dataset.Checkpoint{Pass: passWrite}); err != nil {
		return err
	}
	return remove()
}

// Abort leaves what the last checkpoint needs.
func (h *hashing) Abort() {}
