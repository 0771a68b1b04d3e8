package dedup

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/weir-data/weir/internal/format"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// record makes rows of JSON text: an array of values a column.
func record(t testing.TB, columns ...any) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	var cols []arrow.Array
	for i := 0; i < len(columns); i += 2 {
		typ := columns[i].(arrow.DataType)
		a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(columns[i+1].(string)))
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i/2), Type: typ, Nullable: true})
		cols = append(cols, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(cols[0].Len()))
}

func keysIn(t testing.TB, rec arrow.RecordBatch, o HashOptions, by ...string) []Key {
	t.Helper()
	h, err := NewHasher(rec.Schema(), by, o)
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]Key, rec.NumRows())
	h.Hash(rec, 0, len(keys), keys, new(HashScratch))
	return keys
}

// TestSameValueHasOneKeyInEveryType goes through types that hold the same
// values, row by row; no two rows are the same.
func TestSameValueHasOneKeyInEveryType(t *testing.T) {
	str, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	for _, c := range []struct {
		name, rows string
		types      []arrow.DataType
	}{
		{"text", `["", "a", null, "bc", "a longer text than those before", "ab"]`, []arrow.DataType{str,
			arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}}},
		{"integers", `[0, 1, null, 100, 7]`, []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, i64,
			arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: i64}}},
		{"negative", `[0, -1, -100, 100]`, []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, i64}},
		{"floats", `[0, 1.5, null, -2, 100]`, []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}},
		{"lists", `[[], [0], null, [null], [0, 1], [1, 0]]`, []arrow.DataType{
			arrow.ListOf(i64), arrow.LargeListOf(arrow.PrimitiveTypes.Int32), arrow.ListOf(arrow.PrimitiveTypes.Uint8), arrow.ListViewOf(i64)}},
		{"pairs", `[[1, 2], [2, 1], null, [0, null]]`, []arrow.DataType{arrow.ListOf(i64), arrow.FixedSizeListOf(2, i64)}},
		{"decimals", `["1.50", "0.00", null, "-3.25", "100.00"]`, []arrow.DataType{&arrow.Decimal128Type{Precision: 10, Scale: 2},
			&arrow.Decimal256Type{Precision: 20, Scale: 4}, &arrow.Decimal64Type{Precision: 12, Scale: 3}}},
		{"times", `["2020-01-02T03:04:05Z", "1950-01-01T00:00:01Z", null, "1970-01-01T00:00:00Z"]`, []arrow.DataType{
			arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_ns}},
		{"days", `["2020-01-02", null, "1950-01-01", "1970-01-01"]`, []arrow.DataType{arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64}},
		{"clocks", `["01:02:03", null, "00:00:00"]`, []arrow.DataType{arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := keysIn(t, record(t, c.types[0], c.rows), HashOptions{})
			distinct(t, want)
			for _, typ := range c.types[1:] {
				rec := record(t, typ, c.rows)
				for i, k := range keysIn(t, rec, HashOptions{}) {
					if k != want[i] {
						t.Errorf("%s: row %d has another key than in %s", typ, i, c.types[0])
					}
				}
				// The rows of a slice are those of the whole.
				for i, k := range keysIn(t, rec.NewSlice(1, rec.NumRows()), HashOptions{}) {
					if k != want[i+1] {
						t.Errorf("%s: row %d of a slice has another key", typ, i)
					}
				}
			}
		})
	}
}

func distinct(t *testing.T, keys []Key) {
	t.Helper()
	seen := map[Key]int{}
	for i, k := range keys {
		if j, ok := seen[k]; ok {
			t.Errorf("rows %d and %d have one key", j, i)
		}
		seen[k] = i
	}
}

