package feed

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/feed/tensor"
	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/mem"
)

// records is a window as Arrow records.
type records struct {
	share  *mem.Budget
	pieces [][]arrow.RecordBatch
	window *tensor.Window
}

func (r *records) free() {
	for _, list := range r.pieces {
		for _, rec := range list {
			rec.Release()
		}
	}
	r.pieces = nil
}

// frames makes batches of columns of any type.
type frames struct {
	frame *tensor.Frame
	taker *tensor.Taker
	known map[string]wire.Layout
	row   int64 // bytes of a row, about
	plain wire.Layout
}

func newFrames(f *tensor.Frame, row int64) (*frames, error) {
	out := &frames{frame: f, taker: f.NewTaker(), known: map[string]wire.Layout{}, row: row}
	var err error
	out.plain, err = wire.Records(f.Schema())
	return out, err
}

func (f *frames) hold(share *mem.Budget, pieces []order.Piece, _ int64) (held, error) {
	return &records{share: share, pieces: make([][]arrow.RecordBatch, len(pieces))}, nil
}

func (f *frames) put(h held, piece, _ int, rec arrow.RecordBatch) error {
	r := h.(*records)
	own, err := keep(rec, r.share)
	if err != nil {
		return err
	}
	r.pieces[piece] = append(r.pieces[piece], own)
	return nil
}

func (f *frames) ready(h held) (err error) {
	r := h.(*records)
	var all []arrow.RecordBatch
	for _, list := range r.pieces {
		all = append(all, list...)
	}
	r.window, err = f.frame.Open(all)
	return err
}

func (f *frames) windowBytes(n int64) int64 { return n*f.row*3/2 + 4<<20 }
func (f *frames) batchBytes(n int) int64    { return int64(n)*f.row*2 + 64<<10 }

// make measures the rows of all windows before it takes them.
func (f *frames) make(out outlet, _ int, next func() (picked, bool, error), _ func()) (slot, wire.Layout, error) {
	var pieces []tensor.Piece
	for {
		r, ok, err := next()
		if err != nil {
			return nil, wire.Layout{}, err
		}
		if !ok {
			return f.take(out, pieces...)
		}
		pieces = append(pieces, tensor.Piece{Window: r.w.rows.(*records).window, Rows: r.rows})
	}
}

// take fills a slot.
func (f *frames) take(out outlet, pieces ...tensor.Piece) (slot, wire.Layout, error) {
	size, err := f.taker.Measure(pieces...)
	if err != nil {
		return nil, wire.Layout{}, err
	}
	s, err := out.Reserve(size)
	if err != nil {
		return nil, wire.Layout{}, err
	}
	taken, err := f.taker.Take(s.Bytes())
	if err != nil {
		out.Discard(s)
		return nil, wire.Layout{}, err
	}
	layout, err := f.describe(taken)
	return s, layout, err
}

// describe is the layout of a batch.
func (f *frames) describe(t tensor.Taken) (wire.Layout, error) {
	if len(t.Tensors) == 0 {
		return f.plain, nil
	}
	key := fmt.Sprint(t.Message > 0, t.Tensors)
	if l, ok := f.known[key]; ok {
		return l, nil
	}
	l, err := wire.Tensors(described(t.Tensors))
	if err == nil && t.Message > 0 {
		l = f.plain.With(l)
	}
	if len(f.known) == 64 {
		clear(f.known) // lists of many lengths
	}
	f.known[key] = l
	return l, err
}
