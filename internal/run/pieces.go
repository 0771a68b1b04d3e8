package run

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Piece is rows of a dataset that follow each other: Rows of them, Skip rows
// behind a cursor.
type Piece struct {
	From       stream.Cursor
	Skip, Rows int64
}

// Worker makes a result of the rows of a piece, one piece after the other.
type Worker[R any] interface {
	// Begin begins the piece of an index.
	Begin(piece int) error
	// Write takes n rows of a batch from a row on; the batch begins behind
	// before. It borrows the batch.
	Write(b *stream.Batch, before stream.Cursor, from, n int) error
	// End ends the piece.
	End() (R, error)
	// Close gives all memory back but that of results. A piece under way is
	// given up.
	Close()
}

// Workshop says what is to be done with pieces.
type Workshop[R any] struct {
	// Pieces follow each other without a gap.
	Pieces []Piece
	// Alone says that one worker must see all pieces.
	Alone bool
	// Memory is what a worker of so many threads cannot do without, and what
	// makes it faster.
	Memory func(threads int) (least, most int64)
	// Open makes a worker of so many threads. The share is its alone.
	Open func(ctx context.Context, share *mem.Budget, threads int) (Worker[R], error)
	// Take gets the results in the order of the pieces. Drop gets those that
	// are not taken because of an error.
	Take func(piece int, r R) error
	Drop func(R)
	// Settle waits for what Take left to be done. It is called at the end, also
	// after an error, before workers are closed.
	Settle func() error
}

const (
	// strandThreads are best for a worker and its reader: more wait for each
	// other too often.
	strandThreads = 2
	// WorkerThreads are the most of a worker.
	WorkerThreads = 4
)

// Pieces reads pieces of a planned dataset, several side by side where threads
// and memory allow it and c.Planned can be divided. c.Sink and c.From are not
// used. Otherwise it is as Scan.
func Pieces[R any](ctx context.Context, c Config, w Workshop[R]) (Report, error) {
	s := &scan{start: time.Now(), Reading: c.Planned}
	c.Log = orDiscard(c.Log)
	s.Config, s.before = c, c.Budget.Leased()
	p := &pieces[R]{scan: s, Workshop: w}
	if err := p.open(ctx); err != nil {
		return Report{}, err
	}
	s.flowing = time.Now()
	s.bad.n, s.bad.reading = 0, true
	s.sampler = sample(s.observer())
	defer s.sampler.stop()
	err := p.work(ctx)
	if e := p.Settle(); err == nil {
		err = e
	}
	p.close()
	s.waited = time.Duration(p.waited.Load()) / time.Duration(len(p.strands))
	rep := s.report()
	if err != nil {
		return rep, advise(err, c.Memory, 2*int64(len(p.strands)))
	}
	return rep, nil
}

// Room is what the budget leaves for a sink, beside what planning left on the
// heap and what reading cannot do without.
func (r *Reading) Room(c Config) int64 {
	var live int64
	if c.Heap != nil {
		live = c.Heap()
	}
	return c.Budget.Limit() - heapExtra(live) - max(r.data.Floor(), leastData)
}

// Later is what a pass needs of the budget beside what it would need at once,
// when so many bytes more will lie on the heap.
func (r *Reading) Later(c Config, bytes int64) int64 {
	if c.Heap == nil {
		return 0
	}
	live := c.Heap()
	return heapExtra(live+bytes) - heapExtra(live)
}

// Info is what the descriptions say.
func (r *Reading) Info() format.Info { return r.data.Info() }

// pieces is one call under way.
type pieces[R any] struct {
	*scan
	Workshop[R]
	strands []*strand[R]
	mu      sync.Mutex
	waited  atomic.Int64 // nanoseconds in Next, of all strands
}

// strand is one worker and its reader.
type strand[R any] struct {
	p      *pieces[R]
	data   format.Dataset
	shares [2]*mem.Budget // of the reader and of the worker
	worker Worker[R]

	in   *stream.Walk // nil: none is open
	next int          // the piece that in goes on with
}

