package pack

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/stream"
)

// matrices are the columns with Length values a row.
var matrices = [...]string{"input_ids", "labels", "position_ids"}

// Bounds is the column that tells where the documents of a row begin and end, in
// lists of different lengths.
const Bounds = "cu_seqlens"

// outSchema is input_ids, labels and position_ids of a length, and cu_seqlens: where
// documents begin and the last one ends. Positions begin at 0 in every document; of
// padding they are 0.
func outSchema(length int) *arrow.Schema {
	var fields []arrow.Field
	item := arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int32}
	for _, name := range matrices {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.FixedSizeListOfField(int32(length), item)})
	}
	fields = append(fields, arrow.Field{Name: Bounds, Type: arrow.ListOfField(item)})
	return arrow.NewSchema(fields, nil)
}

// rowBytes is the memory of a row with so many documents, rounded up.
func rowBytes(length, docs int) int { return 4*(len(matrices)*length+docs+2) + 64*5 }

// batchRows is how many rows a batch has at most.
func (p *Packer) batchRows() int {
	return max(1, int(min(mostBatch, p.share.Limit()/16))/rowBytes(p.o.Length, 0))
}

// Next gives rows that are ready, which the caller releases; nil: there are none.
func (p *Packer) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if !p.ready {
		return nil, nil
	}
	if p.row == len(p.begin)-1 {
		p.settle()
		if !p.flush || len(p.docs) == 0 {
			p.end()
			return nil, nil
		}
		p.solve(true)
	}
	n := min(p.batchRows(), len(p.begin)-1-p.row)
	docs := int(p.begin[p.row+n] - p.begin[p.row])
	region := func(n int) int { return (4*n + 63) &^ 63 }
	matrix, ends, starts := region(n*p.o.Length), region(n+1), region(docs+n)
	block, err := p.share.Map(ctx, len(matrices)*matrix+ends+starts)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	ram := block.Bytes()
	var out [len(matrices)][]byte
	for i := range out {
		out[i], ram = ram[:4*n*p.o.Length], ram[matrix:]
	}
	last := batch{int32s(out[0]), int32s(out[1]), int32s(out[2]), int32s(ram[:4*(n+1)]), int32s(ram[ends:][:4*(docs+n)])}
	p.fill(last, n)
	rec := p.record(slab, out, ram[:4*(n+1)], ram[ends:][:4*(docs+n)], n)
	p.row += n
	return rec, nil
}

// end is behind the last row that was ready.
func (p *Packer) end() {
	if p.flush {
		p.flush, p.left = false, p.o.Length
	}
}

// batch is the memory of rows that are written.
type batch struct{ ids, labels, positions, ends, starts []int32 }

// fill writes the next n rows.
func (p *Packer) fill(b batch, n int) {
	at, length := 0, p.o.Length
	b.ends[0] = 0
	for r := range n {
		ids, labels, positions := b.ids[r*length:][:length], b.labels[r*length:][:length], b.positions[r*length:][:length]
		used := 0
		for _, i := range p.order[p.begin[p.row+r]:p.begin[p.row+r+1]] {
			b.starts[at] = int32(used)
			at++
			d := p.docs[i]
			end := used + int(d.n)
			copy(ids[used:end], p.arena[0][d.at:])
			from := p.arena[0]
			if p.column[1] >= 0 {
				from = p.arena[1]
			}
			copy(labels[used:end], from[d.at:])
			count(positions[used:end])
			used = end
		}
		b.starts[at] = int32(used)
		at++
		b.ends[r+1] = int32(at)
		repeat(ids[used:], p.o.Pad)
		repeat(labels[used:], Ignore)
		clear(positions[used:])
		p.report.Rows++
		p.report.Placed += int64(used)
	}
}

func count(v []int32) {
	for i := range v {
		v[i] = int32(i)
	}
}

func repeat(v []int32, x int32) {
	for i := range v {
		v[i] = x
	}
}

// record makes one of the memory of n rows.
func (p *Packer) record(slab *stream.Slab, out [len(matrices)][]byte, ends, starts []byte, n int) arrow.RecordBatch {
	cols := make([]arrow.Array, 0, len(matrices)+1)
	add := func(values []byte, buffers ...*memory.Buffer) {
		b := slab.Buffer(values)
		child := array.NewData(arrow.PrimitiveTypes.Int32, len(values)/4, []*memory.Buffer{nil, b}, nil, 0, 0)
		data := array.NewData(p.schema.Field(len(cols)).Type, n, buffers, []arrow.ArrayData{child}, 0, 0)
		cols = append(cols, array.MakeFromData(data))
		data.Release()
		child.Release()
		b.Release()
	}
	for i := range out {
		add(out[i], nil)
	}
	b := slab.Buffer(ends)
	add(starts, nil, b)
	b.Release()
	rec := array.NewRecordBatch(p.schema, cols, int64(n))
	for _, c := range cols {
		c.Release()
	}
	return rec
}
