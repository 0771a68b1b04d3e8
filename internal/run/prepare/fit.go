package prepare

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// fitting is the sink of the first pass.
type fitting struct {
	*work
	ctx    context.Context
	shares [2]*mem.Budget // of the fit, and of its state while it is saved
	fit    *scale.Fit
	deal   *dealer
	at     stream.Cursor
	saved  time.Time
	ruler  ruler
	heavy  int64 // what the heaviest row has beside what is fixed, or lightRow
	spans  spans
	span   span // under way
}

// stateExtra is what a saved fit has beside what the fit holds.
func (w *work) stateExtra() int64 {
	spans := w.reading.Info().InMemory / w.Write.PartSize * int64(16+4*len(w.assign.Names()))
	return 128<<10 + 1<<10*int64(w.reading.Schema().NumFields()) + 2*w.assign.Cost() + 3*spans
}

// hungry says that the fit can use more memory than it needs.
func (w *work) hungry() bool {
	return w.Scale.Other ||
		slices.ContainsFunc(w.Scale.Scale, func(r scale.Rule) bool { return r.Do == "robust" }) ||
		slices.ContainsFunc(w.Scale.Impute, func(r scale.Rule) bool { return r.Do == "median" || r.Do == "most_frequent" })
}

// fitTarget prepares the first pass.
func (w *work) fitTarget(context.Context, *arrow.Schema) (run.Prepared, error) {
	p := w.fitMemory()
	// What is too little for the passes behind it is refused before the first.
	least, err := w.passesLeast(w.design.Expect(1))
	if err != nil {
		return run.Prepared{}, err
	}
	p.Least = max(p.Least, least)
	p.Most = max(p.Most, p.Least)
	p.Open = w.openFit
	return p, nil
}

