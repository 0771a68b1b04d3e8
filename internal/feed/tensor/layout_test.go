package tensor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// build makes an array of values as text, "" for null.
func build(t testing.TB, typ arrow.DataType, values ...string) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	for _, v := range values {
		if v == "" {
			b.AppendNull()
		} else if err := b.AppendValueFromString(v); err != nil {
			t.Fatal(err)
		}
	}
	return b.NewArray()
}

// table is a record of columns called a, b, c, …
func table(cols ...arrow.Array) arrow.RecordBatch {
	var fields []arrow.Field
	for i, c := range cols {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: c.DataType(), Nullable: true})
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(cols[0].Len()))
}

// element is what a tensor holds at i, as a float64.
func element(ram []byte, x Tensor, i int) float64 {
	at := int(x.Offset) + i*x.Dtype.Size()
	ram = ram[at : at+x.Dtype.Size()]
	switch x.Dtype {
	case Float32:
		return float64(arrow.GetData[float32](ram)[0])
	case Float64:
		return arrow.GetData[float64](ram)[0]
	case Float16:
		return slowHalf(arrow.GetData[uint16](ram)[0], 5, 10)
	case BFloat16:
		return slowHalf(arrow.GetData[uint16](ram)[0], 8, 7)
	case Int8:
		return float64(int8(ram[0]))
	case Int16:
		return float64(arrow.GetData[int16](ram)[0])
	case Int32:
		return float64(arrow.GetData[int32](ram)[0])
	case Uint16:
		return float64(arrow.GetData[uint16](ram)[0])
	case Uint32:
		return float64(arrow.GetData[uint32](ram)[0])
	case Uint64:
		return float64(arrow.GetData[uint64](ram)[0])
	case Int64:
		return float64(arrow.GetData[int64](ram)[0])
	}
	return float64(ram[0])
}

func same(a, b float64) bool { return a == b || a != a && b != b }

// passes are the two ways from records to a batch.
func passes(t *testing.T, l *Layout, recs []arrow.RecordBatch, rows []int32) map[string][]byte {
	t.Helper()
	n := 0
	for _, r := range recs {
		n += int(r.NumRows())
	}
	store, err := l.NewStore(make([]byte, l.StoreSize(n)), n)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	batch := func(name string, rows int) *Batch {
		out[name] = make([]byte, l.BatchSize(rows))
		b, err := l.NewBatch(out[name], rows)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	direct, at := batch("direct", n), 0
	for _, r := range recs {
		must(l.Fill(store, at, r))
		must(l.Direct(direct, at, r))
		at += int(r.NumRows())
	}
	ranged := batch("range", n)
	must(l.Range(ranged, 0, store, 0, n/3))
	must(l.Range(ranged, n/3, store, n/3, n-n/3))
	if string(out["range"]) != string(out["direct"]) {
		t.Error("a range of the store is not what the record gives")
	}
	gathered := batch("gather", len(rows))
	must(l.Gather(gathered, 0, store, rows[:len(rows)/2]))
	must(l.Gather(gathered, len(rows)/2, store, rows[len(rows)/2:]))
	return out
}

func TestEveryTypeOfNumberBecomesFeaturesAndLabels(t *testing.T) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.PrimitiveTypes.Int32},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: arrow.PrimitiveTypes.Float64}}
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range types {
		for _, withNulls := range []bool{false, true} {
			text, want := make([]string, 700), make([]float64, 700)
			for i := range text {
				x := float64(r.IntN(100))
				if d, _ := numberOf(typ); d == Bool {
					x = float64(r.IntN(2))
					text[i] = fmt.Sprint(x == 1)
				} else {
					text[i] = fmt.Sprint(x)
				}
				if want[i] = x; withNulls && r.IntN(4) == 0 {
					text[i], want[i] = "", math.NaN()
				}
			}
			whole := build(t, typ, text...)
			part := array.NewSlice(whole, 13, 700)
			rec := table(part, part)
			for _, dtype := range []Dtype{Float32, Float64, Float16, BFloat16} {
				for _, label := range []string{"", "b"} {
					checkNumbers(t, rec, Spec{Features: []string{"a"}, Label: label, Dtype: dtype}, want[13:], withNulls)
				}
			}
		}
	}
}

