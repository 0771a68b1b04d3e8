package csv

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/input"
	engine "github.com/weir-data/weir/internal/format/records"
)

const (
	unseen = -2
	hollow = -1 // an object without header and rows
)

// planning is what is known of the files so far.
type planning struct {
	dialect
	src  format.Source
	opt  format.Options
	none *nulls

	names   []string // of the first object's fields
	picked  []column // of the dataset
	columns []sampled
	largest int
	object  []int          // the place of an object's order in maps, or unseen, or hollow
	orders  map[string]int // by header
	maps    [][]int        // for each order, the name that each field has
}

// column is one of the dataset.
type column struct {
	name  int // its place in names
	field arrow.Field
	given bool // its type is not inferred
}

// visit takes a piece of the sample.
func (p *planning) visit(object int, data []byte, final bool) (int, error) {
	first := p.object[object] == unseen
	if first && front(data, true) == len(data) {
		if final {
			p.object[object] = hollow
		}
		return 0, nil
	}
	if first && !final && p.delim == 0 && len(data) < guessBytes {
		return 0, nil
	}
	p.guess(object, data, final)
	c := cutter{dialect: p.dialect, header: !p.opt.NoHeader, begun: !first}
	_, to, _ := c.Cut(data, final)
	if to == 0 {
		return 0, nil
	}
	at := 0
	if first {
		var err error
		if at, err = p.begin(object, data[:to]); err != nil {
			return 0, err
		}
	}
	if k := p.object[object]; k >= 0 {
		p.largest = max(p.largest, p.look(data[at:to], p.maps[k], p.columns, p.none))
	}
	return to, nil
}

// guess finds the delimiter if it is not known.
func (p *planning) guess(object int, data []byte, final bool) {
	if p.delim != 0 {
		return
	}
	d := named(p.src.Objects[object].URL)
	if d == 0 {
		d = guess(data[front(data, true):], final)
	}
	p.dialect = newDialect(d)
}

// begin takes an object's header, in data of whole records, and says where its
// rows begin.
func (p *planning) begin(object int, data []byte) (at int, err error) {
	names, at, err := p.header(data)
	if err != nil {
		return 0, format.Error(format.ErrData, "%w", err)
	}
	if names == nil {
		p.object[object] = hollow
		return len(data), nil
	}
	if fields := len(names); p.opt.NoHeader {
		at = front(data, false)
		if names = p.names; names == nil {
			names = numbered(fields)
		}
	}
	if p.names == nil {
		if err := p.pick(names); err != nil {
			return 0, err
		}
	}
	key := fmt.Sprintf("%q", names)
	k, known := p.orders[key]
	if !known {
		o, err := order(p.names, names)
		if err != nil {
			return 0, format.Error(format.ErrData, "%w", err)
		}
		k = len(p.maps)
		p.maps = append(p.maps, o)
		p.orders[key] = k
	}
	p.object[object] = k
	return at, nil
}

// readHeader is begin for an object that the sample has nothing of.
func (p *planning) readHeader(ctx context.Context, object int) error {
	if p.opt.NoHeader && p.names != nil {
		p.object[object] = 0
		return nil
	}
	for n := 64 << 10; ; n *= 4 {
		head, _, err := input.Head(ctx, p.src.Store, p.src.Objects[object], n)
		if err != nil {
			return err
		}
		final := len(head) < n
		if front(head, true) == len(head) && final {
			p.object[object] = hollow
			return nil
		}
		p.guess(object, head, final)
		_, to, _ := (&cutter{dialect: p.dialect, header: !p.opt.NoHeader}).Cut(head, final)
		if to > 0 || final {
			_, err := p.begin(object, head[:to])
			return err
		}
		if n > headerMost {
			return format.Error(format.ErrData, "the first line does not end within %d bytes", n)
		}
	}
}

// headerMost is the longest header that is looked for.
const headerMost = 16 << 20

// dataset is what the planning comes to.
func (p *planning) dataset(v engine.Survey) (format.Dataset, error) {
	fields := make([]arrow.Field, len(p.picked))
	var built float64
	for i, c := range p.picked {
		s := p.columns[c.name]
		if !c.given {
			c.field.Type = s.kind.arrowType()
		}
		fields[i] = c.field
		p.picked[i] = c
		if w, ok := c.field.Type.(arrow.FixedWidthDataType); ok {
			built += float64(s.fields) * (float64(w.BitWidth())/8 + 0.125)
		} else {
			built += float64(s.text + 4*s.fields)
		}
	}
	l := engine.Layout{
		Name: "csv", Source: p.src, Options: p.opt, Schema: arrow.NewSchema(fields, nil),
		Largest: int64(p.largest), Remote: v.Remote, Window: v.Window,
		Cutter: func(int) engine.Cutter { return &cutter{dialect: p.dialect, header: !p.opt.NoHeader} },
		Parser: p.parser,
	}
	if v.Bytes > 0 {
		l.Ratio = math.Max(built/float64(v.Bytes), 1e-3)
	}
	inMemory := v.InMemory(int64(built))
	l.About = format.Info{
		Objects: len(p.src.Objects), Rows: -1, Groups: int64(len(p.src.Objects)),
		Bytes: v.Total, InMemory: inMemory, LargestIn: inMemory,
	}
	return engine.New(l)
}

// parser makes a parser for a batch of the picked columns.
func (p *planning) parser(b *build.Batch) (engine.Parser, error) {
	out := &parser{dialect: p.dialect, none: p.none, header: !p.opt.NoHeader, b: b, object: p.object}
	column := make([]int, len(p.names)) // of the batch, from 1 on
	for k, c := range p.picked {
		column[c.name] = k + 1
	}
	for _, names := range p.maps {
		steps := make([]step, len(names))
		for i, name := range names {
			steps[i] = step{stop: p.delim, last: i == len(names)-1}
			if steps[i].last {
				steps[i].stop = '\n'
			}
			if k := column[name] - 1; k >= 0 {
				if err := steps[i].read(b.Column(k), p.picked[k], p.none.number || !p.besides); err != nil {
					return nil, err
				}
			}
		}
		out.orders = append(out.orders, steps)
	}
	return out, nil
}

// read makes s append to a column. With ends, a number is only one when its end
// was found.
func (s *step) read(to *build.Column, c column, ends bool) error {
	put, err := puts(c.field.Type)
	if err != nil {
		return fmt.Errorf("column %q: %w", c.field.Name, err)
	}
	s.put, s.column, s.how, s.given = put, to, others, c.given
	switch c.field.Type.ID() {
	case arrow.STRING:
		s.how = texts
	case arrow.FLOAT64:
		if !ends {
			s.how = float64s
		}
	case arrow.INT64:
		if !c.given {
			s.put = putNatural
		}
		if !ends {
			s.how = int64s
		}
	}
	return nil
}
