package digest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/run/digest"
	"github.com/weir-data/weir/internal/run/runtest"
)

func of(t *testing.T, recs ...arrow.RecordBatch) string {
	t.Helper()
	s, err := digest.New(recs[0].Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		s.Add(r)
	}
	return s.Digest()
}

func fromJSON(t *testing.T, schema *arrow.Schema, rows ...string) arrow.RecordBatch {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestDigestDoesNotKnowBatches(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 3000, 1)
	want := of(t, rec)
	if len(want) != 32 {
		t.Fatalf("digest %q has not 32 digits", want)
	}
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var parts []arrow.RecordBatch
		for at := int64(0); at < rec.NumRows(); {
			n := min(rec.NumRows()-at, rnd.Int64N(1<<rnd.IntN(11)+1))
			parts = append(parts, rec.NewSlice(at, at+n))
			at += n
		}
		if got := of(t, parts...); got != want {
			t.Fatalf("%d parts: %s, whole: %s", len(parts), got, want)
		}
	}
}

func TestDigestSeesEveryRow(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 50, 2)
	seen := map[string]bool{}
	for i := range rec.NumRows() {
		seen[of(t, rec.NewSlice(i, rec.NumRows()))] = true
		seen[of(t, rec.NewSlice(0, i))] = true
		seen[of(t, rec.NewSlice(i, rec.NumRows()), rec.NewSlice(0, i))] = true
	}
	// For i = 0 the first and the third are the same rows.
	if want := 3*int(rec.NumRows()) - 1; len(seen) != want {
		t.Errorf("%d different digests of %d different tables", len(seen), want)
	}
}

func TestDigestOfEqualValuesIsEqual(t *testing.T) {
	// The value under a null differs, and so does what lies before the rows.
	bits := []byte{0b101}
	ints := func(v ...int64) arrow.RecordBatch {
		raw := arrow.Int64Traits.CastToBytes(v)
		d := array.NewData(arrow.PrimitiveTypes.Int64, 3,
			[]*memory.Buffer{memory.NewBufferBytes(bits), memory.NewBufferBytes(raw)}, nil, 1, 0)
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
		return array.NewRecordBatch(s, []arrow.Array{array.MakeFromData(d)}, 3)
	}
	if of(t, ints(1, 2, 3)) != of(t, ints(1, 99, 3)) {
		t.Error("a value under a null counts")
	}
	if of(t, ints(1, 2, 3)) == of(t, ints(1, 2, 4)) {
		t.Error("a value does not count")
	}
}

func TestDigestTellsApart(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Int64)
	field := func(name string, typ arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: name, Type: typ, Nullable: true}}, nil)
	}
	text, num := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: num, Nullable: true}, arrow.Field{Name: "b", Type: num, Nullable: true})
	tables := map[string]arrow.RecordBatch{
		"empty":               fromJSON(t, field("x", num)),
		"one":                 fromJSON(t, field("x", num), `{"x":1}`),
		"other name":          fromJSON(t, field("y", num), `{"y":1}`),
		"other type":          fromJSON(t, field("x", arrow.PrimitiveTypes.Uint64), `{"x":1}`),
		"null":                fromJSON(t, field("x", num), `{"x":null}`),
		"two nulls":           fromJSON(t, field("x", num), `{"x":null}`, `{"x":null}`),
		"null first":          fromJSON(t, field("x", num), `{"x":null}`, `{"x":1}`),
		"null last":           fromJSON(t, field("x", num), `{"x":1}`, `{"x":null}`),
		"text":                fromJSON(t, field("x", text), `{"x":"ab"}`, `{"x":"c"}`),
		"text cut elsewhere":  fromJSON(t, field("x", text), `{"x":"a"}`, `{"x":"bc"}`),
		"text with empty":     fromJSON(t, field("x", text), `{"x":"abc"}`, `{"x":""}`),
		"text with null":      fromJSON(t, field("x", text), `{"x":"abc"}`, `{"x":null}`),
		"list":                fromJSON(t, field("x", list), `{"x":[1,2]}`, `{"x":[3]}`),
		"list cut elsewhere":  fromJSON(t, field("x", list), `{"x":[1]}`, `{"x":[2,3]}`),
		"list with null item": fromJSON(t, field("x", list), `{"x":[1,null]}`, `{"x":[3]}`),
		"list null":           fromJSON(t, field("x", list), `{"x":null}`, `{"x":[1,2,3]}`),
		"list empty":          fromJSON(t, field("x", list), `{"x":[]}`, `{"x":[1,2,3]}`),
		"struct null":         fromJSON(t, field("x", pair), `{"x":null}`),
		"struct of nulls":     fromJSON(t, field("x", pair), `{"x":{"a":null,"b":null}}`),
		"struct swapped":      fromJSON(t, field("x", pair), `{"x":{"a":1,"b":null}}`),
		"struct unswapped":    fromJSON(t, field("x", pair), `{"x":{"a":null,"b":1}}`),
	}
	seen := map[string]string{}
	for name, rec := range tables {
		d := of(t, rec)
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have the same digest", name, other)
		}
		seen[d] = name
	}
}

func TestDigestOfDictionaryIsThatOfItsValues(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}}, nil)
	a := fromJSON(t, schema, `{"x":"p"}`, `{"x":"q"}`, `{"x":"p"}`)
	b := fromJSON(t, schema, `{"x":"q"}`, `{"x":"p"}`, `{"x":"q"}`, `{"x":"p"}`)
	if of(t, a) != of(t, b.NewSlice(1, 4)) {
		t.Error("the order of the dictionary counts")
	}
}

func TestDigestRefusesWhatItCannotRead(t *testing.T) {
	u := arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, []arrow.UnionTypeCode{0})
	_, err := digest.New(arrow.NewSchema([]arrow.Field{{Name: "u", Type: u}}, nil))
	if err == nil || !strings.Contains(err.Error(), `column "u"`) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkDigest(b *testing.B) {
	for name, t := range map[string]arrow.DataType{
		"float64": arrow.PrimitiveTypes.Float64, "text": arrow.BinaryTypes.String,
		"list": arrow.ListOf(arrow.PrimitiveTypes.Int32), "bool": arrow.FixedWidthTypes.Boolean,
	} {
		for _, nullable := range []bool{false, true} {
			schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: t, Nullable: true}}, nil)
			rec := runtest.Random(schema, 100_000, 5)
			label := name + "/nulls"
			if !nullable {
				label, rec = name+"/plain", filled(rec)
			}
			b.Run(label, func(b *testing.B) {
				s, _ := digest.New(schema)
				b.SetBytes(int64(rec.Column(0).Data().SizeInBytes()))
				for b.Loop() {
					s.Add(rec)
				}
			})
		}
	}
}

// filled is rec without its validity: the values under nulls become valid.
func filled(rec arrow.RecordBatch) arrow.RecordBatch {
	d := rec.Column(0).Data()
	bufs := append([]*memory.Buffer{nil}, d.Buffers()[1:]...)
	a := array.MakeFromData(array.NewData(d.DataType(), d.Len(), bufs, d.Children(), 0, 0))
	return array.NewRecordBatch(rec.Schema(), []arrow.Array{a}, rec.NumRows())
}
