package json

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// chatPiece is a piece of conversations as Python writes them.
func chatPiece() []byte {
	var out strings.Builder
	words := strings.Fields("some words of several lengths, as texts have them; lines end now and then.\\n and go on")
	for i := 0; out.Len() < 1<<20; i++ {
		fmt.Fprintf(&out, `{"id": %d, "messages": [`, i)
		for k := range 2 + i%5 {
			if k > 0 {
				out.WriteString(", ")
			}
			fmt.Fprintf(&out, `{"role": "%s", "content": "`, []string{"user", "assistant"}[k%2])
			for w := range 20 + i*7%50 {
				out.WriteString(words[(w*w+i)%len(words)] + " ")
			}
			out.WriteString(`"}`)
		}
		fmt.Fprintf(&out, "], \"meta\": {\"source\": \"web\", \"score\": %g, \"tags\": [\"a\", \"code\"]}}\n", float64(i)/64)
	}
	return []byte(out.String())
}

func BenchmarkRows(b *testing.B)   { benchmarkRows(b, []int{0, 1, 2}) }
func BenchmarkPassed(b *testing.B) { benchmarkRows(b, []int{0}) }

// benchmarkRows reads the picked of the columns id, messages and meta.
func benchmarkRows(b *testing.B, picked []int) {
	data := slacked(chatPiece())
	var v survey
	rs := rows{sink: &v}
	rs.each(&records.Piece{Data: data, First: true, Last: true})
	schema := pick(arrow.NewSchema(v.top.schema(), nil), picked)
	batch, err := build.New(schema)
	if err != nil {
		b.Fatal(err)
	}
	r, err := newRows(batch, []string{"id", "messages", "meta"}, picked, framing{}, true)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		block, err := ram.Map(b.Context(), 4*len(data))
		if err != nil {
			b.Fatal(err)
		}
		batch.Reset(block, 0)
		p := records.Piece{Data: data, First: true, Last: true}
		if err := r.Parse(&p); err != nil || p.At != len(data) {
			b.Fatal(p.At, err)
		}
		batch.Finish().Release()
	}
}

func BenchmarkCut(b *testing.B) {
	data := []byte("[" + strings.ReplaceAll(strings.TrimSuffix(string(chatPiece()), "\n"), "\n", ",\n") + "]")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var c cutter
		if _, to, err := c.Cut(data, false); err != nil || to < len(data)-1 {
			b.Fatal(to, err)
		}
	}
}

func BenchmarkPlainRun(b *testing.B) {
	for _, n := range []int{4, 30, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := append([]byte(strings.Repeat("x", n)), "\"                              "...)
			dst := make([]byte, len(src))
			b.SetBytes(int64(n))
			for b.Loop() {
				plainRun(dst, src)
			}
		})
	}
}

func BenchmarkValid(b *testing.B) {
	for _, s := range []string{"mostly English text, with “quotes” in it now and then, and no more. ", "Русский текст, ", "中文文本"} {
		b.Run(s[:6], func(b *testing.B) {
			p := []byte(strings.Repeat(s, 1000))
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				valid(p)
			}
		})
	}
}
