package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// dice makes arrays.
type dice struct {
	*rand.Rand
	nulls float64
	long  int // texts are up to that long; 0: 20
}

func newDice(seed uint64) *dice {
	return &dice{Rand: rand.New(rand.NewPCG(seed, 7)), nulls: 0.2}
}

func (d *dice) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

// validity is a bitmap and how many nulls it has; none one time in four.
func (d *dice) validity(n int) (*memory.Buffer, int) {
	if d.IntN(4) == 0 || d.nulls == 0 {
		return nil, 0
	}
	b, zeros := make([]byte, (n+7)/8), 0
	for i := range n {
		if d.Float64() < d.nulls {
			zeros++
		} else {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return memory.NewBufferBytes(b), zeros
}

// offsets are n+1 of width bytes, with steps below most, and the last of them.
func (d *dice) offsets(n, width, most int) (*memory.Buffer, int) {
	b, at := make([]byte, 0, (n+1)*width), 0
	for i := range n + 1 {
		if i > 0 {
			at += d.IntN(most)
		}
		if width == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(at))
		} else {
			b = binary.LittleEndian.AppendUint64(b, uint64(at))
		}
	}
	return memory.NewBufferBytes(b), at
}

func (d *dice) array(t arrow.DataType, n int) arrow.Array {
	data := d.data(t, n)
	defer data.Release()
	return array.MakeFromData(data)
}

// data makes n values of a type.
func (d *dice) data(t arrow.DataType, n int) arrow.ArrayData {
	f := layoutOf(t)
	valid, zeros := d.validity(n)
	make := func(kids []arrow.ArrayData, bufs ...*memory.Buffer) arrow.ArrayData {
		return array.NewData(t, n, append([]*memory.Buffer{valid}, bufs...), kids, zeros, 0)
	}
	long := d.long
	if long == 0 {
		long = 20
	}
	switch f.shape {
	case nullShape:
		return array.NewData(t, n, []*memory.Buffer{nil}, nil, n, 0)
	case bitShape:
		return make(nil, memory.NewBufferBytes(d.bytes((n+7)/8)))
	case fixedShape:
		b := d.bytes(n * f.width)
		if arrow.IsFloating(t.ID()) {
			for i := range n {
				b[(i+1)*f.width-1] = 0x3f // no NaN, which is not itself
			}
		}
		return make(nil, memory.NewBufferBytes(b))
	case textShape:
		offs, size := d.offsets(n, f.width, long)
		return make(nil, offs, memory.NewBufferBytes(d.bytes(size)))
	case viewShape:
		return d.views(t, n)
	case listShape:
		valid, zeros = d.validity(n)
		offs, size := d.offsets(n, f.width, 4)
		elem := t.(arrow.ListLikeType).Elem()
		if t.ID() == arrow.MAP {
			s := elem.(*arrow.StructType)
			was := d.nulls
			d.nulls = 0
			key := d.data(s.Field(0).Type, size)
			d.nulls = was
			entries := array.NewData(s, size, []*memory.Buffer{nil}, []arrow.ArrayData{key, d.data(s.Field(1).Type, size)}, 0, 0)
			return make([]arrow.ArrayData{entries}, offs)
		}
		return make([]arrow.ArrayData{d.data(elem, size)}, offs)
	case listViewShape:
		const kid = 50
		offs, sizes := []byte(nil), []byte(nil)
		for range n {
			o := d.IntN(kid)
			s := d.IntN(min(5, kid-o))
			if f.width == 4 {
				offs, sizes = binary.LittleEndian.AppendUint32(offs, uint32(o)), binary.LittleEndian.AppendUint32(sizes, uint32(s))
			} else {
				offs, sizes = binary.LittleEndian.AppendUint64(offs, uint64(o)), binary.LittleEndian.AppendUint64(sizes, uint64(s))
			}
		}
		return make([]arrow.ArrayData{d.data(t.(arrow.ListLikeType).Elem(), kid)}, memory.NewBufferBytes(offs), memory.NewBufferBytes(sizes))
	case fixedListShape:
		return make([]arrow.ArrayData{d.data(t.(arrow.ListLikeType).Elem(), n*f.width)})
	case structShape:
		var kids []arrow.ArrayData
		for _, c := range t.(*arrow.StructType).Fields() {
			kids = append(kids, d.data(c.Type, n))
		}
		return make(kids)
	case indexShape:
		const kinds = 30
		was := d.nulls
		d.nulls = 0
		values := d.data(t.(*arrow.DictionaryType).ValueType, kinds)
		d.nulls = was
		b := d.bytes(n * f.width)
		clear(b)
		for i := range n {
			b[i*f.width] = byte(d.IntN(kinds))
		}
		return array.NewDataWithDictionary(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(b)}, zeros, 0, values.(*array.Data))
	}
	return d.chosen(t, n)
}

