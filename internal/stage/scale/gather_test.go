package scale

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
)

// TestGatheredRowsAreThoseOfThePieces puts rows of arrays of random types
// together, with dictionaries that differ, in blocks that are too small now and
// then, and looks at each value.
func TestGatheredRowsAreThoseOfThePieces(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		typ := anyType(r, 3)
		d := plan(t, arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Float64}}, nil),
			Config{Scale: []Rule{{"n", "log1p"}}})
		budget := mem.New(16 << 20)
		tr, err := d.NewTransform(&Params{Columns: []Column{{Name: "n", Scale: "log1p"}}}, budget, 2)
		if err != nil {
			t.Fatal(err)
		}
		g := tr.Gather(500)
		for range 2 { // the second knows of the first
			gatherOne(t, r, g, typ, budget, fmt.Sprintf("seed %d, %s", seed, typ))
		}
		g.Drop()
		tr.Close()
		if n := budget.Leased(); n != 0 {
			t.Fatalf("%d bytes are leased at the end", n)
		}
	}
}

func gatherOne(t *testing.T, r *rand.Rand, g *Gathered, typ arrow.DataType, budget *mem.Budget, what string) {
	t.Helper()
	var want []string
	for range 1 + r.IntN(6) {
		rec := anyPiece(t, r, typ)
		rows := []int32{}
		for i := range int(rec.NumRows()) {
			if r.IntN(3) > 0 {
				rows = append(rows, int32(i))
			}
		}
		if len(rows) == int(rec.NumRows()) || r.IntN(3) == 0 {
			rows = nil
		}
		size, fits, err := g.Want(rec, rows)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !fits {
			block, err := budget.Map(t.Context(), size+r.IntN(2)*r.IntN(5000))
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Move(block); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if err := g.Add(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i := range int(rec.NumRows()) {
			if rows == nil {
				want = append(want, rec.Column(0).ValueStr(i))
			}
		}
		for _, i := range rows {
			want = append(want, rec.Column(0).ValueStr(int(i)))
		}
	}
	if g.Rows() != len(want) {
		t.Fatalf("%s: %d rows of %d", what, g.Rows(), len(want))
	}
	out := g.Record()
	defer out.Release()
	for i, w := range want {
		if got := out.Column(0).ValueStr(i); got != w {
			t.Fatalf("%s: row %d is %s, want %s", what, i, got, w)
		}
		if n := out.Column(1).(*array.Float64).Value(i); n <= 0 || n > 1 {
			t.Fatalf("%s: row %d has the number %v", what, i, n)
		}
	}
	nulls := 0
	for i := range want {
		if out.Column(0).IsNull(i) {
			nulls++
		}
	}
	if n := out.Column(0).NullN(); n != nulls && typ.ID() != arrow.NULL {
		t.Errorf("%s: %d nulls, counted %d", what, nulls, n)
	}
}

// anyPiece is a record that begins somewhere in a larger one.
func anyPiece(t *testing.T, r *rand.Rand, typ arrow.DataType) arrow.RecordBatch {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	n := array.NewFloat64Builder(memory.DefaultAllocator)
	nulls := r.IntN(3) > 0
	total := r.IntN(80)
	for range total {
		fill(r, b, nulls)
		n.Append(0.5 + r.Float64())
	}
	whole := batch(t, []string{"x", "n"}, b.NewArray(), n.NewArray())
	from := r.IntN(total + 1)
	return whole.NewSlice(int64(from), int64(from+r.IntN(total-from+1)))
}

// TestDictionariesThatAreTooLargeTogetherAreRefused since indices of 8 bits
// tell 128 values apart.
func TestDictionariesThatAreTooLargeTogetherAreRefused(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	budget := mem.New(1 << 20)
	d := plan(t, arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}}, nil), Config{})
	tr, err := d.NewTransform(&Params{}, budget, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	g := tr.Gather(1000)
	defer g.Drop()
	for i, letter := range []string{"a", "b"} {
		b := array.NewDictionaryBuilder(memory.DefaultAllocator, typ).(*array.BinaryDictionaryBuilder)
		for k := range 100 {
			if err := b.AppendString(fmt.Sprint(letter, k)); err != nil {
				t.Fatal(err)
			}
		}
		size, _, err := g.Want(batch(t, []string{"x"}, b.NewArray()), nil)
		if i == 1 {
			if err == nil {
				t.Error("200 values were taken")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		block, _ := budget.TryMap(size)
		if err := g.Move(block); err != nil {
			t.Fatal(err)
		}
		if err := g.Add(); err != nil {
			t.Fatal(err)
		}
	}
}
