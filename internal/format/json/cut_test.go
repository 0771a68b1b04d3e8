package json

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format/records"
)

// extents is a sink that notes where rows are.
type extents struct {
	base int
	seen [][2]int
	last [2]int
}

func (e *extents) row(s *scanner, i int) int {
	end := s.pass(i, 0)
	e.last = [2]int{e.base + i, e.base + end}
	return end
}
func (e *extents) end() bool {
	e.seen = append(e.seen, e.last)
	return true
}
func (e *extents) undo()      {}
func (e *extents) more() bool { return true }

// chunked reads an array whose bytes come in chunks of a size; it returns the
// places of rows and of what was wrong.
func chunked(t testing.TB, data []byte, path []string, size int) (seen [][2]int, bad []int) {
	t.Helper()
	c := &cutter{path: path}
	e := &extents{}
	r := rows{framing: framing{array: true, path: path}, sink: e}
	begin, have, first := 0, 0, true
	for {
		have = min(have+size, len(data))
		final := have == len(data)
		from, to, err := c.Cut(data[begin:have], final)
		if err != nil {
			var b *records.Bad
			if !errors.As(err, &b) {
				t.Fatal(err)
			}
			return e.seen, append(bad, begin+b.At)
		}
		if from < 0 || from > to || to > have-begin {
			t.Fatalf("cut %d to %d of %d", from, to, have-begin)
		}
		if from < to {
			e.base = begin + from
			p := records.Piece{Data: slacked(data[begin+from : begin+to]), First: first, Last: final}
			first = false
			for p.At < len(p.Data) {
				err := r.Parse(&p)
				var b *records.Bad
				if !errors.As(err, &b) {
					if err != nil || p.At != len(p.Data) {
						t.Fatalf("stopped at %d of %d: %v", p.At, len(p.Data), err)
					}
					break
				}
				bad = append(bad, e.base+b.At)
				if b.Next <= p.At {
					return e.seen, bad
				}
				p.At = b.Next
			}
		}
		if begin += to; final {
			return e.seen, bad
		}
	}
}

func TestArraysAreCutAnywhere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 25 {
		var parts []string
		var want []string
		for range rnd.IntN(8) {
			row := "{" + strings.TrimPrefix(strings.TrimSuffix(`{"a":`+anything(rnd, 3)+"}", "}"), "{") + "}"
			want = append(want, row)
			parts = append(parts, " "+row+"\n")
		}
		array := "[" + strings.Join(parts, ",") + "]"
		for _, doc := range []struct{ path, text string }{
			{"", array},
			{"a.b", ` {"x":` + anything(rnd, 3) + `,"a": {"y":"\"a\\",` + `"b" : ` + array + `, "z":` + anything(rnd, 3) + "}\n,\"a\":1 }\n"},
		} {
			var path []string
			if doc.path != "" {
				path = strings.Split(doc.path, ".")
			}
			for size := 1; size < len(doc.text)+2; size += 1 + rnd.IntN(20) {
				seen, bad := chunked(t, []byte(doc.text), path, size)
				var got []string
				for _, s := range seen {
					got = append(got, doc.text[s[0]:s[1]])
				}
				if len(bad) > 0 || !slices.Equal(got, want) {
					t.Fatalf("%s in chunks of %d:\n%q\nbad at %v", doc.text, size, got, bad)
				}
			}
			for n := 1; n < len(strings.TrimRight(doc.text, "\n")); n++ {
				if _, bad := chunked(t, []byte(doc.text[:n]), path, 1+rnd.IntN(n)); len(bad) == 0 && strings.TrimSpace(doc.text[:n]) != "" {
					t.Fatalf("%s is read without an error", doc.text[:n])
				}
			}
		}
	}
}

// FuzzCut holds that rows do not depend on where the bytes are cut.
func FuzzCut(f *testing.F) {
	for _, s := range []string{
		`[{"a":1},{"b":"],["},{}]`, "\xef\xbb\xbf [\n{\"a\":[1,{}]}\n]\n", `[{"a":1}},{"b"]:2},3]x`, `[,{"a":"\\\""}`,
		`{"x":[1,"d\\"],"d":{"d":[{"a":1},{}]},"y":{}}`, `{"d":{"d":[`, `{"d":[]}`,
	} {
		f.Add([]byte(s), uint8(3), false)
		f.Add([]byte(s), uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8, field bool) {
		if len(data) > 4<<10 {
			t.Skip()
		}
		var path []string
		if field {
			path = []string{"d", "d"}
		}
		want, wantBad := chunked(t, data, path, len(data)+1)
		got, bad := chunked(t, data, path, 1+int(size))
		// An error of the document can be told before the rows that come with
		// it, and a row where it is cut wrong.
		if len(bad) == 0 && len(wantBad) == 0 && !slices.Equal(got, want) || (len(bad) == 0) != (len(wantBad) == 0) {
			t.Fatalf("in chunks of %d: %v, bad %v; whole: %v, bad %v", 1+int(size), got, bad, want, wantBad)
		}
	})
}

// FuzzWalk compares walk with one that looks at every byte.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(`{"a":[1,2],"b\"":"]"},[],"x"`), uint8(2), uint8(5))
	f.Add([]byte(`"\\\\\"",,}]`), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, depth, size uint8) {
		var want []int
		d, quoted, escaped := int(depth), false, false
		for i, c := range data {
			switch {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{' || c == '[':
				d++
			case (c == '}' || c == ']') && d > 0:
				d--
			case d == 0 && bytes.IndexByte([]byte(",}]"), c) >= 0:
				want = append(want, i)
			}
		}
		w := walk{depth: int(depth)}
		var got []int
		for base := 0; base < len(data); {
			chunk := data[base:min(len(data), base+1+int(size))]
			for i := w.step(chunk, 0); i < len(chunk); i = w.step(chunk, i+1) {
				got = append(got, base+i)
			}
			base += len(chunk)
		}
		if !slices.Equal(got, want) || w.depth != d || w.quoted != quoted {
			t.Fatalf("%q: %v, %+v; want %v, %d, %v", data, got, w, want, d, quoted)
		}
	})
}
