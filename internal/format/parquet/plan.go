package parquet

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// needs is the memory that reading a dataset takes at least.
type needs struct {
	meta  int64 // reading the largest footer, and the readers of all columns
	pages int64 // one row group's columns
	slab  int64 // a batch of few rows
	giant int64 // a row that does not fit its part of a slab

	each map[string]int64 // pages, by leaf
}

// planMemory is what reading footers may take. They pass through a window;
// only wide schemas come near it.
const planMemory = 1 << 40

// Plan reads every footer, and the first page headers of the row group that
// seems to need the most memory.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	d := &dataset{src: src, opt: opt}
	budget := mem.New(planMemory)
	var waits stream.Waits
	var most int64
	var mostFile, mostGroup int
	for i := range src.Objects {
		f, err := d.open(ctx, i, budget, &waits)
		if err != nil {
			return nil, err
		}
		d.describe(f)
		g, n, err := d.survey(ctx, f)
		f.close()
		if err != nil {
			return nil, err
		}
		if n > most {
			most, mostFile, mostGroup = n, i, g
		}
	}
	d.needs.meta = budget.Peak()
	if most > 0 {
		if err := d.measure(ctx, mostFile, mostGroup, budget, &waits); err != nil {
			return nil, err
		}
		d.needs.pages = d.margin(most)
		// A row that is much larger than the mean one finds room at least if
		// it is no larger than a slab.
		d.needs.giant = max(d.needs.giant, int64(mem.BlockSize(int(d.needs.slab))))
	}
	return d, nil
}

// describe makes the schema: that of the first file, and a column may be null
// if it may be in any file.
func (d *dataset) describe(f *file) {
	fields := make([]arrow.Field, len(f.columns))
	for i, c := range f.columns {
		fields[i] = c.Field
		fields[i].Nullable = c.Field.Nullable || (d.schema != nil && d.schema.Field(i).Nullable)
	}
	d.schema = arrow.NewSchema(fields, nil)
}

// margin is the memory for pages if some row groups need a little more than
// the one that was measured; none needs more than most.
func (d *dataset) margin(most int64) int64 {
	n := d.needs.pages
	if d.info.Groups == 1 && !d.remote {
		return n
	}
	if d.remote {
		n += n / 16
	}
	return min(n+n/64+min(64, d.leaves)*4096, max(n, most))
}

// survey adds up what the footer says of the chosen columns, and returns the
// row group that may need the most memory.
func (d *dataset) survey(ctx context.Context, f *file) (group int, most int64, err error) {
	var chunks []meta.Chunk
	d.info.Objects++
	d.leaves = int64(len(f.leaves))
	d.remote = d.remote || f.r.Remote()
	d.info.Rows += f.meta.Rows
	d.info.Groups += int64(f.meta.Groups())
	for g := range f.meta.Groups() {
		if chunks, err = f.meta.Chunks(ctx, g, f.ordinals, chunks); err != nil {
			return 0, 0, err
		}
		first, rows := f.meta.Group(g)
		if d.opt.Index && rows > 0 {
			d.index = append(d.index, format.Group{Object: d.info.Objects - 1, Row: first, Rows: rows})
		}
		var need, inMemory, giant int64
		for i := range chunks {
			c := &chunks[i]
			need += loose(f.leaves[i], c)
			size := arrowSize(f.leaves[i], c)
			inMemory += size
			l := f.leaves[i]
			if l.MaxRep > 0 && l.shape != byteShape && l.every == 0 {
				d.lists += size
			}
			if err := l.checkCount(c.Values, rows); err != nil {
				return 0, 0, fmt.Errorf("parquet: %s: row group %d, column %q: %w", f.name, g, l.Path, err)
			}
			d.info.Bytes += c.Compressed
			if c.Values > 0 && size/c.Values > slabFloor/8 {
				// Others may be twice as large as the mean one.
				giant += int64(mem.BlockSize(int(min(size, 2*size/c.Values)*65/64) + 4096))
			}
		}
		d.needs.giant = max(d.needs.giant, giant)
		d.info.InMemory += inMemory
		d.info.LargestIn = max(d.info.LargestIn, inMemory)
		if rows > 0 && need > most {
			group, most = g, need
		}
	}
	return group, most, nil
}

// arrowSize estimates a chunk's bytes as Arrow.
func arrowSize(l *leafPlan, c *meta.Chunk) int64 {
	switch l.shape {
	case bitShape:
		return c.Values / 8
	case fixedShape:
		return c.Values * int64(l.width)
	}
	return max(c.Uncompressed, 4*c.Values)
}

// measure finds what the row group needs, from its page headers.
func (d *dataset) measure(ctx context.Context, i, g int, budget *mem.Budget, waits *stream.Waits) error {
	f, err := d.open(ctx, i, budget, waits)
	if err != nil {
		return err
	}
	defer f.close()
	chunks, err := f.meta.Chunks(ctx, g, f.ordinals, nil)
	if err != nil {
		return err
	}
	w := newWorker()
	d.needs.each = make(map[string]int64, len(chunks))
	pages := probePages
	if d.remote {
		pages = 2 // each costs a request
	}
	var giant int64
	var one, some int64 // bytes of a row, and of as many as a batch should hold
	for j := range chunks {
		c := &chunks[j]
		if c.Values == 0 {
			continue
		}
		need, err := tight(ctx, f.leaves[j], c, f.src, w, pages)
		if err != nil {
			return fmt.Errorf("parquet: %s: row group %d, column %q: %w", f.name, g, f.leaves[j].Path, err)
		}
		n := min(need.pages, loose(f.leaves[j], c))
		d.needs.pages += n
		giant += need.giant
		d.needs.each[f.leaves[j].Path] = n
		per := float64(c.Values) / float64(max(1, groupRows(f, g)))
		if n := f.leaves[j].every; n > 0 {
			per = float64(n)
		}
		one += regionsFor(f.leaves[j], c, 1.25*per)
		some += regionsFor(f.leaves[j], c, minRows*per)
	}
	d.needs.slab = max(one, min(some, slabEnough), slabFloor)
	d.needs.giant = max(d.needs.giant, giant)
	return nil
}

// regionsFor is the bytes of a region for that many entries of a chunk.
func regionsFor(l *leafPlan, c *meta.Chunk, entries float64) int64 {
	e := min(int(entries), int(c.Values)) + 16
	if l.every > 0 {
		e = (e - 16 + l.every - 1) / l.every * l.every // whole rows, at least one
	}
	data := 0
	if l.shape == byteShape {
		data = min(int(float64(e)*float64(c.Uncompressed)/float64(c.Values)), slabFloor)
	}
	return int64(regionSize(l, e, data))
}

func groupRows(f *file, g int) int64 {
	_, rows := f.meta.Group(g)
	return rows
}

const (
	// slabFloor is the smallest slab: below it, batches are so small that
	// starting one costs more than decoding it.
	slabFloor = 384 << 10
	// minRows is the least number of rows a batch should hold,
	minRows = 256
	// slabEnough is a slab that may hold less than that.
	slabEnough = 16 << 20
)

// slabCount is how many batches exist at once: one with the consumer, one
// between, one being decoded or carried over.
const slabCount = 3

// Floor is what the needs add up to.
func (d *dataset) Floor() int64 {
	n := d.needs
	return n.meta + n.pages + n.giant + slabCount*int64(mem.BlockSize(int(n.slab)))
}
