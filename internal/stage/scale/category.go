package scale

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// compareFor is the order of a column's categories: numbers by value, text by
// bytes.
func compareFor(t arrow.DataType) func(a, b string) int {
	switch id := t.ID(); {
	case arrow.IsInteger(id):
		return compareInts
	case arrow.IsFloating(id):
		return func(a, b string) int {
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		}
	}
	return strings.Compare
}

// compareInts compares numbers written without leading zeros, of any size.
func compareInts(a, b string) int {
	na, nb := strings.HasPrefix(a, "-"), strings.HasPrefix(b, "-")
	switch {
	case na != nb && na:
		return -1
	case na != nb:
		return 1
	}
	c := cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	if na {
		return -c
	}
	return c
}

// commonNumber is the value with the highest count, the least of several; 0:
// there are none.
func (t *table) commonNumber() float64 {
	best, most := 0.0, uint64(0)
	t.each(func(key []byte, n uint64) {
		v := math.Float64frombits(binary.LittleEndian.Uint64(key))
		if n > most || n == most && v < best {
			best, most = v, n
		}
	})
	return best
}

// commonText is the same for categories.
func (t *table) commonText(compare func(a, b string) int) string {
	best, most := "", uint64(0)
	t.each(func(key []byte, n uint64) {
		if n > most || n == most && compare(string(key), best) < 0 {
			best, most = string(key), n
		}
	})
	return best
}

// deriveTexts makes the parameters of a column that is seen as categories.
func (f *Fit) deriveTexts(c *column, p *Column, prior *Column) error {
	w := c.work
	compare := compareFor(w.field.Type)
	full, old := false, map[string]bool{}
	add := func(value string, n int64) { full = full || !c.table.add([]byte(value), uint64(n)) }
	if prior != nil {
		prior.counts(func(value string, n int64) {
			add(value, n)
			old[value] = true
		})
	}
	switch w.impute {
	case mostFrequent:
		fill := c.table.commonText(compare)
		p.FillText = &fill
	case constant:
		p.FillText = &w.text
	}
	if p.FillText != nil && !utf8.ValidString(*p.FillText) {
		return format.Error(format.ErrData, "%q is not UTF-8", *p.FillText)
	}
	if w.encode != onehot && w.encode != ordinal {
		return nil
	}
	if n := p.Nulls + p.NaNs; p.FillText != nil && n > 0 {
		add(*p.FillText, n)
	}
	if full && (f.d.lump || c.table.n <= f.d.most) {
		return format.Error(mem.ErrTooSmall, "more than %d categories with those of before, which is all that the memory holds; use hash:N, or raise --memory", c.table.n)
	}
	if c.table.n > f.d.most && !f.d.lump {
		return format.Error(format.ErrData, "%d categories, at most %d are allowed; raise the bound, let the rest be other, or use hash:N", c.table.n, f.d.most)
	}
	return f.choose(c, p, prior, old, compare)
}

// choose makes the list of categories: those of prior in their places, then
// the others in order; the rarest are left to Other.
func (f *Fit) choose(c *column, p *Column, prior *Column, old map[string]bool, compare func(a, b string) int) error {
	common := func(a, b Category) int { return cmp.Or(cmp.Compare(b.Count, a.Count), compare(a.Value, b.Value)) }
	var list []Category
	room := max(0, f.d.most-len(old))
	c.table.each(func(key []byte, n uint64) {
		if old[string(key)] {
			return
		}
		list = append(list, Category{string(key), int64(n)})
		if len(list) >= 2*room+64 { // never more than twice what is kept
			slices.SortFunc(list, common)
			p.Other += total(list[room:])
			list = list[:room]
		}
	})
	if len(list) > room {
		slices.SortFunc(list, common)
		p.Other += total(list[room:])
		list = list[:room]
	}
	slices.SortFunc(list, func(a, b Category) int { return compare(a.Value, b.Value) })
	if prior != nil {
		var first []Category
		for _, k := range prior.Categories {
			n, _ := c.table.get([]byte(k.Value))
			first = append(first, Category{k.Value, int64(n)})
		}
		list = append(first, list...)
	}
	p.Categories = list
	for _, k := range list {
		if !utf8.ValidString(k.Value) {
			return format.Error(format.ErrData, "category %q is not UTF-8; use hash:N", k.Value)
		}
	}
	return nil
}

func total(list []Category) (n int64) {
	for _, k := range list {
		n += k.Count
	}
	return n
}
