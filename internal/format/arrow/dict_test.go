package arrow

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// encoded makes a record of a dictionary column: rows values of the texts.
func (d *dice) encoded(rows int, texts []string) arrow.RecordBatch {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(texts, nil)
	i := array.NewInt16Builder(memory.DefaultAllocator)
	for range rows {
		if d.IntN(10) == 0 {
			i.AppendNull()
		} else {
			i.Append(int16(d.IntN(len(texts))))
		}
	}
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: str}
	col := array.NewDictionaryArray(typ, i.NewArray(), b.NewArray())
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ, Nullable: true}}, nil), []arrow.Array{col}, int64(rows))
}

func texts(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("text number %d", i))
	}
	return out
}

// TestDictionariesGrowAndChange: values are added to a dictionary, or it is
// replaced, between the batches of a stream.
func TestDictionariesGrowAndChange(t *testing.T) {
	d := newDice(1)
	var grow, change []arrow.RecordBatch
	for i := range 6 {
		grow = append(grow, d.encoded(300+i, texts(0, 20+50*i)))
		change = append(change, d.encoded(300+i, texts(50*i, 50*i+40)))
	}
	delta := ipc.WithDictionaryDeltas(true)
	for name, c := range map[string]struct {
		file []byte
		want []arrow.RecordBatch
	}{
		"stream, added to":        {write(t, true, grow, delta), grow},
		"stream, compressed":      {write(t, true, grow, delta, ipc.WithZstd()), grow},
		"stream, replaced":        {write(t, true, change), change},
		"stream, replaced by all": {write(t, true, grow), grow},
	} {
		t.Run(name, func(t *testing.T) {
			for _, threads := range []int{1, 3} {
				for _, share := range []int64{0, 32 << 20} {
					same(t, sourceOf(c.file), format.Options{Threads: threads}, share, c.want...)
					same(t, sourceOf(c.file, c.file), format.Options{Threads: threads, BatchRows: 100}, share, append(c.want, c.want...)...)
				}
			}
		})
	}
}

// TestConsumerKeepsAReplacedDictionary: a batch's dictionary stays what it was
// while the stream goes on.
func TestConsumerKeepsAReplacedDictionary(t *testing.T) {
	d := newDice(2)
	recs := []arrow.RecordBatch{d.encoded(50, texts(0, 20)), d.encoded(50, texts(20, 40)), d.encoded(50, texts(40, 60))}
	ds, err := Plan(t.Context(), sourceOf(write(t, true, recs)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(ds.Floor())
	s, err := ds.Open(t.Context(), share, stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var last *stream.Batch
	for i := range recs {
		b, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && !sameValues(last.Record.Column(0), recs[i-1].Column(0), 0) {
			t.Errorf("batch %d changed", i-1)
		}
		last.Release()
		last = b
	}
	s.Close()
	if !sameValues(last.Record.Column(0), recs[2].Column(0), 0) {
		t.Error("the last batch changed when the stream was closed")
	}
	last.Release()
	runtestEmpty(t, share)
}

// TestIndexOutsideOfDictionary is damage, also where the type could count as
// far; behind a null it is not.
func TestIndexOutsideOfDictionary(t *testing.T) {
	for _, null := range []bool{false, true} {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		b.AppendValues(texts(0, 300), nil)
		typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}
		valid := []byte{0b11}
		nulls := 0
		if null {
			valid, nulls = []byte{0b01}, 1
		}
		data := array.NewDataWithDictionary(typ, 2, []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes([]byte{1, 0xff})},
			nulls, 0, b.NewArray().Data().(*array.Data))
		rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ, Nullable: true}}, nil), []arrow.Array{array.MakeFromData(data)}, 2)
		err := readAll(t, sourceOf(write(t, true, []arrow.RecordBatch{rec})), format.Options{}, 0, func(b *stream.Batch) {
			if i := b.Record.Column(0).(*array.Dictionary).GetValueIndex(1); i != 0 {
				t.Errorf("the index behind the null is %d", i)
			}
		})
		if null != (err == nil) || err != nil && !errors.Is(err, format.ErrData) {
			t.Errorf("null %v: %v", null, err)
		}
	}
}
