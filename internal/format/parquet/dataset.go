package parquet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Format reads Parquet files.
func Format() format.Format {
	return format.Format{
		Name: "parquet",
		Sniff: func(c format.Clue) bool {
			return strings.HasPrefix(string(c.Head), "PAR1") || strings.HasPrefix(string(c.Head), "PARE")
		},
		Plan: Plan,
	}
}

// dataset is a list of files with one schema.
type dataset struct {
	src    format.Source
	opt    format.Options
	schema *arrow.Schema
	info   format.Info
	needs  needs
	leaves int64 // chosen leaf columns of a file
	lists  int64 // the part of info.InMemory that is lists of numbers
	remote bool  // a read costs a round trip
	index  []format.Group
}

// file is an open file with the chosen columns found in it.
type file struct {
	name     string
	r        store.Reader
	src      direct
	meta     *meta.File
	columns  []*meta.Node // as wanted
	first    []int        // index in leaves of each column's first leaf
	leaves   []*leafPlan  // in the file's order
	ordinals []int        // of the leaves
	lease    *mem.Lease
}

func (f *file) close() {
	if f == nil {
		return
	}
	f.meta.Close()
	f.lease.Release()
	f.r.Close()
}

// open reads the footer of object i and finds the columns of want in it; nil
// stands for the choice of the options.
func (d *dataset) open(ctx context.Context, i int, share *mem.Budget, waits *stream.Waits) (*file, error) {
	o := d.src.Objects[i]
	r, err := d.src.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	m, err := meta.Read(ctx, r, o.URL, share)
	if err != nil {
		r.Close()
		return nil, err
	}
	// The first bytes are not read again; saying so tells a store that drops
	// what was read to read nothing ahead by itself.
	r.Drop(0, 4)
	f := &file{name: o.URL, r: r, meta: m, src: direct{r: r, waits: waits}}
	if err := d.choose(f); err != nil {
		f.close()
		return nil, fmt.Errorf("parquet: %s: %w", o.URL, err)
	}
	lease, ok := share.TryAcquire(leafHeap * int64(len(f.leaves)))
	if !ok {
		f.close()
		return nil, &mem.TooSmallError{Share: fmt.Sprintf("reading %d columns", len(f.leaves)),
			Need: share.Limit() + leafHeap*int64(len(f.leaves)), Limit: share.Limit()}
	}
	f.lease = lease
	return f, nil
}

// choose finds the wanted columns in f: by the options in the first file, by
// the names and types of the schema in the others.
func (d *dataset) choose(f *file) error {
	var err error
	if d.schema == nil {
		f.columns, err = match(f.meta.Schema.Columns, d.opt.Columns)
	} else {
		f.columns, err = same(f.meta.Schema.Columns, d.schema)
	}
	if err != nil {
		return err
	}
	ordered := slices.Clone(f.columns)
	slices.SortFunc(ordered, func(a, b *meta.Node) int { return firstLeaf(a).Ordinal - firstLeaf(b).Ordinal })
	if f.leaves, err = planLeaves(ordered); err != nil {
		return err
	}
	at := make(map[int]int, len(f.leaves))
	for i, l := range f.leaves {
		f.ordinals = append(f.ordinals, l.Ordinal)
		at[l.Ordinal] = i
	}
	for _, c := range f.columns {
		f.first = append(f.first, at[firstLeaf(c).Ordinal])
	}
	return nil
}

// firstLeaf is the leaf that describes n.
func firstLeaf(n *meta.Node) *meta.Leaf {
	for n.Kind != meta.LeafKind {
		if len(n.Children) == 0 {
			return &meta.Leaf{}
		}
		n = n.Children[0]
	}
	return n.Leaf
}

// match picks columns by name or glob, in the order of the patterns.
func match(all []*meta.Node, patterns []string) ([]*meta.Node, error) {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.Name
	}
	places, err := format.Match(names, patterns)
	out := make([]*meta.Node, len(places))
	for i, p := range places {
		out[i] = all[p]
	}
	return out, err
}

// same finds the columns of schema by name; where several have one name, in
// their order.
func same(all []*meta.Node, schema *arrow.Schema) ([]*meta.Node, error) {
	byName := make(map[string][]*meta.Node, len(all))
	for _, n := range all {
		byName[n.Name] = append(byName[n.Name], n)
	}
	out := make([]*meta.Node, 0, schema.NumFields())
	for _, f := range schema.Fields() {
		list := byName[f.Name]
		if len(list) == 0 {
			return nil, damaged("no column %q, which the first file has", f.Name)
		}
		n := list[0]
		byName[f.Name] = list[1:]
		if !arrow.TypeEqual(n.Field.Type, f.Type) && !n.Become(f.Type) {
			return nil, damaged("column %q is %s, in the first file it is %s", f.Name, n.Field.Type, f.Type)
		}
		out = append(out, n)
	}
	return out, nil
}

func (d *dataset) Schema() *arrow.Schema { return d.schema }
func (d *dataset) Info() format.Info     { return d.info }
func (d *dataset) Index() []format.Group { return d.index }
