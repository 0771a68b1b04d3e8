package call

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// chunkRows are hashed by one thread at a time.
	chunkRows = 4 << 10
	// mostWidth is that of the longest hash.
	mostWidth = 32
	// hashBytes are the keys and hashes of a batch.
	hashBytes = batchRows * (16 + mostWidth)
	// mostReading is what a reader of files can make use of beyond its least.
	mostReading = 64 << 20
)

// rows hashes rows. The first output becomes the hashes of all of them, unless only
// bits are asked for, and behind them, at a multiple of 8, a bit for each: 1 is a
// row that is the first of its kind.
type rows struct {
	*desk
	dir   *spill.Dir
	files run.Config // of a reading of files
	pool  *stream.Pool[dedup.HashScratch]
	share *mem.Budget // of the set
	lease *mem.Lease
	keys  []dedup.Key
	held  int // keys that were not passed on
	sums  []byte

	hashing hashing // nil: no row has come
	firsts  *firsts // nil: rows are only hashed
	bits    bitWriter
	count   int64 // rows
}

func newRows(ctx context.Context, d *desk) (*rows, error) {
	w := &rows{desk: d}
	if d.Bits && d.SHA {
		return nil, unknown("SHA-256 that nobody sees")
	}
	var err error
	if w.dir, err = spill.OpenWith(d.Scratch, spill.Options{System: passing{spill.Host()}}); err != nil {
		return nil, err
	}
	w.pool = stream.NewPool(d.Threads, func() *dedup.HashScratch { return new(dedup.HashScratch) })
	share, err := w.divide(ctx)
	if err != nil {
		return nil, err
	}
	return w, w.open(ctx, share)
}

// divide takes the share for keys, beside what reading needs.
func (w *rows) divide(ctx context.Context) (*mem.Budget, error) {
	if len(w.Paths) > 0 {
		return w.plan(ctx)
	}
	if err := w.desk.divide(w.least(), w.most(w.Expect)); err != nil {
		return nil, err
	}
	return w.budget.Carve("keys", w.budget.Free())
}

func (w *rows) least() int64 { return hashBytes + dedup.Floor + bitRows/8 }

// most is what so many rows can make use of. A set that is given more takes
// more, because it takes memory in larger pieces.
func (w *rows) most(rows int64) int64 { return w.least() + seenBytes + 24*rows }

// open takes the memory for keys.
func (w *rows) open(ctx context.Context, share *mem.Budget) (err error) {
	if w.lease, err = share.Acquire(ctx, hashBytes); err != nil {
		return err
	}
	w.keys, w.sums = make([]dedup.Key, batchRows), make([]byte, batchRows*mostWidth)
	if !w.Distinct {
		return nil
	}
	if w.share, err = share.Carve("set", share.Free()); err != nil {
		return err
	}
	w.bits = bitWriter{out: w.outputs[0], buffer: make([]byte, 0, bitRows/8)}
	w.firsts, err = openFirsts(dedup.Config{Share: w.share, Scratch: w.dir, Threads: w.Threads}, w.Expect, w.Bits, w.pool)
	return err
}

func (w *rows) close() {
	w.pool.Close()
	w.firsts.close()
	w.share.Close()
	w.lease.Release()
	w.desk.close()
}

func (w *rows) do(ctx context.Context, q *question) (answer, error) {
	switch q.Do {
	case "earlier":
		return answer{}, w.known(ctx, q)
	case "rows":
		err := w.each(ctx, q, func(b *stream.Batch) error { return w.add(ctx, b) })
		return answer{Rows: w.count}, err
	case "texts":
		whole, err := w.joined(ctx, q, func(b *stream.Batch) error { return w.add(ctx, b) })
		return answer{Rows: w.count, Zeros: !whole}, err
	case "scan":
		err := w.scan(ctx)
		return answer{Rows: w.count}, err
	case "finish":
		return w.finish(ctx)
	}
	return answer{}, unknown(q.Do)
}

