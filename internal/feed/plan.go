package feed

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/feed/tensor"
	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stream"
)

// prepareScan plans a reading in the order of the data.
func (l *loader) prepareScan(ctx context.Context) (feeder, error) {
	r, err := l.open(ctx, l.Sources[0], l.Columns)
	if err != nil {
		return nil, err
	}
	frame, err := tensor.Choose(r.Schema(), tensor.Selection{})
	if err != nil {
		return nil, err
	}
	info := r.Info()
	s := &scanner{loader: l, data: r.Data()}
	if s.frames, err = newFrames(frame, rowBytes(info)); err != nil {
		return nil, err
	}
	l.total = info.Rows
	for _, f := range r.Schema().Fields() {
		l.names = append(l.names, f.Name)
	}
	heap := run.HeapNeed()
	floor := max(r.Data().Floor(), 1<<20)
	// A batch is what the reader makes of it; that is known when it comes.
	arena := max(l.Buffer, leastArena, min(8*int64(l.BatchSize)*rowBytes(info), (l.budget.Limit()-heap-floor)/2))
	arena = arena / pageBytes * pageBytes
	rest := l.budget.Limit() - heap - arena
	if rest < floor {
		return nil, l.tooSmall(floor, 0, arena, heap)
	}
	rest -= run.Settle(heap, rest-floor, l.threads)
	if l.arena, err = l.budget.Carve("batches", arena); err != nil {
		return nil, err
	}
	if s.share, err = l.budget.Carve("reading", rest); err != nil {
		return nil, err
	}
	return func(ctx context.Context, out outlet, _, _ int64) error { return s.run(ctx, out) }, nil
}

// rowBytes is about what a row takes in memory.
func rowBytes(i format.Info) int64 {
	if i.Rows <= 0 {
		return 1 << 10
	}
	return max(8, i.InMemory/i.Rows)
}

// prepareOrder plans reading in the order of an epoch.
func (l *loader) prepareOrder(ctx context.Context) (feeder, error) {
	readings, err := l.openAll(ctx)
	if err != nil {
		return nil, err
	}
	var plans []*order.Plan
	var weights []float64
	var indexes []*index
	for i, r := range readings {
		x, err := l.indexOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(x.units) == 0 {
			return nil, format.Error(format.ErrData, "%s: there are no rows", l.Sources[i].Paths[0])
		}
		p, err := order.New(x.units, l.order())
		if err != nil {
			return nil, err
		}
		w := l.Sources[i].Weight
		if w == 0 {
			w = 1
		}
		plans, weights, indexes = append(plans, p), append(weights, w), append(indexes, x)
	}
	l.total, l.digest = plans[0].Rows(), plans[0].Digest()
	if len(plans) > 1 {
		if l.mix, err = order.NewMix(plans, weights, l.Samples, l.Seed); err != nil {
			return nil, err
		}
		l.total, l.digest = l.mix.Epoch(0).Rows(), l.mix.Digest()
	}
	if l.straight() {
		return l.prepareStraight(readings[0], indexes[0])
	}
	return l.run, l.divide(plans, readings, indexes)
}

// indexOf finds out where rows can be read from.
func (l *loader) indexOf(ctx context.Context, r *run.Reading) (*index, error) {
	share, err := l.budget.Carve("counting", l.budget.Free())
	if err != nil {
		return nil, err
	}
	defer share.Close()
	return newIndex(ctx, r, share)
}

