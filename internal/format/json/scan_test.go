package json

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/mem"
)

// slacked is data with what may be read behind it.
func slacked(data []byte) []byte { return filled(data, `1"}],`) }

// filled is slacked with some text again and again behind the data.
func filled(data []byte, with string) []byte {
	all := append(bytes.Clone(data), strings.Repeat(with, records.Slack)[:records.Slack]...)
	return all[:len(data):len(all)]
}

// ram is for the batches of tests.
var ram = mem.New(1 << 28)

// parse reads one piece as Plan and a stream would, and passes over bad rows.
func parse(t testing.TB, data []byte, f framing) (arrow.RecordBatch, []*records.Bad) {
	t.Helper()
	data = slacked(data)
	return parseWith(t, data, data, f)
}

// parseWith is parse with the schema of a sample; both have slack.
func parseWith(t testing.TB, sample, data []byte, f framing) (arrow.RecordBatch, []*records.Bad) {
	t.Helper()
	var v survey
	rs := rows{framing: f, sink: &v}
	rs.each(&records.Piece{Data: sample, First: true, Last: true})
	schema := arrow.NewSchema(v.top.schema(), nil)
	b, err := build.New(schema)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ram.Map(t.Context(), 64<<10+16*len(data)+4*b.Least())
	if err != nil {
		t.Fatal(err)
	}
	b.Reset(block, 0)
	var names []string
	var all []int
	for i, f := range schema.Fields() {
		names, all = append(names, f.Name), append(all, i)
	}
	r, err := newRows(b, names, all, f, true)
	if err != nil {
		t.Fatal(err)
	}
	p := records.Piece{Data: data, First: true, Last: true}
	var bads []*records.Bad
	for p.At < len(p.Data) {
		err := r.Parse(&p)
		var bad *records.Bad
		if !errors.As(err, &bad) {
			if err != nil || p.At < len(p.Data) {
				t.Fatalf("stopped at %d of %d, full %v: %v", p.At, len(p.Data), b.Full(), err)
			}
			break
		}
		bads = append(bads, bad)
		if bad.Next <= p.At {
			break
		}
		p.At, p.Lines = bad.Next, bad.NextLines
	}
	return b.Finish(), bads
}

// compare holds that a value is what encoding/json found.
func compare(t testing.TB, want any, a arrow.Array, i int) {
	t.Helper()
	if want == nil || a.IsNull(i) {
		if want != nil || a.IsValid(i) && a.DataType().ID() != arrow.NULL {
			t.Fatalf("%v instead of %v", a.ValueStr(i), want)
		}
		return
	}
	ok := false
	switch a := a.(type) {
	case *array.Boolean:
		ok = want == a.Value(i)
	case *array.Int64:
		ok = sameNumber(want, strconv.FormatInt(a.Value(i), 10))
	case *array.Uint64:
		ok = want == stdjson.Number(strconv.FormatUint(a.Value(i), 10))
	case *array.Float64:
		f, err := strconv.ParseFloat(fmt.Sprint(want), 64)
		ok = err == nil && f == a.Value(i)
	case *array.String:
		if ok = want == a.Value(i); !ok {
			var v any
			d := stdjson.NewDecoder(strings.NewReader(a.Value(i)))
			d.UseNumber()
			ok = d.Decode(&v) == nil && reflect.DeepEqual(v, want)
		}
	case *array.List:
		from, to := a.ValueOffsets(i)
		l, is := want.([]any)
		if ok = is && len(l) == int(to-from); ok {
			for k, v := range l {
				compare(t, v, a.ListValues(), int(from)+k)
			}
		}
	case *array.Struct:
		var m map[string]any
		if m, ok = want.(map[string]any); ok {
			compareObject(t, m, a.DataType().(*arrow.StructType).Fields(), a.Field, i)
		}
	}
	if !ok {
		t.Fatalf("%s instead of %#v", a.ValueStr(i), want)
	}
}

func sameNumber(want any, got string) bool {
	return want == stdjson.Number(got) || want == stdjson.Number("-0") && got == "0"
}

func compareObject(t testing.TB, m map[string]any, fields []arrow.Field, column func(int) arrow.Array, i int) {
	t.Helper()
	known := 0
	for k, f := range fields {
		v, ok := m[f.Name]
		if ok {
			known++
		}
		compare(t, v, column(k), i)
	}
	if known != len(m) {
		t.Fatalf("%v has more than %v", m, fields)
	}
}