func checkNumbers(t *testing.T, rec arrow.RecordBatch, spec Spec, want []float64, nulls bool) {
	t.Helper()
	typ := rec.Column(0).DataType()
	d, _ := numberOf(typ)
	if nulls && spec.Label != "" && !d.Floating() {
		l, err := Plan(rec.Schema(), spec)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := l.NewBatch(make([]byte, l.BatchSize(len(want))), len(want))
		if err := l.Direct(b, 0, rec); !errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), `column "b": row `) {
			t.Errorf("%s: a null label of integers: %v", typ, err)
		}
		spec.LabelDtype = Float64
	}
	l, err := Plan(rec.Schema(), spec)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int32, 300)
	for i := range rows {
		rows[i] = int32(rand.IntN(len(want)))
	}
	half := rec.NumRows() / 2
	recs := []arrow.RecordBatch{rec.NewSlice(0, half), rec.NewSlice(half, rec.NumRows())}
	out := passes(t, l, recs, rows)
	for _, x := range l.Tensors(len(want)) {
		for i, w := range want {
			if got := element(out["direct"], x, i); !same(got, w) {
				t.Fatalf("%s as %s of %s: row %d is %v, want %v", typ, x.Name, x.Dtype, i, got, w)
			}
		}
	}
	for _, x := range l.Tensors(len(rows)) {
		for i, r := range rows {
			if got := element(out["gather"], x, i); !same(got, want[r]) {
				t.Fatalf("%s as %s of %s: gathered %v, want %v", typ, x.Name, x.Dtype, got, want[r])
			}
		}
	}
}

func TestRowsOfManyColumnsKeepTheirOrder(t *testing.T) {
	for _, width := range []int{1, 3, 32, 700, 9000} {
		var fields []arrow.Field
		var cols []arrow.Array
		rows := 2000 / min(width, 20)
		for c := range width {
			v := make([]float64, rows)
			for i := range v {
				v[i] = float64(i*7 + c)
			}
			b := array.NewFloat64Builder(memory.DefaultAllocator)
			b.AppendValues(v, nil)
			cols = append(cols, b.NewArray())
			fields = append(fields, arrow.Field{Name: fmt.Sprint("f", c), Type: arrow.PrimitiveTypes.Float64})
		}
		fields, cols = append(fields, arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float64}), append(cols, cols[0])
		rec := array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(rows))
		l, err := Plan(rec.Schema(), Spec{Label: "y", LabelDtype: Int64})
		if err != nil {
			t.Fatal(err)
		}
		order := make([]int32, rows)
		for i, r := range rand.Perm(rows) {
			order[i] = int32(r)
		}
		ram := passes(t, l, []arrow.RecordBatch{rec}, order)["gather"]
		ts := l.Tensors(rows)
		for i, r := range order {
			for c := range width {
				if got := element(ram, ts[0], i*width+c); got != float64(float32(int(r)*7+c)) {
					t.Fatalf("width %d: [%d, %d] is %v, want row %d", width, i, c, got, r)
				}
			}
			if got := element(ram, ts[1], i); got != float64(int(r)*7) {
				t.Fatalf("width %d: label %d is %v", width, i, got)
			}
		}
	}
}

func TestVectorsAreFeaturesBesideOthers(t *testing.T) {
	for _, elem := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Boolean} {
		for _, width := range []int{1, 3, 600} {
			for _, dtype := range []Dtype{Float32, Float16, BFloat16} {
				b := array.NewFixedSizeListBuilder(memory.DefaultAllocator, int32(width), elem)
				n := 90
				want := make([]float64, n*width)
				for i := range n {
					b.Append(i%7 != 3)
					for k := range width {
						x := (i + k) % 2
						want[i*width+k] = float64(x)
						switch v := b.ValueBuilder().(type) {
						case *array.BooleanBuilder:
							v.Append(x == 1)
						default:
							if err := v.AppendValueFromString(fmt.Sprint(x)); err != nil {
								t.Fatal(err)
							}
						}
						if i%7 == 3 {
							want[i*width+k] = math.NaN()
						}
					}
				}
				all := b.NewArray()
				plain := build(t, arrow.PrimitiveTypes.Int32, strings.Split(strings.Repeat("5 ", n-1)+"5", " ")...)
				rec := table(array.NewSlice(all, 11, int64(n)), array.NewSlice(plain, 11, int64(n)))
				l, err := Plan(rec.Schema(), Spec{Features: []string{"b", "a"}, Dtype: dtype})
				if err != nil {
					t.Fatal(err)
				}
				ram := passes(t, l, []arrow.RecordBatch{rec}, []int32{1})["direct"]
				x := l.Tensors(n - 11)[0]
				for i := range n - 11 {
					if element(ram, x, i*(width+1)) != 5 {
						t.Fatal("the other feature is gone")
					}
					for k := range width {
						if got := element(ram, x, i*(width+1)+1+k); !same(got, want[(i+11)*width+k]) {
							t.Fatalf("%s[%d] as %s: [%d, %d] is %v", elem, width, dtype, i, k, got)
						}
					}
				}
			}
		}
	}
}