// open divides budget and threads.
func (p *pieces[R]) open(ctx context.Context) error {
	d, err := p.PiecesDivision(p.Config, len(p.Workshop.Pieces), p.Alone, p.Workshop.Memory)
	if err != nil {
		return err
	}
	p.heap = d.Heap
	p.pace()
	for range d.Side {
		if err := p.add(ctx, d); err != nil {
			p.close()
			return err
		}
	}
	return nil
}

func (p *pieces[R]) add(ctx context.Context, d Division) (err error) {
	s := &strand[R]{p: p, data: d.data, next: -1}
	p.strands = append(p.strands, s)
	if s.shares[0], err = p.Budget.Carve("reading", d.Read); err != nil {
		return err
	}
	if s.shares[1], err = p.Budget.Carve("writing", d.Work); err != nil {
		return err
	}
	s.worker, err = p.Open(ctx, s.shares[1], d.Workers)
	return err
}

func (p *pieces[R]) close() {
	for _, s := range p.strands {
		s.close()
		if s.worker != nil {
			s.worker.Close()
		}
		for _, b := range s.shares {
			b.Close()
		}
	}
}

// work has all pieces done, and takes the results.
func (p *pieces[R]) work(ctx context.Context) error {
	next, state := 0, atomic.Int64{}
	ordered := stream.NewOrdered(len(p.strands), 2*len(p.strands),
		func(context.Context) (stream.Task[strand[R], R], error) {
			if next == len(p.Workshop.Pieces) {
				return nil, io.EOF
			}
			next++
			return pieceTask[R]{ctx, next - 1}, nil
		},
		func() *strand[R] { return p.strands[state.Add(1)-1] }, p.Drop, new(stream.Waits))
	defer ordered.Close()
	for i := 0; ; i++ {
		r, err := ordered.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.Take(i, r); err != nil {
			return err
		}
	}
}

// pieceTask is a piece to be done.
type pieceTask[R any] struct {
	ctx   context.Context
	piece int
}

func (t pieceTask[R]) Step(ctx context.Context, s *strand[R]) (r R, last bool, err error) {
	// It ends when the caller's context does, and when another piece failed.
	own, cancel := context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	r, err = s.do(own, t.piece)
	return r, true, err
}

func (t pieceTask[R]) Drop() {}

// do does one piece.
func (s *strand[R]) do(ctx context.Context, i int) (none R, err error) {
	piece := s.p.Workshop.Pieces[i]
	if err := s.worker.Begin(i); err != nil {
		return none, err
	}
	skip := int64(0)
	if s.in == nil || s.next != i {
		s.close()
		in, err := s.data.Open(ctx, s.shares[0], piece.From, &s.p.waits)
		if err != nil {
			return none, err
		}
		s.in, skip = stream.NewWalk(timed{in, &s.p.waited}, piece.From), piece.Skip
	}
	s.next = i + 1
	for left := piece.Rows; left > 0; {
		n, err := s.in.Step(ctx, skip, left, s.give)
		if errors.Is(err, io.EOF) {
			err = format.Error(format.ErrData, "the source has fewer rows than before")
		}
		if err != nil {
			return none, err
		}
		skip, left = max(0, skip-n), left-max(0, n-skip)
	}
	return s.worker.End()
}

// give gives the worker rows of a batch.
func (s *strand[R]) give(b *stream.Batch, before stream.Cursor, from, n int) error {
	if err := s.worker.Write(b, before, from, n); err != nil {
		return err
	}
	s.p.count(b, int64(n))
	return nil
}

// timed counts how long a stream's batches are waited for.
type timed struct {
	stream.Stream
	waited *atomic.Int64
}

func (t timed) Next(ctx context.Context) (*stream.Batch, error) {
	asked := time.Now()
	defer func() { t.waited.Add(int64(time.Since(asked))) }()
	return t.Stream.Next(ctx)
}

// count counts rows of a batch that were written.
func (p *pieces[R]) count(b *stream.Batch, rows int64) {
	p.sampler.bytes.Add(int64(float64(layout.Size(b.Record)) * float64(rows) / float64(b.Rows())))
	p.sampler.rows.Add(rows)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batches++
	p.pace()
	p.leased = max(p.leased, p.Budget.Leased())
}

// close ends the reading.
func (s *strand[R]) close() {
	if s.in != nil {
		s.in.Close()
		s.in = nil
	}
}
