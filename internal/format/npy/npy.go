// Package npy reads and writes NumPy arrays: .npy files, and .npz archives of
// them.
//
// The first dimension is the rows. An array of numbers is the column data; with
// more dimensions a row is a fixed-size list, flat, whose shape stands in the
// field's metadata. An array of named fields has a column for each. The arrays
// of an archive are columns by their names, and must have the same number of
// rows: Columns chooses among them where they have not. Bytes (S) lose the
// zeros at their end, as in NumPy; NaT is null; pickled objects, complex
// numbers and Fortran order are refused.
package npy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Format reads arrays.
func Format() format.Format {
	return format.Format{
		Name: "npy",
		Sniff: func(c format.Clue) bool {
			return strings.HasPrefix(string(c.Head), magic) ||
				strings.HasPrefix(string(c.Head), "PK\x03\x04") && strings.HasSuffix(c.Name, ".npz")
		},
		Plan: Plan,
	}
}

// grid is one array in an object, in rows one after another.
type grid struct {
	name  string // in its archive; "" for a file of its own
	start int64  // of the first row, in the object or in the member
	zip   *member
	*shape
}

// object is the arrays that are read side by side.
type object struct {
	rows   int64
	arrays []grid
}

type dataset struct {
	src     format.Source
	opt     format.Options
	schema  *arrow.Schema
	info    format.Info
	objects []object
	width   int64 // bytes of a row as stored
	least   int   // bytes of a batch
	packed  bool  // some array is compressed
}

// Plan reads all headers.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	d := &dataset{src: src, opt: opt, info: format.Info{Objects: len(src.Objects)}}
	for i, o := range src.Objects {
		if err := d.look(ctx, o); err != nil {
			return nil, fmt.Errorf("npy: %s: %w", src.Objects[i].URL, err)
		}
	}
	b, err := build.New(d.schema)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "npy: %w", err)
	}
	d.least = b.Least()
	return d, nil
}

// look adds one object.
func (d *dataset) look(ctx context.Context, o store.Object) error {
	r, err := d.src.Store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	arrays, err := d.arrays(ctx, r)
	if err != nil {
		return err
	}
	if arrays, err = choose(arrays, d.opt.Columns); err != nil {
		return err
	}
	out := object{rows: arrays[0].rows, arrays: arrays}
	var fields []arrow.Field
	var width int64
	for _, a := range arrays {
		if a.rows != out.rows {
			return format.Error(format.ErrData, "array %q has %d rows, %q has %d; --columns chooses arrays of one length",
				arrays[0].name, out.rows, a.name, a.rows)
		}
		for _, f := range a.fields {
			fields = append(fields, f.arrowField())
		}
		width += a.width
		d.info.Bytes += a.rows * a.width
		d.packed = d.packed || a.zip != nil && a.zip.packed
	}
	if fields, err = d.order(fields); err != nil {
		return err
	}
	schema := arrow.NewSchema(fields, nil)
	if d.schema == nil {
		d.schema = schema
	} else if !d.schema.Equal(schema) {
		return format.Error(format.ErrData, "its columns are %s, those of the first file %s", brief(schema), brief(d.schema))
	}
	d.width = max(d.width, width)
	d.info.Rows += out.rows
	d.info.Groups++
	d.info.InMemory = d.info.Bytes
	d.info.LargestIn = max(d.info.LargestIn, out.rows*width)
	d.objects = append(d.objects, out)
	return nil
}

func brief(s *arrow.Schema) string {
	var out []string
	for _, f := range s.Fields() {
		out = append(out, fmt.Sprintf("%s %s", f.Name, f.Type))
	}
	return strings.Join(out, ", ")
}

// choose leaves out arrays of which no column is asked for, so that they need
// not have the others' length.
func choose(all []grid, patterns []string) ([]grid, error) {
	var names []string
	var of []int
	seen := make(map[string]bool)
	for i := range all {
		a := &all[i]
		if a.name != "" && len(a.fields) == 1 && a.fields[0].name == "data" {
			a.fields[0].name = a.name
		}
		for _, f := range a.fields {
			if seen[f.name] {
				return nil, format.Error(format.ErrData, "two arrays or fields are called %q", f.name)
			}
			seen[f.name] = true
			names, of = append(names, f.name), append(of, i)
		}
	}
	if len(names) == 0 {
		return nil, format.Error(format.ErrData, "there is no array in it")
	}
	places, err := format.Match(names, patterns)
	if err != nil {
		return nil, err
	}
	wanted := make(map[int]bool)
	for _, p := range places {
		wanted[of[p]] = true
	}
	var out []grid
	for i, a := range all {
		if wanted[i] {
			out = append(out, a)
		}
	}
	return out, nil
}

