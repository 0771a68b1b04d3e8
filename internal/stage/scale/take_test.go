package scale

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// anyType is a random type that can be passed through.
func anyType(r *rand.Rand, depth int) arrow.DataType {
	scalars := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Timestamp_us,
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 5},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	}
	if depth == 0 {
		return scalars[r.IntN(len(scalars))]
	}
	switch r.IntN(7) {
	case 0:
		return arrow.ListOf(anyType(r, depth-1))
	case 1:
		return arrow.LargeListOf(anyType(r, depth-1))
	case 2:
		return arrow.FixedSizeListOf(int32(1+r.IntN(3)), anyType(r, depth-1))
	case 3:
		return arrow.StructOf(arrow.Field{Name: "a", Type: anyType(r, depth-1), Nullable: true}, arrow.Field{Name: "b", Type: anyType(r, depth-1), Nullable: true})
	case 4:
		return arrow.MapOf(arrow.BinaryTypes.String, anyType(r, depth-1))
	}
	return scalars[r.IntN(len(scalars))]
}

// fill appends a random value.
func fill(r *rand.Rand, b array.Builder, nulls bool) {
	if nulls && r.IntN(5) == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.Int8Builder:
		b.Append(int8(r.Uint32()))
	case *array.Float64Builder:
		b.Append(r.NormFloat64())
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(r.Int64()))
	case *array.StringBuilder:
		b.Append(fmt.Sprint(r.IntN(1e9))[:1+r.IntN(2)*r.IntN(2)])
	case *array.LargeStringBuilder:
		b.Append("large"[:r.IntN(6)])
	case *array.BinaryBuilder:
		b.Append([]byte("binary")[:r.IntN(7)])
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte("12345"))
	case *array.BinaryDictionaryBuilder:
		b.AppendString(fmt.Sprint(r.IntN(20)))
	case *array.MapBuilder:
		b.Append(true)
		for i := range r.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint(i))
			fill(r, b.ItemBuilder(), nulls)
		}
	case *array.ListBuilder:
		b.Append(true)
		for range r.IntN(4) {
			fill(r, b.ValueBuilder(), nulls)
		}
	case *array.LargeListBuilder:
		b.Append(true)
		for range r.IntN(4) {
			fill(r, b.ValueBuilder(), nulls)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			fill(r, b.ValueBuilder(), nulls)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(r, b.FieldBuilder(i), nulls)
		}
	}
}

// TestColumnsPassThroughAsTheyAre copies random rows of random types, of arrays
// that begin somewhere in larger ones.
func TestColumnsPassThroughAsTheyAre(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := array.NewBuilder(memory.DefaultAllocator, anyType(r, 3))
		total := r.IntN(100)
		for range total {
			fill(r, b, seed%3 > 0)
		}
		whole := b.NewArray()
		from := r.IntN(total + 1)
		part := array.NewSlice(whole, int64(from), int64(from+r.IntN(total-from+1)))
		rec := batch(t, []string{"x"}, part)
		rows := []int32{}
		for i := range part.Len() {
			if r.IntN(3) > 0 {
				rows = append(rows, int32(i))
			}
		}
		d := plan(t, rec.Schema(), Config{})
		for _, rows := range [][]int32{nil, rows} {
			err := apply(t, d, &Params{}, rec, rows, func(out arrow.RecordBatch) {
				got, n := out.Column(0), part.Len()
				if rows != nil {
					n = len(rows)
				}
				if got.Len() != n || !arrow.TypeEqual(got.DataType(), part.DataType()) {
					t.Fatalf("seed %d: %d rows of %s, want %d of %s", seed, got.Len(), got.DataType(), n, part.DataType())
				}
				for i := range n {
					k := i
					if rows != nil {
						k = int(rows[i])
					}
					if !array.SliceEqual(got, int64(i), int64(i+1), part, int64(k), int64(k+1)) {
						t.Fatalf("seed %d: %s: row %d is %v, want row %d of %v", seed, part.DataType(), i, got, k, part)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestEveryTypeOfNumberIsRead(t *testing.T) {
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean} {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for _, s := range []string{"9", "1", "0", "", "1"} {
			if s == "" {
				b.AppendNull()
			} else if typ.ID() == arrow.BOOL {
				b.(*array.BooleanBuilder).Append(s != "0")
			} else if err := b.AppendValueFromString(s); err != nil {
				t.Fatal(err)
			}
		}
		whole := b.NewArray()
		part := array.NewSlice(whole, 1, 5) // with an offset
		rec := batch(t, []string{"x"}, part)
		for _, rows := range [][]int32{nil, {0, 1, 2, 3}, {1, 3}} {
			d := plan(t, rec.Schema(), Config{Scale: []Rule{{"x", "standard"}}, Impute: []Rule{{"*", "constant:3"}}})
			p, err := fitOne(t, d, rec, rows)
			if err != nil {
				t.Fatal(err)
			}
			c, want := p.Columns[0], []float64{1, 0, 3, 1}
			if rows == nil && (c.Count != 3 || c.Nulls != 1 || !near(*c.Mean, 2.0/3, 1e-15) || !near(*c.Center, 5.0/4, 1e-15)) {
				t.Errorf("%s: %+v", typ, c)
			}
			err = apply(t, d, p, rec, rows, func(out arrow.RecordBatch) {
				for i, y := range values(out, 0) {
					r := i
					if rows != nil {
						r = int(rows[i])
					}
					if !near(y, (want[r]-*c.Center) / *c.Divisor, 1e-12) {
						t.Errorf("%s: rows %v: row %d is %v", typ, rows, i, y)
					}
				}
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

func TestRowsThatAreNotThereAreRefused(t *testing.T) {
	rec := batch(t, []string{"x"}, []float64{1, 2, 3})
	d := plan(t, rec.Schema(), Config{})
	for _, rows := range [][]int32{{-1}, {3}, {1, 1}, {2, 0}} {
		if _, err := fitOne(t, d, rec, rows); err == nil {
			t.Errorf("fit: rows %v", rows)
		}
	}
	other := batch(t, []string{"x"}, words("a b c"))
	if err := apply(t, d, &Params{}, other, nil, func(arrow.RecordBatch) {}); err == nil {
		t.Error("a batch of another type was transformed")
	} else if want := `column "x": a batch has utf8, planned for float64`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
