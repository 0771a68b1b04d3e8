package run

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Scan reads a dataset into the sink. It refuses with mem.ErrTooSmall before
// any data is read. On an error the sink has been aborted; in every case all
// leases are back when it returns, and the Report says how far it got.
func Scan(ctx context.Context, c Config) (Report, error) {
	s := &scan{start: time.Now()}
	c.Log = orDiscard(c.Log)
	var err error
	if s.Reading = c.Planned; s.Reading == nil {
		if s.Reading, err = Open(ctx, c); err != nil {
			return Report{}, err
		}
	}
	s.Config, s.before = c, c.Budget.Leased()
	if err := s.prepare(ctx); err != nil {
		return Report{}, err
	}
	defer s.share.Close()
	defer s.sinkShare.Close()
	s.flowing = time.Now()
	s.bad.n, s.bad.reading = 0, true
	s.sampler = sample(s.observer())
	defer s.sampler.stop()
	if err = s.run(ctx); err != nil {
		s.sink.Abort()
		parts := int64(1)
		if s.sinkShare.Limit() > 0 {
			parts = 2 // of what is given more, each side gets half
		}
		return s.report(), advise(err, s.Memory, parts)
	}
	if err := s.sink.Close(); err != nil {
		return s.report(), err
	}
	rep := s.report()
	if d, ok := s.sink.(Digester); ok {
		rep.Digest = d.Digest()
	}
	return rep, nil
}

// scan is one Scan under way.
type scan struct {
	Config
	*Reading
	sink      Sink
	share     *mem.Budget // the reader's
	sinkShare *mem.Budget
	sampler   *sampler
	waits     stream.Waits
	batches   int64
	heap      int64         // of the budget, for what planning left on the Go heap
	paced     int64         // what the runtime was last allowed beside Base
	before    int64         // bytes under lease at the start, the caller's
	leased    int64         // most bytes under lease when a batch arrived
	waited    time.Duration // in Next
	start     time.Time
	flowing   time.Time // when planning was done
}

// prepare divides the budget and opens the sink.
func (s *scan) prepare(ctx context.Context) error {
	p, err := s.Reading.target(ctx, s.Sink)
	if err != nil {
		return err
	}
	if err := s.carve(p); err != nil {
		return err
	}
	if s.sink, err = p.Open(ctx, s.sinkShare); err != nil {
		s.sinkShare.Close()
		s.share.Close()
	}
	return err
}

// target prepares the sink.
func (r *Reading) target(ctx context.Context, t Target) (Prepared, error) {
	if t == nil {
		return Ready(&Touch{}), nil
	}
	return t(ctx, r.data.Schema())
}

// carve takes the shares of reader and sink out of the budget.
func (s *scan) carve(p Prepared) error {
	d, err := s.Reading.Division(s.Config, p)
	if err != nil {
		return err
	}
	s.heap = d.Heap
	s.pace()
	if s.sinkShare, err = s.Budget.Carve("writing", d.Work); err != nil {
		return err
	}
	s.share, err = s.Budget.Carve("reading", d.Read)
	return err
}

// pace lets the Go runtime use what planning left and what is leased for the
// heap; coarsely, because a change of its limit is not free.
func (s *scan) pace() {
	if limit := s.heap + s.Budget.HeapLeased(); s.Heap != nil && (limit > s.paced || limit < s.paced-heapStep) {
		s.paced = limit
		limitHeap(limit)
	}
}

// run pulls until the end. The stream is closed when it returns.
func (s *scan) run(ctx context.Context) error {
	in, err := s.data.Open(ctx, s.share, s.From, &s.waits)
	if err != nil {
		return err
	}
	files := &fileLog{log: s.Log, objects: s.objects, next: s.From.Object, began: s.flowing}
	for {
		asked := time.Now()
		b, err := in.Next(ctx)
		s.waited += time.Since(asked)
		if errors.Is(err, io.EOF) {
			files.advance(len(s.objects))
			return in.Close()
		}
		if err == nil {
			err = s.take(b, files)
		}
		if err != nil {
			in.Close() // the first error is the cause
			return err
		}
	}
}

// take gives one batch to the sink and lets it go.
func (s *scan) take(b *stream.Batch, files *fileLog) error {
	defer b.Release()
	if err := s.sink.Write(b); err != nil {
		return err
	}
	s.batches++
	s.pace()
	s.leased = max(s.leased, s.Budget.Leased())
	rows := b.Rows()
	s.sampler.bytes.Add(layout.Size(b.Record))
	s.sampler.rows.Add(rows)
	files.batch(rows, b.After)
	return nil
}

// observer turns samples into observations.
func (s *scan) observer() func(int64) {
	if s.Observe == nil {
		return nil
	}
	info := s.data.Info()
	return func(memory int64) {
		s.Observe(Observation{
			Elapsed: time.Since(s.start),
			Rows:    s.sampler.rows.Load(), TotalRows: info.Rows,
			Bytes: s.sampler.bytes.Load(), TotalBytes: info.InMemory,
			Memory: memory, Limit: s.Memory,
		})
	}
}

// report is made when stream and sink were closed.
func (s *scan) report() Report {
	s.sampler.stop()
	info := s.data.Info()
	wall, flow := time.Since(s.start), time.Since(s.flowing)
	r := Report{
		Rows: s.sampler.rows.Load(), Skipped: s.bad.n, Batches: s.batches,
		Files: info.Objects, Groups: info.Groups, Columns: s.data.Schema().NumFields(),
		StoredBytes: info.Bytes, MemoryBytes: s.sampler.bytes.Load(),
		WallSeconds: wall.Seconds(), PlanSeconds: s.flowing.Sub(s.start).Seconds(), CPUSeconds: cpuSeconds(),
		Threads:     max(1, s.Options.Threads),
		MemoryLimit: s.Memory, PeakMemory: s.sampler.peak,
		BudgetLimit: s.Budget.Limit(), BudgetPeak: s.leased,
	}
	if sec := wall.Seconds(); sec > 0 {
		r.RowsPerSecond = float64(r.Rows) / sec
		r.MBPerSecond = float64(r.MemoryBytes) / 1e6 / sec
	}
	r.Waits = percent(&s.waits, s.waited, flow, r.Threads)
	r.Bottleneck = bottleneck(r.Waits)
	if left := s.Budget.Leased() - s.before; left > 0 {
		s.Log.Error("bug in weir, please report it: memory still leased at the end", "bytes", left)
	}
	return r
}

// percent relates waits to the time they could have lasted: decoding waits on
// every thread, the consumer, which waited in Next, is one.
func percent(w *stream.Waits, next, flow time.Duration, threads int) Waits {
	of := func(ns int64, lanes int) float64 {
		if flow <= 0 {
			return 0
		}
		return min(100, 100*float64(ns)/float64(flow.Nanoseconds()*int64(lanes)))
	}
	return Waits{
		Store:    of(w.Store.Load(), threads),
		Decode:   of(next.Nanoseconds(), 1),
		Consumer: of(w.Consumer.Load(), threads),
	}
}

// bottleneck names the side that the others waited for. The consumer is it
// when it was busy more than it waited; of the rest of the time, the store is
// it when decoding stood still for more than half.
func bottleneck(w Waits) string {
	switch {
	case w.Decode < 50:
		return "consumer"
	case w.Store >= 50:
		return "store"
	}
	return "decode"
}

func orDiscard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
