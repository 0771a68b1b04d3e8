package tensor

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// read is the record of a message, as Arrow's own reader sees it.
func read(t testing.TB, schema *arrow.Schema, message []byte) arrow.RecordBatch {
	t.Helper()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	head := buf.Len() - 8 // the end of the stream
	stream := slices.Concat(buf.Bytes()[:head], message, buf.Bytes()[head:])
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// take measures and takes into memory of other bytes.
func take(t testing.TB, tk *Taker, pieces ...Piece) (Taken, []byte) {
	t.Helper()
	n, err := tk.Measure(pieces...)
	if err != nil {
		t.Fatal(err)
	}
	ram := bytes.Repeat([]byte{0xa5}, n)
	out, err := tk.Take(ram)
	if err != nil {
		t.Fatal(err)
	}
	return out, ram
}

// checkTake compares rows of random records, of two windows, with what is said of
// each value alone.
func checkTake(t testing.TB, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	var fields []arrow.Field
	for i := range 1 + r.IntN(3) {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: anyType(r, 3), Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	f, err := Choose(schema, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	tk := f.NewTaker()
	var want [][]string // a row's columns
	var pieces []Piece
	for k := range 2 {
		recs := randomRecords(r, schema, r.IntN(4))
		w, err := f.Open(recs)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var all [][]string
		for _, rec := range recs {
			for i := range int(rec.NumRows()) {
				var row []string
				for _, c := range rec.Columns() {
					row = append(row, show(c, i))
				}
				all = append(all, row)
			}
		}
		p := Piece{Window: w, From: r.IntN(len(all) + 1)}
		p.N = r.IntN(len(all) - p.From + 1)
		rows := all[p.From : p.From+p.N]
		if k == 1 && len(all) > 0 {
			p, rows = Piece{Window: w}, nil
			for range r.IntN(100) {
				p.Rows = append(p.Rows, int32(r.IntN(len(all))))
				rows = append(rows, all[p.Rows[len(p.Rows)-1]])
			}
		}
		pieces, want = append(pieces, p), append(want, rows...)
	}
	taken, ram := take(t, tk, pieces...)
	if taken.Rows != len(want) || taken.Message != len(ram) || len(taken.Tensors) != 0 {
		t.Fatalf("seed %d: %+v of %d rows, %d bytes", seed, taken, len(want), len(ram))
	}
	rec := read(t, f.Schema(), ram)
	if int(rec.NumRows()) != len(want) {
		t.Fatalf("seed %d: %d rows, want %d", seed, rec.NumRows(), len(want))
	}
	for c, col := range rec.Columns() {
		if v, ok := col.(interface{ ValidateFull() error }); ok {
			if err := v.ValidateFull(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for i := range want {
			if got := show(col, i); got != want[i][c] {
				t.Fatalf("seed %d: %s: row %d is %s, want %s", seed, schema.Field(c).Type, i, got, want[i][c])
			}
		}
	}
}

func TestRowsOfAnyTypeAreTaken(t *testing.T) {
	for seed := range uint64(300) {
		checkTake(t, seed)
	}
}

func FuzzTake(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkTake(t, seed) })
}

// numbersOf is a tensor as float64.
func numbersOf(ram []byte, x Tensor) (out []float64) {
	for i := range int(x.Bytes()) / x.Dtype.Size() {
		out = append(out, element(ram, x, i))
	}
	return out
}

// lists builds lists of numbers, nil for null.
func lists(t testing.TB, elem arrow.DataType, rows ...[]string) arrow.Array {
	b := array.NewListBuilder(memory.DefaultAllocator, elem)
	for _, r := range rows {
		b.Append(r != nil)
		for _, v := range r {
			if v == "" {
				b.ValueBuilder().AppendNull()
			} else if err := b.ValueBuilder().AppendValueFromString(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.NewArray()
}

func TestTensorsAreOfNumbersAndTheRestIsArrow(t *testing.T) {
	nan := math.NaN()
	vectors := array.NewFixedSizeListBuilder(memory.DefaultAllocator, 2, arrow.PrimitiveTypes.Float32)
	for i := range 4 {
		vectors.Append(i != 2)
		vectors.ValueBuilder().(*array.Float32Builder).AppendValues([]float32{float32(i), float32(i) + .5}, nil)
	}
	rec := table(
		build(t, arrow.PrimitiveTypes.Int16, "0", "1", "2", "3"),
		build(t, arrow.BinaryTypes.String, "zero", "one", "", "three"),
		build(t, arrow.FixedWidthTypes.Boolean, "true", "false", "false", "true"),
		build(t, arrow.PrimitiveTypes.Float64, "0", "", "2", "3"),
		vectors.NewArray(),
		lists(t, arrow.PrimitiveTypes.Int32, []string{"1"}, []string{}, nil, []string{"7", "8", "9"}),
		lists(t, arrow.PrimitiveTypes.Float32, []string{"1", ""}, []string{}, nil, []string{"7", "8", "9"}),
		build(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}, "5", "6", "5", "6"),
	)
	f, err := Choose(rec.Schema(), Selection{Tensors: true, Pad: map[string]Pad{"g": {Fill: -1}}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Open([]arrow.RecordBatch{rec.NewSlice(0, 1), rec.NewSlice(1, 4)})
	if err != nil {
		t.Fatal(err)
	}
	out, ram := take(t, f.NewTaker(), Piece{Window: w, Rows: []int32{3, 1, 2, 0}})
	got := read(t, f.Schema(), ram[:out.Message])
	if got.NumCols() != 1 || fmt.Sprint(got.Column(0)) != `["three" "one" (null) "zero"]` {
		t.Errorf("%v", got)
	}
	want := []struct {
		name  string
		dtype Dtype
		shape []int64
		v     []float64
	}{
		{"a", Int16, []int64{4}, []float64{3, 1, 2, 0}},
		{"c", Bool, []int64{4}, []float64{1, 0, 0, 1}},
		{"d", Float64, []int64{4}, []float64{3, nan, 2, 0}},
		{"e", Float32, []int64{4, 2}, []float64{3, 3.5, 1, 1.5, nan, nan, 0, .5}},
		{"f.values", Int32, []int64{4}, []float64{7, 8, 9, 1}},
		{"f.offsets", Int32, []int64{5}, []float64{0, 3, 3, 3, 4}},
		{"g.values", Float32, []int64{4, 3}, []float64{7, 8, 9, -1, -1, -1, -1, -1, -1, 1, nan, -1}},
		{"g.lengths", Int64, []int64{4}, []float64{3, 0, 0, 2}},
		{"h", Int64, []int64{4}, []float64{6, 6, 5, 5}},
	}
	if len(out.Tensors) != len(want) {
		t.Fatalf("%+v", out.Tensors)
	}
	for i, x := range out.Tensors {
		w, name := want[i], strings.TrimSuffix(x.Name+"."+x.Part, ".")
		if name != w.name || x.Dtype != w.dtype || !slices.Equal(x.Shape, w.shape) || x.Offset%64 != 0 || !slices.EqualFunc(numbersOf(ram, x), w.v, same) {
			t.Errorf("%+v %v, want %+v", x, numbersOf(ram, x), w)
		}
	}
}

func TestWhatATensorCannotHoldIsRefusedByName(t *testing.T) {
	ints := lists(t, arrow.PrimitiveTypes.Int32, []string{"1", "2", "3"}, []string{"4", ""})
	rec := table(build(t, arrow.PrimitiveTypes.Int64, "1", ""), ints)
	open := func(s Selection) (*Taker, *Window) {
		t.Helper()
		f, err := Choose(rec.Schema(), s)
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Open([]arrow.RecordBatch{rec})
		if err != nil {
			t.Fatal(err)
		}
		return f.NewTaker(), w
	}
	for _, c := range []struct {
		s    Selection
		row  int32
		want string // "": no error
	}{
		{Selection{Columns: []string{"a"}, Tensors: true}, 0, ""},
		{Selection{Columns: []string{"a"}, Tensors: true}, 1, `column "a": 1 values of a batch are null`},
		{Selection{Columns: []string{"a"}}, 1, ""},
		{Selection{Columns: []string{"b"}, Tensors: true}, 1, `column "b": 1 values`},
		{Selection{Columns: []string{"b"}, Pad: map[string]Pad{"b": {Length: 2}}}, 0, `column "b": a list has 3 values, more than its pad length 2`},
		{Selection{Columns: []string{"b"}, Pad: map[string]Pad{"b": {Length: 2, Cut: true}}}, 0, ""},
		{Selection{Columns: []string{"b"}, Pad: map[string]Pad{"b": {Length: 1, Cut: true}}}, 1, ""}, // the null is cut off
	} {
		tk, w := open(c.s)
		_, err := tk.Measure(Piece{Window: w, Rows: []int32{c.row}})
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
	tk, w := open(Selection{})
	if _, err := tk.Measure(Piece{Window: w, Rows: []int32{2}}); err == nil {
		t.Error("a row that is not there")
	}
	if n, err := tk.Measure(Piece{Window: w, N: 2}); err != nil {
		t.Error(err)
	} else if _, err := tk.Take(make([]byte, n-1)); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
	for _, s := range []Selection{{Columns: []string{"z"}}, {Pad: map[string]Pad{"a": {}}}, {Pad: map[string]Pad{"z": {}}}, {Pad: map[string]Pad{"b": {Fill: .5}}},
		{Pad: map[string]Pad{"b": {Fill: 1 << 31}}}, {Columns: []string{"a"}, Pad: map[string]Pad{"b": {}}}, {Pad: map[string]Pad{"b": {Length: -1}}}} {
		if _, err := Choose(rec.Schema(), s); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	union := arrow.SparseUnionOf([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	_, err := Choose(arrow.NewSchema([]arrow.Field{{Name: "u", Type: union}}, nil), Selection{})
	if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `column "u": rows of sparse_union`) {
		t.Error(err)
	}
}

// TestDamagedArraysAreFoundWhenOpened changes what arrays point to.
func TestDamagedArraysAreFoundWhenOpened(t *testing.T) {
	buf := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrow.GetBytes(v)) }
	text := memory.NewBufferBytes([]byte("abcdef"))
	kid := array.NewData(arrow.PrimitiveTypes.Int32, 2, []*memory.Buffer{nil, buf(1, 2)}, nil, 0, 0)
	words := array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, buf(0, 3, 6), text}, nil, 0, 0)
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	list, vec := arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32)
	for i, d := range []*array.Data{
		array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, buf(0, 3, 7), text}, nil, 0, 0),
		array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, buf(0, 5, 3), text}, nil, 0, 0),
		array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, buf(-1, 5, 6), text}, nil, 0, 0),
		array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, buf(0, 3), text}, nil, 0, 0),
		array.NewData(list, 2, []*memory.Buffer{nil, buf(0, 1, 3)}, []arrow.ArrayData{kid}, 0, 0),
		array.NewData(vec, 2, []*memory.Buffer{nil}, []arrow.ArrayData{kid}, 0, 0),
		array.NewData(arrow.PrimitiveTypes.Int32, 2, []*memory.Buffer{nil, buf(1)}, nil, 0, 0),
		array.NewDataWithDictionary(dict, 2, []*memory.Buffer{nil, buf(0, 2)}, 0, 0, words),
		array.NewDataWithDictionary(dict, 2, []*memory.Buffer{nil, buf(0, -1)}, 0, 0, words),
	} {
		f, err := Choose(arrow.NewSchema([]arrow.Field{{Name: "x", Type: d.DataType()}}, nil), Selection{})
		if err != nil {
			t.Fatal(err)
		}
		s := source{parts: make([]part, len(f.nodes))}
		if s.bind(f.columns[0].root, d) {
			t.Errorf("case %d is not found", i)
		}
	}
}