// like holds that data is read as encoding/json reads it, line by line.
func like(t testing.TB, data []byte) {
	t.Helper()
	rec, bads := parse(t, data, framing{})
	defer rec.Release()
	row := 0
	at := 0
	for k, line := range bytes.SplitAfter(data, []byte("\n")) {
		text := line
		if k == 0 {
			text = bytes.TrimPrefix(text, bom)
		}
		text = bytes.Trim(text, " \t\r\n")
		if len(text) > 0 {
			sound := stdjson.Valid(text) && utf8.Valid(text)
			if sound && text[0] == '{' {
				var m map[string]any
				d := stdjson.NewDecoder(bytes.NewReader(text))
				d.UseNumber()
				if err := d.Decode(&m); err != nil {
					t.Fatal(err)
				}
				if row >= int(rec.NumRows()) {
					t.Fatalf("line %d is no row, but %v", k+1, bads)
				}
				compareObject(t, m, rec.Schema().Fields(), rec.Column, row)
				row++
			} else {
				if len(bads) == 0 {
					t.Fatalf("line %d, %q, is a row", k+1, line)
				}
				b := bads[0]
				bads = bads[1:]
				if b.Line != int64(k) || b.At < at || b.At > at+len(line) || b.Next != at+len(line) {
					t.Fatalf("line %d from %d to %d is told as %+v", k+1, at, at+len(line), b)
				}
			}
		}
		at += len(line)
	}
	if row != int(rec.NumRows()) || len(bads) > 0 {
		t.Fatalf("%d rows, want %d; %v", rec.NumRows(), row, bads)
	}
}

// anything writes a random value.
func anything(rnd *rand.Rand, depth int) string {
	gap := func() string { return []string{"", "", "", " ", "\t", "  \r "}[rnd.IntN(6)] }
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch rnd.IntN(kinds) {
	case 0:
		return "null"
	case 1:
		return strconv.FormatBool(rnd.IntN(2) == 0)
	case 2:
		return strconv.FormatInt(int64(rnd.Uint64())>>rnd.IntN(64), 10)
	case 3:
		return strconv.FormatFloat(rnd.NormFloat64()*1e3, "efg"[rnd.IntN(3)], rnd.IntN(20)-1, 64)
	case 4, 5, 6:
		return word(rnd)
	case 7:
		var parts []string
		for range rnd.IntN(4) {
			parts = append(parts, gap()+anything(rnd, depth-1)+gap())
		}
		return "[" + gap() + strings.Join(parts, ",") + "]"
	}
	var parts []string
	for range rnd.IntN(4) {
		parts = append(parts, gap()+`"`+string(rune('a'+rnd.IntN(4)))+`"`+gap()+":"+gap()+anything(rnd, depth-1)+gap())
	}
	return "{" + strings.Join(parts, ",") + gap() + "}"
}

// word writes a string of any length around those of the words it is read by.
func word(rnd *rand.Rand) string {
	out := `"`
	for range rnd.IntN(1 << rnd.IntN(8)) {
		out += []string{"a", "b", "z", " ", "/", "é", "€", "😀", `\n`, `\"`, `\\`, `\u20ac`, `\ud83d\ude00`, `\ud83d`, "plain text of more than a word"}[rnd.IntN(15)]
	}
	return out + `"`
}

func TestRandomRowsAreReadAsEncodingJSONReadsThem(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		var data []byte
		for range rnd.IntN(20) {
			keys := []string{`"id"`, `"a longer key than sixteen"`, `"k\u0065y"`, `"é"`, `"v"`}
			var parts []string
			for range rnd.IntN(6) {
				parts = append(parts, keys[rnd.IntN(len(keys))]+":"+anything(rnd, 3))
			}
			line := "{" + strings.Join(parts, ", ") + "}"
			if rnd.IntN(10) == 0 {
				line = line[:rnd.IntN(len(line))]
			}
			data = append(append(data, line...), '\n')
		}
		like(t, data)
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"{\"a\":1,\"b\":[1.5,null],\"c\":{\"d\":\"x\\n\"}}\n{\"b\":[],\"a\":\"\\ud83d\\ude00\"}\n",
		"\xef\xbb\xbf{}\r\n [] \n{\"a\":-0}\n{\"a\":1e5}", "{\"a\":\"\xe2\x82\xac\"}\n{\"a\":\"\xff\"}",
		"{\"a\":18446744073709551615,\"a\":{}}", "{\"a\":[[[[{}]]]]}\n\n{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":tru}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 || bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) ||
			bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) > depthMost {
			t.Skip("what encoding/json sees in another way")
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			if len(line) > keyMost {
				t.Skip("keys may be too long")
			}
		}
		like(t, data)
	})
}