func (w *work) openFit(ctx context.Context, share *mem.Budget) (run.Sink, error) {
	f := &fitting{work: w, ctx: ctx, at: w.from.Cursor, saved: time.Now()}
	err := f.open(share)
	if err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

func (f *fitting) open(share *mem.Budget) (err error) {
	if f.deal, err = newDealer(f.ctx, f.assign, share); err != nil {
		return err
	}
	extra := f.stateExtra()
	half := (share.Free() - extra) / 17 * 8
	if f.shares[0], err = share.Carve("fit", half); err != nil {
		return err
	}
	if f.shares[1], err = share.Carve("checkpoint", share.Free()); err != nil {
		return err
	}
	f.heavy = lightRow
	f.ruler = ruler{scales: weight.New(f.reading.Schema(), f.reading.Schema()), size: f.work.Write.PartSize}
	f.span = span{Piece: run.Piece{From: f.at}, rows: make([]int64, len(f.assign.Names()))}
	threads := f.Run.Options.Threads
	if !f.from.Going {
		f.fit, err = f.design.NewFit(f.shares[0], threads, f.Prior)
		return err
	}
	return f.restore(threads)
}

// fitState is what stands before the fit in a saved state, with its length.
type fitState struct {
	Assign []byte        `json:"assign,omitempty"` // the Assigner's
	Spans  spans         `json:"spans"`
	From   stream.Cursor `json:"from"` // of the span under way, as the rest
	Skip   int64         `json:"skip"`
	Rows   []int64       `json:"rows"`
	Weight int64         `json:"weight"`
	Heavy  int64         `json:"heavy"`
}

// restore goes on with a fit that was saved.
func (f *fitting) restore(threads int) error {
	block, err := f.block(f.from.StateBytes)
	if err != nil {
		return err
	}
	defer block.Free()
	text := block.Bytes()
	if err := f.data.State(f.ctx, text); err != nil {
		return err
	}
	n, k := binary.Uvarint(text)
	var head fitState
	if k <= 0 || n > uint64(len(text)-k) || json.Unmarshal(text[k:k+int(n)], &head) != nil || len(head.Rows) != len(f.span.rows) {
		return format.Error(format.ErrData, "%s: the state of a checkpoint is damaged; --force begins anew", f.Out)
	}
	if head.Assign != nil {
		if err := f.assign.Restore(head.Assign); err != nil {
			return err
		}
	}
	f.spans, f.ruler.weight, f.heavy = head.Spans, head.Weight, max(f.heavy, head.Heavy)
	f.span = span{Piece: run.Piece{From: head.From, Skip: head.Skip}, rows: head.Rows}
	f.fit, err = f.design.Restore(bytes.NewReader(text[k+int(n):]), f.shares[0], threads, f.Prior)
	return err
}

// block is memory for a state.
func (f *fitting) block(n int64) (*mem.Block, error) {
	b, ok := f.shares[1].TryMap(int(max(0, n)))
	if n < 0 || !ok {
		return nil, tooSmall("a checkpoint", n, f.shares[1].Limit())
	}
	return b, nil
}

// Write adds the train rows of a batch.
func (f *fitting) Write(b *stream.Batch) error {
	if err := f.checkLabels(b, f.at); err != nil {
		return err
	}
	err := runs(b, f.at, 0, int(b.Rows()), func(from, n, object int, row int64) error {
		for n > 0 {
			k, full, err := f.add(b.Record, from, n, object, row)
			if err != nil {
				return err
			}
			from, n, row = from+k, n-k, row+int64(k)
			if full {
				f.endSpan(b, from)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.at = b.After
	if time.Since(f.saved) < f.Every {
		return nil
	}
	return f.save()
}

// add adds n rows, or as many as the span under way takes; full: it ends.
func (f *fitting) add(rec arrow.RecordBatch, from, n, object int, row int64) (took int, full bool, err error) {
	part := rec.NewSlice(int64(from), int64(from+n))
	defer func() { part.Release() }()
	if took, full = f.ruler.take(part); took < n {
		part.Release()
		part = rec.NewSlice(int64(from), int64(from+took))
	}
	f.heavy = f.ruler.scales.Heaviest(part, f.heavy)
	if err := f.deal.deal(part, object, row); err != nil {
		return 0, false, err
	}
	for i := range f.span.rows {
		f.span.rows[i] += int64(len(f.deal.of(i)))
	}
	rows := f.deal.of(f.train)
	if len(rows) == took {
		rows = nil
	}
	return took, full, f.fit.Add(part, object, row, rows)
}

// endSpan begins the next span at a row of a batch.
func (f *fitting) endSpan(b *stream.Batch, row int) {
	f.spans = f.spans.add(f.span)
	f.span.Piece = run.Piece{From: f.at, Skip: int64(row)}
	if int64(row) == b.Rows() {
		f.span.Piece = run.Piece{From: b.After}
	}
	clear(f.span.rows)
}

// save makes a checkpoint.
func (f *fitting) save() error {
	head, err := json.Marshal(fitState{Assign: f.assign.State(), Spans: f.spans, From: f.span.From, Skip: f.span.Skip,
		Rows: f.span.rows, Weight: f.ruler.weight, Heavy: f.heavy})
	if err != nil {
		return err
	}
	head = append(binary.AppendUvarint(nil, uint64(len(head))), head...)
	count := format.Counter{Writer: io.Discard}
	if err := f.fit.Save(&count); err != nil {
		return err
	}
	block, err := f.block(int64(len(head)) + count.N)
	if err != nil {
		return err
	}
	defer block.Free()
	out := bytes.NewBuffer(block.Bytes()[:0])
	out.Write(head)
	if err := f.fit.Save(out); err != nil {
		return err
	}
	err = f.data.Checkpoint(f.ctx, dataset.Checkpoint{Pass: passFit, Cursor: f.at, State: out.Bytes()})
	f.saved = time.Now()
	return err
}

// Close ends the first pass and begins the second.
func (f *fitting) Close() error {
	defer f.Abort()
	var err error
	if f.params, err = f.fit.Params(); err != nil {
		return err
	}
	if f.state.Params, err = f.params.Encode(); err != nil {
		return err
	}
	f.state.Heavy = f.heavy
	if f.state.Spans = f.spans; total(f.span.rows) > 0 {
		f.state.Spans = f.spans.add(f.span)
	}
	text, err := json.Marshal(f.state)
	if err != nil {
		return err
	}
	return f.data.Checkpoint(f.ctx, dataset.Checkpoint{Pass: passWrite, State: text})
}

// Abort gives all memory back.
func (f *fitting) Abort() {
	if f.fit != nil {
		f.fit.Close()
	}
	for _, s := range f.shares {
		s.Close()
	}
	if f.deal != nil {
		f.deal.close()
	}
}