// order picks the columns asked for, in that order.
func (d *dataset) order(all []arrow.Field) ([]arrow.Field, error) {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	places, err := format.Match(names, d.opt.Columns)
	if err != nil {
		return nil, err
	}
	var out []arrow.Field
	for _, p := range places {
		out = append(out, all[p])
	}
	return out, nil
}

// arrays finds those of one object.
func (d *dataset) arrays(ctx context.Context, r store.Reader) ([]grid, error) {
	head := make([]byte, min(r.Size(), 64))
	if err := r.ReadAt(ctx, head, 0); err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(head), "PK") {
		return archive(ctx, r)
	}
	a := grid{}
	read := func(p []byte, off int64) error { return r.ReadAt(ctx, p, off) }
	if err := a.open(read, r.Size()); err != nil {
		return nil, err
	}
	return []grid{a}, nil
}

// open reads the header of an array that lies in size bytes.
func (a *grid) open(read func(p []byte, off int64) error, size int64) error {
	front := make([]byte, min(12, size))
	if err := read(front, 0); err != nil {
		return err
	}
	n, err := prelude(front)
	if err != nil {
		return format.Error(format.ErrData, "%w", err)
	}
	if int64(n) > size {
		return format.Error(format.ErrData, "a header of %d bytes in %d", n, size)
	}
	head := make([]byte, n)
	if err := read(head, 0); err != nil {
		return err
	}
	if a.shape, err = parseHeader(head); err != nil {
		return format.Error(format.ErrData, "%w", err)
	}
	a.start = int64(n)
	if a.width > 0 && a.rows > (size-a.start)/a.width || a.rows*a.width != size-a.start {
		return format.Error(format.ErrData, "%d rows of %d bytes in %d bytes: %w", a.rows, a.width, size-a.start, errLength)
	}
	return nil
}

var errLength = errors.New("the file is cut, or has more than its array")

func (d *dataset) Schema() *arrow.Schema { return d.schema }
func (d *dataset) Info() format.Info     { return d.info }

// batchMost is a batch that pays for its reads.
const batchMost = 2 << 20

// cost is the memory of a batch of n rows: what is stored is at most as large
// as the values it becomes, but for bytes and strings, which need as much
// again to be taken out of it, and offsets.
func (d *dataset) cost(n int64) int64 {
	return int64(mem.BlockSize(int(n*(2*d.width+int64(16*d.schema.NumFields()))) + 2*d.least))
}

// packedCost is what decompressing takes.
func (d *dataset) packedCost() int64 {
	if !d.packed {
		return 0
	}
	n := 0
	for _, o := range d.objects {
		n = max(n, len(o.arrays))
	}
	return int64(n) * inflateCost
}

// Floor is two batches of a row: one that is read, one that the consumer has.
func (d *dataset) Floor() int64 { return d.packedCost() + 2*d.cost(1) }

func (d *dataset) Open(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error) {
	if share.Limit() < d.Floor() {
		return nil, &mem.TooSmallError{Share: "npy", Need: d.Floor(), Limit: share.Limit()}
	}
	if waits == nil {
		waits = new(stream.Waits)
	}
	lease, err := share.Acquire(ctx, d.packedCost())
	if err != nil {
		return nil, err
	}
	free := share.Limit() - d.packedCost()
	threads := max(1, d.opt.Threads)
	if d.packed {
		threads = 1 // what is compressed is read from front to back
	}
	threads = int(max(1, min(int64(threads), free/d.cost(1)-2)))
	ahead := 1
	if threads > 1 {
		ahead = threads + 1
	}
	s := &reading{dataset: d, share: share, lease: lease, waits: waits, cursor: from, object: from.Object, row: from.Row}
	s.rows = 1
	for n := int64(2); d.cost(n) <= min(free/int64(ahead+1), batchMost); n += (n + 3) / 4 {
		s.rows = n
	}
	if d.opt.BatchRows > 0 {
		s.rows = min(s.rows, int64(d.opt.BatchRows))
	}
	s.results = stream.NewOrdered(threads, ahead, s.next, s.batch, (*stream.Batch).Release, waits)
	return s, nil
}