// openAll opens the sources, and plans the batches for their columns.
func (l *loader) openAll(ctx context.Context) ([]*run.Reading, error) {
	want, err := l.choose(ctx)
	if err != nil {
		return nil, err
	}
	var out []*run.Reading
	for _, s := range l.Sources {
		r, err := l.open(ctx, s, want)
		if err != nil {
			return nil, err
		}
		if len(out) > 0 {
			if err := same(out[0].Schema(), r.Schema(), s); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
	return out, l.planBatches(out[0])
}

// same refuses sources whose columns differ.
func same(a, b *arrow.Schema, s Source) error {
	for i, f := range a.Fields() {
		if g := b.Field(i); !arrow.TypeEqual(f.Type, g.Type) {
			return format.Error(format.ErrUsage, "%s: column %q is %s, in the first source it is %s", s.Paths[0], f.Name, g.Type, f.Type)
		}
	}
	return nil
}

// choose is the columns to read.
func (l *loader) choose(ctx context.Context) ([]string, error) {
	if l.Mode == columns {
		return l.Columns, nil
	}
	if len(l.Features) == 0 {
		r, err := l.open(ctx, l.Sources[0], nil)
		if err != nil {
			return nil, err
		}
		for _, f := range r.Schema().Fields() {
			if f.Name != l.Label && numeric(f.Type) {
				l.Features = append(l.Features, f.Name)
			}
		}
		if len(l.Features) == 0 {
			return nil, format.Error(format.ErrUsage, "there are no columns of numbers; choose columns=… for others")
		}
	}
	want := append([]string{}, l.Features...)
	if l.Label != "" {
		want = append(want, l.Label)
	}
	return want, nil
}

func numeric(t arrow.DataType) bool {
	if f, ok := t.(*arrow.FixedSizeListType); ok {
		return numeric(f.Elem())
	}
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || t.ID() == arrow.BOOL
}

// planBatches plans them for the schema of a reading.
func (l *loader) planBatches(r *run.Reading) error {
	if l.Mode == columns {
		f, err := tensor.Choose(r.Schema(), tensor.Selection{Pad: l.Pad, Tensors: l.Tensors})
		if err != nil {
			return err
		}
		for _, f := range r.Schema().Fields() {
			l.names = append(l.names, f.Name)
		}
		l.maker, err = newFrames(f, rowBytes(r.Info()))
		return err
	}
	spec, err := l.spec()
	if err != nil {
		return err
	}
	layout, err := tensor.Plan(r.Schema(), spec)
	if err != nil {
		return err
	}
	l.names = layout.Columns()
	if l.Label != "" {
		l.names = l.names[:len(l.names)-1]
	}
	l.copying = stream.NewPool(l.threads, func() *struct{} { return nil })
	l.maker = &matrices{layout: layout, known: map[int]wire.Layout{}, pool: l.copying}
	return nil
}

// mostLooked are the windows that are looked at to see how large they are.
const mostLooked = 4096

// widest is the most rows of a window that are held.
func (l *loader) widest(p *order.Plan) int64 {
	e, all := p.Epoch(0), p.Most()
	if l.mix != nil || l.World <= 1 || e.Windows() > mostLooked {
		return all
	}
	most := int64(0)
	for i := range e.Windows() {
		w := e.Window(i)
		e.Narrow(w, l.share(), 0)
		most = max(most, w.Held)
	}
	return min(all, most*9/8)
}

// divide gives windows, readers and batches their memory.
func (l *loader) divide(plans []*order.Plan, readings []*run.Reading, indexes []*index) error {
	heap := run.HeapNeed()
	arena := l.arenaBytes(l.maker.batchBytes(l.BatchSize)) / pageBytes * pageBytes
	var need []int64
	for _, p := range plans {
		rows := l.widest(p)
		n := 2*(l.maker.windowBytes(rows)+4*rows) + 1<<20
		if l.Mode == columns {
			n += l.maker.batchBytes(l.BatchSize) // of a batch that lies in many windows
		}
		need = append(need, n)
		l.windows += n
	}
	rest := l.budget.Limit() - heap - arena - l.windows
	var floors int64
	for _, r := range readings {
		floors += max(r.Data().Floor(), 1<<20)
	}
	if rest < floors {
		return l.tooSmall(floors, l.windows, arena, heap)
	}
	rest -= run.Settle(heap, rest-floors, l.threads)
	var err error
	if l.arena, err = l.budget.Carve("batches", arena); err != nil {
		return err
	}
	for i, p := range plans {
		t := &track{plan: p, holder: l.maker, epochs: map[int]*order.Epoch{}}
		if t.share, err = l.budget.Carve("windows", need[i]); err != nil {
			return err
		}
		readers, err := l.newReaders(readings[i].Data(), indexes[i], rest/int64(len(plans)))
		if err != nil {
			return err
		}
		state := make(chan *reader, len(readers))
		for _, r := range readers {
			state <- r
		}
		t.pool = stream.NewPool(len(readers), func() *reader { return <-state })
		l.readers = append(l.readers, readers...)
		l.tracks = append(l.tracks, t)
	}
	return nil
}

// newReaders divides a share among readers: where units lie anywhere and the
// format can begin anywhere, one for each thread.
func (l *loader) newReaders(d format.Dataset, x *index, share int64) ([]*reader, error) {
	n := 1
	if div, ok := d.(format.Divider); ok && l.Shuffle && l.threads > 1 {
		one := div.Divide(1)
		if n = int(min(int64(l.threads), share/max(one.Floor(), 1<<20))); n > 1 {
			d = one
		}
	}
	n = max(1, n)
	var out []*reader
	for range n {
		own, err := l.budget.Carve("reading", share/int64(n))
		if err != nil {
			return nil, err
		}
		out = append(out, &reader{data: d, index: x, share: own, stats: &l.stats})
	}
	return out, nil
}
