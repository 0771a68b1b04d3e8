package feed

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/feed/tensor"
	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
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

// keep copies a record into memory of share.
func keep(rec arrow.RecordBatch, share *mem.Budget) (arrow.RecordBatch, error) {
	size := 0
	for _, c := range rec.Columns() {
		size += sizeOf(c.Data())
	}
	block, ok := share.TryMap(max(size, 8))
	if !ok {
		return nil, noRoom(share, size)
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	k := &keeper{slab: slab, ram: block.Bytes()}
	cols := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		d := k.data(c.Data())
		cols[i] = array.MakeFromData(d)
		d.Release()
	}
	out := array.NewRecordBatch(rec.Schema(), cols, rec.NumRows())
	for _, c := range cols {
		c.Release()
	}
	return out, nil
}

const alignment = 64

func aligned(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// sizeOf is the bytes that the buffers of an array take.
func sizeOf(d arrow.ArrayData) int {
	n := 0
	for _, b := range d.Buffers() {
		if b != nil {
			n += aligned(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += sizeOf(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY {
		n += sizeOf(d.Dictionary())
	}
	return n
}

// keeper copies buffers one behind the other.
type keeper struct {
	slab *stream.Slab
	ram  []byte
}

func (k *keeper) data(d arrow.ArrayData) arrow.ArrayData {
	buffers := make([]*memory.Buffer, len(d.Buffers()))
	for i, b := range d.Buffers() {
		if b == nil {
			continue
		}
		n := copy(k.ram, b.Bytes())
		buffers[i] = k.slab.Buffer(k.ram[:n:n])
		k.ram = k.ram[aligned(n):]
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = k.data(c)
	}
	var out arrow.ArrayData
	if d.DataType().ID() == arrow.DICTIONARY {
		dict := k.data(d.Dictionary())
		out = array.NewDataWithDictionary(d.DataType(), d.Len(), buffers, d.NullN(), d.Offset(), dict.(*array.Data))
		dict.Release()
	} else {
		out = array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	}
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return out
}