// TestKindsAndFramesAreToldApart puts everything that looks alike together.
func TestKindsAndFramesAreToldApart(t *testing.T) {
	str, i64, f64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64
	var keys []Key
	for _, rec := range []arrow.RecordBatch{
		record(t, str, `["", "0", "\u0000", "\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000", null]`),
		record(t, i64, `[0, 1]`),
		record(t, f64, `[0, 1]`),
		record(t, arrow.FixedWidthTypes.Boolean, `[false, true]`),
		record(t, str, `["a", "ab", "", "abc", "a", null, ""]`, str, `["bc", "c", "abc", "", null, "a", ""]`),
		record(t, arrow.ListOf(str), `[["a", "bc"], ["ab", "c"], ["abc"], [], ["a", null], [""]]`),
		record(t, arrow.ListOf(arrow.ListOf(i64)), `[[[1], [2]], [[1, 2]], [[1, 2], []], [[], [1, 2]], [[]]]`),
		record(t, arrow.StructOf(arrow.Field{Name: "a", Type: str, Nullable: true}, arrow.Field{Name: "b", Type: str, Nullable: true}),
			`[{"a": "a", "b": "bc"}, {"a": "ab", "b": "c"}, {"a": null, "b": "c"}, {"a": "c", "b": null}, {"a": null, "b": null}]`),
		record(t, arrow.FixedWidthTypes.Timestamp_s, `["1970-01-01T00:00:01Z"]`),
		record(t, arrow.FixedWidthTypes.Duration_s, `[1]`),
		record(t, arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`),
		record(t, i64, `[-1]`),
	} {
		keys = append(keys, keysIn(t, rec, HashOptions{})...)
	}
	distinct(t, keys)
}

func TestNumbersThatAreEqualHaveOneKey(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	zero := 0.0
	nan := zero / zero
	b.AppendValues([]float64{zero, -zero, 1 / (-1 / zero), nan, -nan}, nil)
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil), []arrow.Array{b.NewArray()}, 5)
	k := keysIn(t, rec, HashOptions{})
	if k[0] != k[1] || k[0] != k[2] || k[3] != k[4] || k[0] == k[3] {
		t.Error(k)
	}
}

// TestRangesOfRowsAreHashedAlone also has columns picked by name, in order.
func TestRangesOfRowsAreHashedAlone(t *testing.T) {
	rec := record(t, arrow.BinaryTypes.String, `["a", "b", "a", null, "b"]`, arrow.PrimitiveTypes.Int32, `[1, 2, 1, 1, 3]`)
	all := keysIn(t, rec, HashOptions{})
	if all[0] != all[2] || all[1] == all[4] {
		t.Error(all)
	}
	h, err := NewHasher(rec.Schema(), []string{"c0", "c1"}, HashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for from := range 5 {
		for to := from; to <= 5; to++ {
			got := make([]Key, to-from)
			h.Hash(rec, from, to, got, new(HashScratch))
			for i, k := range got {
				if k != all[from+i] {
					t.Fatalf("rows %d to %d: row %d has another key", from, to, i)
				}
			}
		}
	}
	if one := keysIn(t, rec, HashOptions{}, "c0"); one[1] != one[4] || one[1] == all[1] {
		t.Error(one)
	}
}

func TestUnknownColumnIsNamed(t *testing.T) {
	rec := record(t, arrow.BinaryTypes.String, `[]`, arrow.BinaryTypes.String, `[]`)
	_, err := NewHasher(rec.Schema(), []string{"text"}, HashOptions{})
	if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `"text"; it has c0, c1`) {
		t.Error(err)
	}
	union := arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	_, err = NewHasher(arrow.NewSchema([]arrow.Field{{Name: "u", Type: arrow.ListOf(union)}}, nil), nil, HashOptions{})
	if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `column "u"`) {
		t.Error(err)
	}
}

// normalized is the normal form, step by step.
func normalized(s string) string {
	return strings.Join(strings.Fields(norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))), " ")
}

func TestNormalFormsHaveOneKey(t *testing.T) {
	s := new(HashScratch)
	for _, same := range [][]string{
		{"a b", " A\t\n b ", "a\u00a0\u2003B\u3000"},
		{"caf\u00e9", "CAFE\u0301", "Cafe\u0301  "},
		{"", " ", "\n\u2028"},
		{"k", "\u212a", "K"},
		{"stra\u00dfe", "STRASSE"},
		{strings.Repeat("word ", 3000), strings.Repeat(" WORD\n", 3000), strings.Repeat(" \u00a0WORD", 3000)},
		{strings.Repeat("\u00e9", 5000), strings.Repeat("E\u0301", 5000)},
	} {
		for _, v := range same {
			if s.normal(v) != s.normal(same[0]) {
				t.Errorf("%.20q and %.20q differ", v, same[0])
			}
		}
	}
	distinct(t, []Key{s.normal("ab"), s.normal("a b"), s.normal("\u00e9"), s.normal("e"), s.normal("")})
	rec := record(t, arrow.ListOf(arrow.BinaryTypes.String), `[["A"], ["a "], ["b"]]`)
	if k := keysIn(t, rec, HashOptions{Normalize: true}); k[0] != k[1] || k[0] == k[2] {
		t.Error("text in lists is not normalised")
	}
}

// FuzzNormal compares text that passes in pieces with the same done at once.
func FuzzNormal(f *testing.F) {
	for _, s := range []string{"", " A b ", "e\u0301 E\u0301", "\xff\xc3 x", "\u0345\u03b1\u0300", "\u1e9e\u0130"} {
		f.Add(s, 1)
		f.Add(s, 2000)
	}
	f.Fuzz(func(t *testing.T, s string, times int) {
		s = strings.Repeat(s, max(0, min(times, 20000/(len(s)+1)))) + s
		if got, want := new(HashScratch).normal(s), text(normalized(s)); got != want {
			t.Errorf("%.100q has another key than its normal form %.100q", s, normalized(s))
		}
		if got, want := string(new(HashScratch).Normal([]byte("x"), s)), "x"+normalized(s); got != want {
			t.Errorf("%.100q is %.100q, not %.100q", s, got, want)
		}
	})
}

func BenchmarkHash(b *testing.B) {
	const rows, width = 8192, 65
	var values []string
	for i := range rows {
		values = append(values, fmt.Sprintf("%0*d", width, i*7919))
	}
	sb := array.NewStringBuilder(memory.DefaultAllocator)
	sb.AppendValues(values, nil)
	col := sb.NewArray()
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{col, col}, rows)
	dst := make([]Key, rows)
	for _, c := range []struct {
		name string
		by   []string
		o    HashOptions
	}{{"one", []string{"a"}, HashOptions{}}, {"two", nil, HashOptions{}}, {"normal", []string{"a"}, HashOptions{Normalize: true}}} {
		b.Run(c.name, func(b *testing.B) {
			h, _ := NewHasher(rec.Schema(), c.by, c.o)
			s := new(HashScratch)
			b.SetBytes(int64(len(h.columns) * rows * width))
			b.ReportAllocs()
			start := cpu()
			for b.Loop() {
				h.Hash(rec, 0, rows, dst, s)
			}
			b.ReportMetric(float64(cpu()-start)/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}
