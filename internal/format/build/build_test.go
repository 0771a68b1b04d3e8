package build

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
)

// field is a random field of at most depth levels.
func field(r *rand.Rand, name string, depth int) arrow.Field {
	scalars := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
		&arrow.FixedSizeBinaryType{ByteWidth: 5},
	}
	typ := scalars[r.IntN(len(scalars))]
	if depth > 0 {
		switch r.IntN(6) {
		case 0:
			typ = arrow.ListOfField(field(r, "item", depth-1))
		case 1:
			typ = arrow.FixedSizeListOfField(int32(1+r.IntN(3)), field(r, "item", depth-1))
		case 2:
			var kids []arrow.Field
			for i := range 1 + r.IntN(3) {
				kids = append(kids, field(r, fmt.Sprint("f", i), depth-1))
			}
			typ = arrow.StructOf(kids...)
		}
	}
	return arrow.Field{Name: name, Type: typ, Nullable: true}
}

// add appends the same random value to c and to ref.
func add(r *rand.Rand, c *Column, ref array.Builder) {
	if r.IntN(5) == 0 {
		c.Null()
		ref.AppendNull()
		return
	}
	v := r.Uint64()
	text := make([]byte, r.IntN(20)*r.IntN(20))
	for i := range text {
		text[i] = 'a' + byte(v>>(i%13))%26
	}
	switch b := ref.(type) {
	case *array.NullBuilder:
		c.Null()
		b.AppendNull()
	case *array.BooleanBuilder:
		c.Bool(v&1 == 1)
		b.Append(v&1 == 1)
	case *array.Int8Builder:
		c.Uint8(uint8(v))
		b.Append(int8(v))
	case *array.Uint16Builder:
		c.Uint16(uint16(v))
		b.Append(uint16(v))
	case *array.Int32Builder:
		c.Uint32(uint32(v))
		b.Append(int32(v))
	case *array.Float64Builder:
		c.Float64(float64(v))
		b.Append(float64(v))
	case *array.StringBuilder:
		c.Bytes(text)
		b.Append(string(text))
	case *array.BinaryBuilder:
		copy(c.Room(len(text)), text)
		c.Commit(len(text))
		b.Append(text)
	case *array.FixedSizeBinaryBuilder:
		c.Value([]byte("12345"))
		b.Append([]byte("12345"))
	case *array.ListBuilder:
		b.Append(true)
		for range r.IntN(4) {
			add(r, c.Children[0], b.ValueBuilder())
		}
		c.EndList()
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range c.Width {
			add(r, c.Children[0], b.ValueBuilder())
		}
		c.EndVector()
	case *array.StructBuilder:
		b.Append(true)
		for i, k := range c.Children {
			if r.IntN(4) == 0 {
				b.FieldBuilder(i).AppendNull() // a child without a value gets null
				continue
			}
			add(r, k, b.FieldBuilder(i))
		}
		c.EndStruct()
	}
}

// TestBatchesHoldWhatWasAdded builds random rows in blocks of random sizes and
// compares with Arrow's builders; rows without room come again in the next.
func TestBatchesHoldWhatWasAdded(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var fields []arrow.Field
		for i := range 1 + r.IntN(5) {
			fields = append(fields, field(r, fmt.Sprint("c", i), 3))
		}
		schema := arrow.NewSchema(fields, nil)
		b, err := New(schema)
		if err != nil {
			t.Fatal(err)
		}
		budget := mem.New(1 << 24)
		for range 4 {
			buildOne(t, r, b, schema, budget)
		}
		if n := budget.Leased(); n != 0 || t.Failed() {
			t.Fatalf("seed %d: %d bytes still leased", seed, n)
		}
		budget.Trim()
	}
}

func buildOne(t *testing.T, r *rand.Rand, b *Batch, schema *arrow.Schema, budget *mem.Budget) {
	t.Helper()
	block, err := budget.Map(t.Context(), b.Least()+64<<10+r.IntN(100_000))
	if err != nil {
		t.Fatal(err)
	}
	most := r.IntN(400)
	b.Reset(block, most)
	var kept []uint64 // what the rows were made of
	for !b.Full() {
		if r.IntN(10) == 0 { // a row that ends in the middle of its lists
			for _, c := range b.Columns() {
				for _, k := range c.Children {
					k.Null()
				}
			}
			b.Undo()
		}
		seed := r.Uint64()
		rows := b.Rows()
		for i, c := range b.Columns() {
			one := rand.New(rand.NewPCG(seed, uint64(i)))
			tmp := array.NewBuilder(memory.DefaultAllocator, schema.Field(i).Type)
			add(one, c, tmp)
			tmp.Release()
		}
		if r.IntN(10) == 0 {
			b.Undo()
			continue
		}
		if b.Rows() == 0 && b.Full() {
			t.Fatal("a row without room in an empty batch")
		}
		if !b.EndRow() {
			if b.Rows() != rows {
				t.Fatal("a row without room was counted")
			}
			break
		}
		kept = append(kept, seed)
	}
	if most > 0 && b.Rows() > most {
		t.Fatalf("%d rows of %d", b.Rows(), most)
	}
	got, want := b.Finish(), replay(t, schema, kept, budget)
	defer got.Release()
	defer want.Release()
	if !array.RecordEqual(got, want) {
		t.Errorf("%v\n%v\nwant\n%v", schema, got, want)
	}
	for i := range got.Columns() {
		if d := got.Column(i).Data(); !exact(d) {
			t.Errorf("column %d: children are longer or shorter than what they are of", i)
		}
		if got.Column(i).NullN() != want.Column(i).NullN() {
			t.Errorf("%d nulls, want %d", got.Column(i).NullN(), want.Column(i).NullN())
		}
	}
}

// exact says that the children of an array have just the values it is of.
func exact(d arrow.ArrayData) bool {
	want := d.Len()
	switch t := d.DataType().(type) {
	case *arrow.ListType:
		offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())
		want = int(offsets[d.Len()])
	case *arrow.FixedSizeListType:
		want *= int(t.Len())
	}
	for _, k := range d.Children() {
		if k.Len() != want || !exact(k) {
			return false
		}
	}
	return true
}

// replay builds the same rows with Arrow's builders.
func replay(t *testing.T, schema *arrow.Schema, seeds []uint64, budget *mem.Budget) arrow.RecordBatch {
	t.Helper()
	ref := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer ref.Release()
	b, err := New(schema)
	if err != nil {
		t.Fatal(err)
	}
	block, err := budget.Map(t.Context(), 1<<18)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range seeds {
		b.Reset(block, 0) // nobody looks at these
		for i, c := range b.Columns() {
			add(rand.New(rand.NewPCG(seed, uint64(i))), c, ref.Field(i))
		}
	}
	block.Free()
	return ref.NewRecordBatch()
}

func TestTypesWithoutAFormAreRefused(t *testing.T) {
	for _, typ := range []arrow.DataType{
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
	} {
		if _, err := New(arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ}}, nil)); err == nil {
			t.Errorf("%s is built", typ)
		}
	}
}