// chosen makes unions and runs.
func (d *dice) chosen(t arrow.DataType, n int) arrow.ArrayData {
	switch t := t.(type) {
	case *arrow.SparseUnionType, *arrow.DenseUnionType:
		u := t.(arrow.UnionType)
		ids, offs := make([]byte, n), make([]byte, 4*n)
		count := make([]int, len(u.Fields()))
		for i := range n {
			k := d.IntN(len(count))
			ids[i] = byte(u.TypeCodes()[k])
			binary.LittleEndian.PutUint32(offs[4*i:], uint32(count[k]))
			count[k]++
		}
		bufs := []*memory.Buffer{nil, memory.NewBufferBytes(ids)}
		dense := u.Mode() == arrow.DenseMode
		if dense {
			bufs = append(bufs, memory.NewBufferBytes(offs))
		}
		var kids []arrow.ArrayData
		for k, f := range u.Fields() {
			if !dense {
				count[k] = n
			}
			kids = append(kids, d.data(f.Type, count[k]))
		}
		return array.NewData(t, n, bufs, kids, 0, 0)
	case *arrow.RunEndEncodedType:
		var ends []byte
		runs := 0
		for at := 0; at < n; runs++ {
			at = min(n, at+1+d.IntN(9))
			ends = binary.LittleEndian.AppendUint32(ends, uint32(at))
		}
		end := array.NewData(arrow.PrimitiveTypes.Int32, runs, []*memory.Buffer{nil, memory.NewBufferBytes(ends)}, nil, 0, 0)
		return array.NewData(t, n, []*memory.Buffer{nil}, []arrow.ArrayData{end, d.data(t.Encoded(), runs)}, 0, 0)
	}
	panic(fmt.Sprint("no values for ", t))
}

func (d *dice) views(t arrow.DataType, n int) arrow.ArrayData {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	for range n {
		v := d.bytes(d.IntN(40))
		if d.Float64() < d.nulls {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.StringViewBuilder:
			b.Append(string(v))
		case *array.BinaryViewBuilder:
			b.Append(v)
		}
	}
	a := b.NewArray()
	defer a.Release()
	data := array.NewSliceData(a.Data(), 0, int64(a.Len()))
	return data
}

// layoutOf describes a type as reading its schema would.
func layoutOf(t arrow.DataType) *field {
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: t, Nullable: true}}, nil), nil, 0)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(rec.Schema()))
	w.Close()
	var m message
	if err := m.parse(buf.Bytes()[8:]); err != nil {
		panic(err)
	}
	s, err := parseSchema(m.head)
	if err != nil {
		panic(fmt.Sprint(t, ": ", err))
	}
	if !arrow.TypeEqual(s.fields[0].Type, t) {
		panic(fmt.Sprint(t, " was read as ", s.fields[0].Type))
	}
	return s.fields[0]
}

// table makes a record with columns c0, c1, and so on.
func (d *dice) table(rows int, types ...arrow.DataType) arrow.RecordBatch {
	var fields []arrow.Field
	var cols []arrow.Array
	for i, t := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: t, Nullable: true})
		cols = append(cols, d.array(t, rows))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(rows))
}

// write makes a file, or a stream, of record batches.
func write(t testing.TB, stream bool, recs []arrow.RecordBatch, opts ...ipc.Option) []byte {
	t.Helper()
	var buf bytes.Buffer
	opts = append([]ipc.Option{ipc.WithSchema(recs[0].Schema())}, opts...)
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	var err error
	if stream {
		w = ipc.NewWriter(&buf, opts...)
	} else if w, err = ipc.NewFileWriter(&buf, opts...); err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// cut divides a record.
func cut(rec arrow.RecordBatch, rows ...int64) []arrow.RecordBatch {
	var out []arrow.RecordBatch
	at := int64(0)
	for _, n := range rows {
		out = append(out, rec.NewSlice(at, at+n))
		at += n
	}
	return append(out, rec.NewSlice(at, rec.NumRows()))
}
