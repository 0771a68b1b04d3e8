package tokenize

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

const align = 64

// region is the bytes that n numbers of 4 bytes take in a block.
func region(n int) int { return (4*n + align - 1) &^ (align - 1) }

// record puts the tokens of all chunks one behind the other.
func (s *Stage) record(ctx context.Context, rec arrow.RecordBatch, rows []int32, chunks []chunk) (arrow.RecordBatch, error) {
	total := 0
	for i := range chunks {
		total += len(chunks[i].ids)
	}
	if total > math.MaxInt32 {
		return nil, format.Error(format.ErrData, "tokenize: %d tokens in one batch, which offsets of 32 bits cannot count", total)
	}
	s.tokens += int64(total)
	lists := 1
	if s.opt.Mask {
		lists = 2
	}
	block, err := s.share.Map(ctx, region(len(rows)+1)+lists*region(total))
	if err != nil {
		return nil, err
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	ram := block.Bytes()
	ends, ids, labels := ram[:4*(len(rows)+1)], ram[region(len(rows)+1):][:4*total], []byte(nil)
	if s.opt.Mask {
		labels = ram[region(len(rows)+1)+region(total):][:4*total]
	}
	if err := s.lay(chunks, ends, ids, labels); err != nil {
		return nil, err
	}
	var cols []arrow.Array
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	if s.keep != nil {
		if cols, err = s.keep.columns(ctx, rec, rows); err != nil {
			return nil, err
		}
	}
	typ := s.schema.Field(s.schema.NumFields() - 1).Type
	cols = append(cols, list(slab, typ, len(rows), ends, ids))
	if s.opt.Mask {
		cols = append(cols, list(slab, typ, len(rows), ends, labels))
	}
	return array.NewRecordBatch(s.schema, cols, int64(len(rows))), nil
}

// lay writes ends, tokens and, where there are any, labels.
func (s *Stage) lay(chunks []chunk, ends, ids, labels []byte) error {
	binary.LittleEndian.PutUint32(ends, 0)
	row, at := 1, 0
	for i := range chunks {
		c := &chunks[i]
		c.row, c.at = row, at
		row, at = row+len(c.ends), at+len(c.ids)
	}
	return s.pool.Each(len(chunks), func(i int, _ *worker) error {
		c := &chunks[i]
		for k, e := range c.ends {
			binary.LittleEndian.PutUint32(ends[4*(c.row+k):], uint32(c.at)+uint32(e))
		}
		copy(ids[4*c.at:], arrow.GetBytes(c.ids))
		if labels != nil {
			copy(labels[4*c.at:], arrow.GetBytes(c.labels))
		}
		return nil
	})
}

// list is a column of lists of numbers.
func list(slab *stream.Slab, typ arrow.DataType, rows int, ends, values []byte) arrow.Array {
	e, v := slab.Buffer(ends), slab.Buffer(values)
	defer e.Release()
	defer v.Release()
	child := array.NewData(arrow.PrimitiveTypes.Int32, len(values)/4, []*memory.Buffer{nil, v}, nil, 0, 0)
	defer child.Release()
	data := array.NewData(typ, rows, []*memory.Buffer{nil, e}, []arrow.ArrayData{child}, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// kept are the columns that are passed through.
type kept struct {
	at     []int
	schema *arrow.Schema
	design *scale.Design
	share  *mem.Budget
	copy   *scale.Transform
}

// newKept finds the columns; nil: there are none.
func newKept(in *arrow.Schema, names []string) (*kept, error) {
	if len(names) == 0 {
		return nil, nil
	}
	all := make([]string, in.NumFields())
	for i, f := range in.Fields() {
		all[i] = f.Name
	}
	k := new(kept)
	var err error
	if k.at, err = format.Match(all, names); err != nil {
		return nil, format.Error(format.ErrUsage, "tokenize: keep: %w", err)
	}
	var fields []arrow.Field
	for _, i := range k.at {
		if name := in.Field(i).Name; name == "input_ids" || name == "labels" {
			return nil, format.Error(format.ErrUsage, "tokenize: keep: column %q would be there twice", name)
		}
		fields = append(fields, in.Field(i))
	}
	k.schema = arrow.NewSchema(fields, nil)
	k.design, err = scale.Plan(k.schema, scale.Config{})
	return k, err
}

func (k *kept) open(share *mem.Budget) (err error) {
	k.share = share
	k.copy, err = k.design.NewTransform(k.design.Expect(0), share, 1)
	return err
}

func (k *kept) close() { k.copy.Close() }

// columns are copies of rows of rec.
func (k *kept) columns(ctx context.Context, rec arrow.RecordBatch, rows []int32) ([]arrow.Array, error) {
	cols := make([]arrow.Array, len(k.at))
	for i, at := range k.at {
		cols[i] = rec.Column(at)
	}
	own := array.NewRecordBatch(k.schema, cols, rec.NumRows())
	defer own.Release()
	block, err := k.share.Map(ctx, k.copy.Size(own, rows))
	if err != nil {
		return nil, err
	}
	made, err := k.copy.Apply(own, rows, block)
	if err != nil {
		return nil, err
	}
	defer made.Release()
	out := make([]arrow.Array, len(k.at))
	for i := range out {
		out[i] = made.Column(i)
		out[i].Retain()
	}
	return out, nil
}
