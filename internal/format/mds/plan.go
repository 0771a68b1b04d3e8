package mds

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/store"
)

// Plan reads the indexes. Cursors count shards, in the order of the indexes,
// as objects.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	c := newCatalog(src.Objects)
	remote, err := c.read(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("mds: %w", err)
	}
	p, err := c.pick(opt.Columns)
	if err != nil {
		return nil, fmt.Errorf("mds: %w", err)
	}
	l := records.Layout{
		Name: "mds", Source: format.Source{Store: src.Store}, Options: opt,
		Schema: p.schema, Remote: remote,
		As:  func(object int) codec.File { return c.shards[object].kind },
		Tap: func(object int) (func([]byte), func() error) { return c.tap(c.shards[object]) },
		Cutter: func(object int) records.Cutter {
			s := c.shards[object]
			return &cutter{frame: p.frame, samples: int64(s.samples), bytes: s.bytes}
		},
		Parser: func(b *build.Batch) (records.Parser, error) { return p.parser(b), nil },
	}
	l.Source.Objects = make([]store.Object, len(c.shards))
	for i, s := range c.shards {
		l.Source.Objects[i] = c.objects[s.object]
	}
	c.describe(&l, p)
	if l.Window, err = c.window(ctx, src.Store); err != nil {
		return nil, fmt.Errorf("mds: %w", err)
	}
	return records.New(l)
}

// read reads all indexes; their shards come in the order of the indexes' URLs.
func (c *catalog) read(ctx context.Context, src format.Source) (remote bool, err error) {
	indexes, err := c.indexes()
	if err != nil {
		return false, err
	}
	type span struct {
		url      string
		from, to int
	}
	var spans []span
	for _, i := range indexes {
		o := c.objects[i]
		dir, _ := path.Split(o.URL)
		a := adder{catalog: c, dir: dir}
		from := len(c.shards)
		far, err := readIndex(ctx, src.Store, o, a.add)
		if err != nil {
			return false, fmt.Errorf("%s: %w", o.URL, err)
		}
		remote = remote || far
		spans = append(spans, span{o.URL, from, len(c.shards)})
	}
	if c.columns == nil {
		return false, format.Error(format.ErrData, "%s: it lists no shards", c.objects[indexes[0]].URL)
	}
	slices.SortFunc(spans, func(a, b span) int { return strings.Compare(a.url, b.url) })
	if len(spans) > 1 {
		ordered := make([]shard, 0, len(c.shards))
		for _, s := range spans {
			ordered = append(ordered, c.shards[s.from:s.to]...)
		}
		c.shards = ordered
	}
	return remote, nil
}

// picked is the columns to read.
type picked struct {
	frame
	schema    *arrow.Schema
	columns   []column
	encodings []encoding
	to        []int // the place in the schema; less than 0: passed over
}

func (c *catalog) pick(patterns []string) (*picked, error) {
	names := make([]string, len(c.columns))
	for i, col := range c.columns {
		names[i] = col.name
	}
	chosen, err := format.Match(names, patterns)
	if err != nil {
		return nil, err
	}
	p := &picked{frame: frameOf(c.columns), columns: c.columns,
		encodings: make([]encoding, len(names)), to: make([]int, len(names))}
	for i := range p.to {
		p.to[i] = -1
	}
	var fields []arrow.Field
	for _, i := range chosen {
		col := c.columns[i]
		if p.encodings[i], err = parseEncoding(col.encoding); err != nil {
			return nil, fmt.Errorf("column %q: %w", col.name, err)
		}
		p.to[i] = len(fields)
		fields = append(fields, col.field(p.encodings[i]))
	}
	p.schema = arrow.NewSchema(fields, nil)
	return p, nil
}

func (p *picked) parser(b *build.Batch) *parser {
	out := &parser{frame: p.frame, b: b}
	for i, c := range p.columns {
		t := target{encoding: p.encodings[i], name: c.name, size: c.size}
		if p.to[i] >= 0 {
			t.col = b.Column(p.to[i])
		}
		t.text = t.col != nil && t.col.Field.Type.ID() == arrow.STRING
		out.cols = append(out.cols, t)
	}
	return out
}

// describe fills in what the indexes tell of sizes.
func (c *catalog) describe(l *records.Layout, p *picked) {
	about := format.Info{Objects: len(c.shards), Groups: int64(len(c.shards))}
	var bytes int64
	largest := c.shards[0]
	for _, s := range c.shards {
		about.Rows += int64(s.samples)
		about.Bytes += c.objects[s.object].Size
		bytes += s.bytes
		if s.bytes > largest.bytes {
			largest = s
		}
		if s.samples > 0 {
			// Some sample is at least as large as all are on average.
			l.Largest = max(l.Largest, s.bytes/int64(s.samples)-4)
		}
	}
	if about.Rows > 0 {
		row := float64(bytes) / float64(about.Rows)
		l.Ratio = p.inMemory(row) / row
	}
	about.InMemory = int64(float64(bytes) * l.Ratio)
	about.LargestIn = int64(float64(largest.bytes) * l.Ratio)
	l.About = about
}

// inMemory estimates the bytes that a row of that many stored bytes becomes:
// columns of a fixed size as they are, of the rest each an equal part.
func (p *picked) inMemory(stored float64) float64 {
	each := max(0, stored-4-float64(p.head+p.fixed)) / max(1, float64(p.head/4))
	row := 0.0
	for i, c := range p.columns {
		if p.to[i] < 0 {
			continue
		}
		row += float64(c.size)
		if c.size == 0 {
			row += each + 4
		}
		if k := p.encodings[i].kind; k != asNumber && k != asBytes && k != asVector {
			row += 32 // offsets, and numbers that are stored in fewer bytes
		}
	}
	return row
}

// window is what decompressing takes.
func (c *catalog) window(ctx context.Context, s store.Store) (int64, error) {
	var most int64
	for _, sh := range c.packed {
		o := c.objects[sh.object]
		in, err := input.Open(ctx, input.Config{Store: s, Object: o, Ahead: input.Least, As: &sh.kind})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", o.URL, err)
		}
		most = max(most, in.Window())
		in.Close()
	}
	return most, nil
}
