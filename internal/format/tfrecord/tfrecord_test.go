package tfrecord

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/formattest"
	"github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/mem"
)

var columns = arrow.NewSchema([]arrow.Field{
	{Name: "blob", Type: arrow.BinaryTypes.Binary, Nullable: true},
	{Name: "ids", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	{Name: "label", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "names", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	{Name: "score", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "weights", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
}, nil)

// some is n records from the row first on, and them as JSON.
func some(first, n int) (file []byte, text string) {
	var rows []string
	for i := first; i < first+n; i++ {
		ids := make([]int64, i%7)
		for k := range ids {
			ids[k] = int64(k-2) << (9 * k)
		}
		weights := make([]float32, i%3)
		long := strings.Repeat("é", i*i%50)
		names := []string{"a", long}[:1+i%2]
		values := []value{{"ids", ids}, {"text", []string{long}}, {"score", []float32{float32(i) / 4}}, {"names", names},
			{"weights", weights}, {"label", []int64{int64(-i)}}, {"blob", []string{"\xff"}}}
		row := fmt.Sprintf(`{"ids":%s,"text":%q,"score":%v,"names":["%s"],"weights":%s,"label":%d,"blob":"/w=="`,
			strings.ReplaceAll(fmt.Sprint(ids), " ", ","), long, float32(i)/4, strings.Join(names, `","`),
			strings.ReplaceAll(fmt.Sprint(weights), " ", ","), -i)
		if i%5 == 3 { // some are missing, in another order
			values = []value{values[6], values[0], {"score", nil}}
			row = fmt.Sprintf(`{"ids":%s,"blob":"/w=="`, strings.ReplaceAll(fmt.Sprint(ids), " ", ","))
		}
		file = append(file, framed(example(i%2 == 0, values...))...)
		rows = append(rows, row+"}")
	}
	return file, "[" + strings.Join(rows, ",") + "]"
}

func record(t testing.TB, text string) arrow.RecordBatch {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, columns, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestExamples(t *testing.T) {
	a, aText := some(0, 40)
	b, bText := some(40, 23)
	var zip bytes.Buffer
	w := gzip.NewWriter(&zip)
	w.Write(b)
	w.Close()
	one, _ := some(2, 1)
	formattest.Run(t, formattest.Case{
		Format: Format(), Files: [][]byte{a, nil, zip.Bytes()}, Rows: []int{40, 0, 23},
		Want:   []arrow.RecordBatch{record(t, aText), record(t, bText)},
		Damage: one,
	})
}

func TestDamagedRecords(t *testing.T) {
	a, text := some(0, 3)
	formattest.Run(t, formattest.Case{
		Format: Format(), Files: [][]byte{a}, Want: []arrow.RecordBatch{record(t, text)}, Options: format.Options{Schema: columns},
		Damage: a, Cuttable: true, Stride: 5,
	})
}

func TestSpoiledByteIsAnError(t *testing.T) {
	a, _ := some(0, 3)
	for i := range a {
		spoiled := slices.Clone(a)
		spoiled[i] ^= 4
		_, _, err := cutter{}.Cut(spoiled, true)
		if err == nil {
			p := &records.Piece{Data: spoiled}
			err = parse(t, p, spoiledFeatures(), false)
		}
		if err == nil {
			t.Errorf("byte %d", i)
		}
	}
}

func spoiledFeatures() []feature {
	s := &survey{features: make(map[string]*feature)}
	a, _ := some(0, 10)
	s.visit(0, a, true)
	out, _ := s.found(nil)
	return out
}

// parse parses a piece into a batch that is dropped.
func parse(t testing.TB, p *records.Piece, found []feature, lenient bool) error {
	t.Helper()
	all := make([]int, len(found))
	for i := range all {
		all[i] = i
	}
	b, err := build.New(schema(found, all))
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(1 << 20)
	defer share.Trim()
	block, err := share.Map(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset(block, 0)
	err = newParser(b, found, all, lenient).Parse(p)
	b.Finish().Release()
	return err
}

// TestKnownFile holds a file that TensorFlow wrote: a: int64 [1, 300, -1],
// s: bytes ["hi"], f: float [0.5].
func TestKnownFile(t *testing.T) {
	file, err := hex.DecodeString("36000000000000004f578cef" + "0a340a0d0a0166120812060a040000003f0a160a016112111a0f0a0d01ac02ffffffffffffffffff01" +
		"0a0b0a017312060a040a026869" + "54919844")
	if err != nil {
		t.Fatal(err)
	}
	if !sniff(format.Clue{Head: file}) || sniff(format.Clue{Head: []byte(`{"a": 1, "b": 2}`)}) || sniff(format.Clue{}) {
		t.Error("sniff")
	}
	s := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)},
		{Name: "f", Type: arrow.PrimitiveTypes.Float32}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	want, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(`[{"a":[1,300,-1],"f":0.5,"s":"hi"}]`))
	if err != nil {
		t.Fatal(err)
	}
	formattest.Run(t, formattest.Case{Format: Format(), Files: [][]byte{file}, Want: []arrow.RecordBatch{want}, Damage: file})
}

func TestWhatDoesNotFitIsNamed(t *testing.T) {
	found := []feature{{name: "n", kind: isInt}, {name: "s", kind: isBytes, text: true}, {name: "l", kind: isFloat, list: true}}
	for _, c := range []struct {
		values []value
		text   string
	}{
		{[]value{{"n", []int64{1, 2}}}, `feature "n": 2 values, others have one`},
		{[]value{{"n", []float32{1}}}, `feature "n": it is of float, others are of int64`},
		{[]value{{"s", []string{"\xff"}}}, `feature "s": it is not UTF-8`},
		{[]value{{"new", []string{""}}}, `feature "new" was not in the sample`},
	} {
		p := &records.Piece{Data: framed(example(true, c.values...))}
		err := parse(t, p, found, false)
		var bad *records.Bad
		if !errors.As(err, &bad) || bad.Next != len(p.Data) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %s", err, c.text)
		}
	}
	if err := parse(t, &records.Piece{Data: framed(example(true, value{"new", []string{""}}))}, found, true); err != nil {
		t.Error(err)
	}
	seq := field(example(true), 2, []byte("x"))
	if err := parse(t, &records.Piece{Data: framed(seq)}, found, false); !errors.Is(err, errSequence) {
		t.Error(err)
	}
}

// FuzzExample: any message is read or refused; what the survey understands
// with exactly its features, the parser reads.
func FuzzExample(f *testing.F) {
	a, _ := some(0, 9)
	for len(a) > 0 {
		n, _ := length(a)
		f.Add(a[head : n-foot])
		a = a[n:]
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) > 1<<12 {
			return // the batch of the test would be full
		}
		file := framed(msg)
		s := &survey{features: make(map[string]*feature)}
		_, err := s.visit(0, file, true)
		if err != nil && !errors.Is(err, format.ErrData) {
			t.Fatal(err)
		}
		found, foundErr := s.found(nil)
		if foundErr != nil {
			return
		}
		got := parse(t, &records.Piece{Data: file}, found, false)
		if err == nil && got != nil && !strings.Contains(got.Error(), "tf.train.Example") {
			t.Fatalf("the survey reads it, the parser says %v", got)
		}
	})
}

// TestUnpackIsVarint compares it with the plain decoder on numbers of every
// length, and on what is no number.
func TestUnpackIsVarint(t *testing.T) {
	var packed []byte
	var want []uint64
	for shift := range 64 {
		for _, v := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			packed, want = binary.AppendUvarint(packed, v), append(want, v)
		}
	}
	buf := make([]byte, 8*len(want)+8)
	n, rest := unpack(buf, packed)
	if n != len(want) || len(rest) != 0 {
		t.Fatalf("%d numbers of %d, %d bytes left", n, len(want), len(rest))
	}
	for i, v := range want {
		if got := binary.LittleEndian.Uint64(buf[8*i:]); got != v {
			t.Errorf("%d, want %d", got, v)
		}
	}
	for _, bad := range [][]byte{{0x80}, {0xff, 0xff}, bytes.Repeat([]byte{0xff}, 11), append(bytes.Repeat([]byte{0xff}, 9), 2)} {
		if n, _ := unpack(buf, bad); n != 0 {
			t.Errorf("%x is a number", bad)
		}
	}
}