// known takes hashes whose rows are not the first of their kind any more: they
// stand for rows before all others.
func (w *rows) known(ctx context.Context, q *question) error {
	if w.firsts == nil || w.Bits || w.count > 0 || q.Rows <= 0 || q.Size%q.Rows != 0 || q.Size/q.Rows < 16 || q.Size/q.Rows > mostWidth {
		return unknown("earlier hashes")
	}
	width := q.Size / q.Rows
	for from := int64(0); from < q.Rows; from += batchRows {
		n := min(batchRows, q.Rows-from)
		sums := w.sums[:n*width]
		if err := (slot{w.slots[q.Slot]}).read(sums, from*width); err != nil {
			return err
		}
		for i := range n {
			w.keys[i] = keyOf(sums[i*width:])
		}
		if err := w.firsts.known(ctx, w.keys[:n]); err != nil {
			return err
		}
	}
	return nil
}

// add takes the next rows.
func (w *rows) add(ctx context.Context, b *stream.Batch) (err error) {
	if w.hashing == nil {
		if w.hashing, err = newHashing(b.Record.Schema(), w.start); err != nil {
			return err
		}
	}
	width := w.width()
	for from, n := 0, int(b.Rows()); from < n; {
		keys := w.keys[w.held:min(len(w.keys), w.held+n-from)]
		chunks := (len(keys) + chunkRows - 1) / chunkRows
		err := w.pool.Each(chunks, func(i int, s *dedup.HashScratch) error {
			lo, hi := i*chunkRows, min((i+1)*chunkRows, len(keys))
			w.hashing.hash(b.Record, from+lo, from+hi, keys[lo:hi], w.sums[lo*width:hi*width], s)
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := w.outputs[0].WriteAt(w.sums[:len(keys)*width], w.count*int64(width)); err != nil {
			return err
		}
		from += len(keys)
		w.count += int64(len(keys))
		if w.firsts == nil {
			continue
		}
		if w.held += len(keys); w.held == len(w.keys) {
			if err := w.pass(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass gives the keys that are held on: the more at once, the less each costs.
func (w *rows) pass(ctx context.Context) error {
	err := w.firsts.add(ctx, w.keys[:w.held], &w.bits)
	w.held = 0
	return err
}

// plan looks at the files that will be read.
func (w *rows) plan(ctx context.Context) (*mem.Budget, error) {
	c := &w.files
	*c = run.Config{
		Paths: w.Paths, Options: format.Options{Columns: w.By, Threads: w.Threads},
		Store: w.env.Store, Formats: w.env.Formats, Memory: w.memory, Budget: w.budget, Heap: w.env.Heap,
	}
	var err error
	if c.Planned, err = run.Open(ctx, *c); err != nil {
		return nil, err
	}
	w.By = nil // the reading has chosen them
	most := int64(1 << 50)
	if n := c.Planned.Info().Rows; n >= 0 {
		most = w.most(n + w.Expect)
	}
	least, room := w.least(), c.Planned.Room(*c)
	if room < least {
		return nil, w.tooSmall(c.Budget.Limit() - room + least)
	}
	spare := room - least
	share, err := c.Budget.Carve("keys", least+min(most-least, spare-min(spare/4, mostReading)))
	if err != nil {
		return nil, err
	}
	c.Budget, err = c.Budget.Carve("reading", c.Budget.Free())
	return share, err
}

// scan takes the rows of files.
func (w *rows) scan(ctx context.Context) error {
	ready := run.Ready(sink{w, ctx})
	w.files.Sink = func(context.Context, *arrow.Schema) (run.Prepared, error) { return ready, nil }
	_, err := run.Scan(ctx, w.files)
	return err
}

// sink takes the rows of files.
type sink struct {
	*rows
	ctx context.Context
}

func (s sink) Write(b *stream.Batch) error { return s.add(s.ctx, b) }
func (sink) Close() error                  { return nil }
func (sink) Abort()                        {}

// width is the number of bytes of a hash in the output.
func (w *rows) width() int {
	if w.Bits || w.hashing == nil {
		return 0
	}
	return w.hashing.width()
}

// finish writes the bits that are not there yet.
func (w *rows) finish(ctx context.Context) (answer, error) {
	at := (w.count*int64(w.width()) + 7) &^ 7
	a := answer{Rows: w.count, From: at, To: at}
	if w.firsts == nil {
		return a, nil
	}
	if !w.Bits {
		w.bits.at = at // none was written before
	}
	if err := w.pass(ctx); err != nil {
		return a, err
	}
	err := w.firsts.finish(ctx, w.dir, &w.bits)
	a.To = w.bits.at
	return a, err
}