func TestColumnsThatAreNoNumbersAreRefusedByName(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 20, Scale: 3}}, {Name: "color", Type: arrow.BinaryTypes.String},
		{Name: "when", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "ids", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}}}, nil)
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Features: []string{"price"}}, `column "price": decimal(20, 3) is not a number`},
		{Spec{Features: []string{"x", "color"}}, `column "color": utf8 is not a number; encode it with weir prepare`},
		{Spec{Features: []string{"k*"}}, `encode it with weir prepare`},
		{Spec{Features: []string{"ids"}}, `padded`},
		{Spec{Features: []string{"when"}}, `column "when": timestamp`},
		{Spec{}, `column "price"`},
		{Spec{Features: []string{"z*"}}, `no column matches "z*"`},
		{Spec{Features: []string{"x"}, Label: "y"}, `label: no column matches "y"`},
		{Spec{Features: []string{"x"}, Label: "color"}, `label: column "color": utf8 is not a number`},
		{Spec{Features: []string{"x"}, Label: "x"}, `named as a feature too`},
		{Spec{Features: []string{"?"}, Label: "x"}, `no column is left`},
		{Spec{Features: []string{"x"}, Dtype: Int64}, `dtype int64`},
	} {
		if _, err := Plan(schema, c.spec); !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
		}
	}
}

func TestLabelsAreIntegersOrRefused(t *testing.T) {
	f64, u64 := arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Uint64
	for _, c := range []struct {
		typ  arrow.DataType
		text string
		ok   bool
	}{
		{f64, "3", true}, {f64, "-9223372036854775808", true}, {f64, "3.5", false}, {f64, "NaN", false}, {f64, "9223372036854775808", false}, {f64, "-Inf", false},
		{u64, "9223372036854775807", true}, {u64, "9223372036854775808", false}, {arrow.PrimitiveTypes.Int64, "9223372036854775807", true},
	} {
		rec := table(build(t, f64, "1", "1"), build(t, c.typ, "1", c.text))
		l, err := Plan(rec.Schema(), Spec{Label: "b", LabelDtype: Int64})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := l.NewBatch(make([]byte, l.BatchSize(2)), 2)
		err = l.Direct(b, 0, rec)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), `column "b": row 1: `) {
			t.Errorf("%s %s: %v", c.typ, c.text, err)
		}
	}
}

func TestRowsAndMemoryThatAreNotThereAreErrors(t *testing.T) {
	rec := table(build(t, arrow.PrimitiveTypes.Float64, "1", "2"))
	l, err := Plan(rec.Schema(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.NewStore(make([]byte, 7), 2); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
	if _, err := l.NewBatch(make([]byte, 7), 2); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
	s, _ := l.NewStore(make([]byte, 8), 2)
	b, _ := l.NewBatch(make([]byte, 8), 2)
	other := table(build(t, arrow.PrimitiveTypes.Float32, "1"))
	for i, err := range []error{l.Fill(s, 1, rec), l.Fill(s, -1, rec), l.Direct(b, 1, rec), l.Fill(s, 0, other), l.Gather(b, 0, s, []int32{2}),
		l.Gather(b, 0, s, []int32{-1}), l.Gather(b, 1, s, []int32{0, 1}), l.Range(b, 0, s, 1, 2), l.Range(b, 1, s, 0, 2)} {
		if err == nil {
			t.Errorf("case %d is no error", i)
		}
	}
}
