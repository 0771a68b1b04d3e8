package corpus

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/dedup"
)

// mostShown is how much of a row is shown, in runes.
const mostShown = 120

// shown are rows that are to be shown as they pass by.
type shown struct {
	rows    []int64 // their numbers, ascending
	columns []int   // that are shown
	texts   map[int64]string
}

// want notes the rows of examples.
func (s *shown) want(k *dedup.Kept, schema *arrow.Schema, by []string) {
	for _, e := range k.Examples {
		s.rows = append(s.rows, e.Row)
	}
	slices.Sort(s.rows)
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	s.columns, _ = format.Match(names, by) // the first pass found them
	s.texts = make(map[int64]string)
}

// see looks at the rows of rec, the first of which has a number.
func (s *shown) see(rec arrow.RecordBatch, first int64) {
	for len(s.rows) > 0 && s.rows[0] < first+rec.NumRows() {
		row := s.rows[0]
		s.rows = s.rows[1:]
		if row < first {
			continue
		}
		var cells []string
		for _, c := range s.columns {
			cells = append(cells, rec.Column(c).ValueStr(int(row-first)))
		}
		text := strings.Join(strings.Fields(strings.Join(cells, " | ")), " ")
		if r := []rune(text); len(r) > mostShown {
			text = string(r[:mostShown-1]) + "…"
		}
		s.texts[row] = text
	}
}

// all are the examples that were seen.
func (s *shown) all(k *dedup.Kept) (out []Example) {
	if k == nil {
		return nil
	}
	for _, e := range k.Examples {
		if text, ok := s.texts[e.Row]; ok {
			out = append(out, Example{e.Row, e.First, text})
		}
	}
	return out
}