func FuzzPlainRun(f *testing.F) {
	f.Add([]byte("some plain text that is longer than sixteen bytes\" and more"), 64)
	f.Add([]byte("é\\n\x01"), 3)
	f.Fuzz(func(t *testing.T, src []byte, room int) {
		if room < 0 || room > 1<<16 {
			t.Skip()
		}
		most := min(len(src), room)
		n := 0
		for n < most && src[n] >= ' ' && src[n] != '"' && src[n] != '\\' {
			n++
		}
		dst := make([]byte, room)
		got, high := plainRun(dst, src)
		if whole := most &^ 15; n >= whole && got != whole || n < whole && got != n {
			t.Fatalf("%d of %d in %d: it is plain up to %d", got, len(src), room, n)
		}
		if alone, h := plainLength(src[:most]); alone != got || h != high {
			t.Fatalf("without a copy %d, %x; with it %d, %x", alone, h, got, high)
		}
		ascii := bytes.IndexFunc(src[:got], func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if !bytes.Equal(dst[:got], src[:got]) || (high&highs == 0) != ascii {
			t.Fatalf("%q became %q, high %x", src[:got], dst[:got], high)
		}
	})
}

func TestValidIsWhatUTF8SaysIs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	edges := []byte{'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	sound := 0
	for range 100_000 {
		p := make([]byte, rnd.IntN(14))
		for i := range p {
			p[i] = edges[rnd.IntN(len(edges))]
			if rnd.IntN(2) == 0 {
				p[i] = edges[2+rnd.IntN(6)]
			}
		}
		if rnd.IntN(3) == 0 {
			p = append(p[:len(p)/4], string(rune(rnd.IntN(0x110000)))+"text"+string(rune(rnd.IntN(0x110000)))...)
		}
		want := utf8.Valid(p)
		if got := valid(p); got != want {
			t.Fatalf("%x: %v", p, got)
		}
		if want {
			sound++
		}
	}
	if sound < 1000 {
		t.Errorf("only %d were UTF-8", sound)
	}
}

// A piece is often followed by bytes that would go on with its last value.
func TestWhatLiesBehindAPieceDoesNotCount(t *testing.T) {
	deep := strings.Repeat("[", 70) + `{"k":12}` + strings.Repeat("]", 70)
	whole := `{"a":` + deep + `,"a key that is longer than others":"texté\u00e9","f":-1.5e3,"o":{"n":null,"t":true},"mixed":[1,"x",{}]}`
	text := []byte(whole + "\n" + `{"mixed":{"a":[]}}` + "\n")
	for _, f := range []framing{{}, {array: true}} {
		doc := text
		if f.array {
			doc = []byte("[" + strings.Replace(strings.TrimSpace(string(text)), "\n", ",\n", 1) + "]")
		}
		for n := range doc {
			if n%19 != 0 && (doc[n] == '[' || doc[n] == ']') {
				continue
			}
			want := ""
			for _, fill := range []string{"\x00", "]", "}", "}]", "1", `"`, `\`, `\u`, " ", ",", "[", "\n", `"a":`, "é", string(doc[n:])} {
				rec, bads := parseWith(t, slacked(doc), filled(doc[:n], fill), f)
				got := fmt.Sprint(rec.NumRows())
				for _, b := range bads {
					got += fmt.Sprintf("; %d, %d, %d: %v", b.At, b.Line, b.Next, b.Err)
				}
				rec.Release()
				if want == "" {
					want = got
				}
				if got != want {
					t.Fatalf("the first %d bytes with %q behind them: %s; want %s", n, fill, got, want)
				}
			}
		}
	}
}

func TestDepthIsLimited(t *testing.T) {
	deep := func(n int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}")
	}
	for _, c := range []struct{ depth, bad int }{{depthMost - 1, 0}, {depthMost, 1}, {100_000, 1}} {
		rec, bads := parse(t, deep(c.depth), framing{})
		if len(bads) != c.bad {
			t.Errorf("%d deep: %v", c.depth, bads)
		}
		rec.Release()
	}
}
