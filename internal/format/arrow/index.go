package arrow

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// entry is a record batch. An index has one more that ends it.
type entry struct {
	at     int64 // in the file
	before int64 // rows before it
}

// dictEntry is a dictionary that is needed from a record batch on.
type dictEntry struct {
	at    int64
	batch int
}

// entrySize is what either takes.
const entrySize = 16

// index is where a file's data is, and which columns of it are wanted.
type index struct {
	schema  *schema
	columns []int // as wanted
	batches []entry
	dicts   []dictEntry
}

// fieldHeap is what a field takes as it is described, and as it is read.
const fieldHeap = 2 << 10

// heap is what the index takes.
func (x *index) heap() int64 {
	return entrySize*int64(cap(x.batches)+cap(x.dicts)) + fieldHeap*int64(x.schema.count)
}

// count is the number of record batches.
func (x *index) count() int { return len(x.batches) - 1 }

// rows is the number of rows of the i-th record batch.
func (x *index) rows(i int) int64 { return x.batches[i+1].before - x.batches[i].before }

// indexer makes the index of a file while its messages are visited.
type indexer struct {
	index
	used  map[int64]bool // dictionaries that the wanted columns need
	total int64          // rows
}

func newIndexer(s *schema, columns []int) *indexer {
	x := &indexer{index: index{schema: s, columns: columns}, used: map[int64]bool{}}
	for _, c := range columns {
		s.fields[c].uses(x.used)
	}
	return x
}

// add takes a message in. Dictionaries that nobody needs are left out.
func (x *indexer) add(at int64, m *message) error {
	if m.kind == dictMessage {
		if x.used[m.head.int64(0)] {
			x.dicts = append(x.dicts, dictEntry{at, len(x.batches)})
		}
		return nil
	}
	rows := m.head.int64(0)
	if rows < 0 || rows > rowsMost || x.total > rowsMost {
		return damaged("record batch %d has %d rows", len(x.batches), rows)
	}
	x.batches = append(x.batches, entry{at, x.total})
	x.total += rows
	return nil
}

// end is the index of all that was added.
func (x *indexer) end() *index {
	x.batches = append(x.batches, entry{before: x.total})
	return &x.index
}

// choose finds the wanted columns: by the options in the first file, by the
// names and types of the schema in the others.
func (d *dataset) choose(s *schema) ([]int, error) {
	if d.schema == nil {
		names := make([]string, len(s.fields))
		for i, f := range s.fields {
			names[i] = f.Name
		}
		return format.Match(names, d.opt.Columns)
	}
	byName := make(map[string][]int, len(s.fields))
	for i, f := range s.fields {
		byName[f.Name] = append(byName[f.Name], i)
	}
	out := make([]int, 0, d.schema.NumFields())
	for _, f := range d.schema.Fields() {
		list := byName[f.Name]
		if len(list) == 0 {
			return nil, damaged("no column %q, which the first file has", f.Name)
		}
		byName[f.Name] = list[1:]
		if got := s.fields[list[0]].Type; !arrow.TypeEqual(got, f.Type) {
			return nil, damaged("column %q is %s, in the first file it is %s", f.Name, got, f.Type)
		}
		out = append(out, list[0])
	}
	return out, nil
}

// index is that of object i, which f is.
func (d *dataset) index(ctx context.Context, i int, f *file) (*index, error) {
	if x := d.kept[i]; x != nil {
		return x, nil
	}
	columns, err := d.choose(f.schema)
	if err != nil {
		return nil, err
	}
	x := newIndexer(f.schema, columns)
	x.batches = make([]entry, 0, d.needs.batches)
	if err := f.walk(ctx, x.add); err != nil {
		return nil, err
	}
	return x.end(), nil
}
