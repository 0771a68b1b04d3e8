// Package records reads files that are records one after another: lines of
// text, rows of CSV, values of a JSON array, messages behind their lengths.
//
// One goroutine reads, decompresses and cuts the bytes into pieces of whole
// records; the pieces are parsed side by side; batches come in order. A record
// that is larger than a piece gets a piece of its own, as large as the memory
// allows. All memory is planned: so many pieces and so many batches, of sizes
// that fit the share.
package records

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Layout says how the files of a format are read. Its fields are not changed
// once Open was called.
type Layout struct {
	Name    string // of the format; it begins every error
	Source  format.Source
	Options format.Options
	Schema  *arrow.Schema // of the batches
	About   format.Info

	// Largest is the bytes of the largest record that is known of, 0 if none
	// is; Ratio is bytes in memory to bytes of records, 0 if not known.
	Largest int64
	Ratio   float64
	// Window is what decompressing takes, as far as is known.
	Window int64
	Whole  bool // an object is one record, also one without bytes
	Remote bool // some object lies in a remote store
	// As is how an object is compressed; nil: its bytes tell.
	As func(object int) codec.File
	// Tap, if not nil, makes what sees an object's stored bytes, and what is
	// asked at the object's end, before its last records are given. An object
	// that is resumed in its middle has none.
	Tap func(object int) (tap func([]byte), end func() error)

	// Cutter makes the cutter of one object.
	Cutter func(object int) Cutter
	// Parser makes a parser that adds to b.
	Parser func(b *build.Batch) (Parser, error)
}

// Cutter finds the borders of records in one object. It is asked by one
// goroutine, in the order of the bytes.
type Cutter interface {
	// Resume says that the first bytes to come are not the object's but those
	// behind some record, as a cursor has it.
	Resume()
	// Cut finds whole records at the front of data, which begins where the
	// last cut ended: they are data[from:to], and what lies before from is
	// passed over. With to = 0 more data is needed; it comes again from the
	// same place. final says that the object ends with data: then to is
	// len(data). An error is a *Bad, its place in data.
	Cut(data []byte, final bool) (from, to int, err error)
}

// Sizer is a Cutter that knows more than that it needs more.
type Sizer interface {
	// Need is how many bytes of data, from the same place on, the Cut that has
	// just returned 0 would have liked; 0: that is not known.
	Need() int64
}

// Piece is some whole records, one after another.
type Piece struct {
	Object int
	Offset int64  // of Data in the object's decompressed bytes
	Data   []byte // at least Slack bytes behind it may be read
	At     int    // Data[:At] was parsed
	Lines  int64  // lines that end in Data[:At]
	First  bool   // Data begins where the object's records begin
	Last   bool   // the object has no more records
}

// Slack is how many bytes behind a piece's data may be read.
const Slack = 64

// Parser adds records to a batch. It belongs to one thread.
type Parser interface {
	// Parse adds records from p.Data[p.At:] to the batch until there are no
	// more or the batch is full, and moves p.At and p.Lines behind the last
	// that was added. A record that cannot be read is a *Bad; the batch then
	// has all records before it, p.At stands before it.
	Parse(p *Piece) error
}

// Bad is a record that cannot be read.
type Bad struct {
	At   int   // where in the piece
	Line int64 // lines of the piece before that place; less than 0: there are no lines
	Next int   // where the next record begins; 0: that is not known
	// NextLines is lines of the piece before Next.
	NextLines int64
	Err       error
}

func (b *Bad) Error() string { return b.Err.Error() }
func (b *Bad) Unwrap() error { return b.Err }

// New is the dataset that a layout describes. It fails when the schema has a
// type that cannot be built.
func New(l Layout) (format.Dataset, error) {
	b, err := build.New(l.Schema)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "%s: %w", l.Name, err)
	}
	return &dataset{Layout: l, least: b.Least()}, nil
}

type dataset struct {
	Layout
	least int // bytes of the smallest batch
}

func (d *dataset) Schema() *arrow.Schema { return d.Layout.Schema }
func (d *dataset) Info() format.Info     { return d.About }
func (d *dataset) Floor() int64          { return d.need(d.plan(1, pieceLeast)) }

func (d *dataset) Open(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error) {
	sizes, ok := d.fit(share.Limit())
	if !ok {
		return nil, &mem.TooSmallError{Share: d.Name, Need: d.Floor(), Limit: share.Limit()}
	}
	if waits == nil {
		waits = new(stream.Waits)
	}
	s := &reading{dataset: d, cursor: from, known: from.Offset == 0}
	f := &feeder{dataset: d, sizes: sizes, share: share, object: from.Object, from: from.Offset, waits: waits, limit: share.Limit()}
	spare := share
	if sizes.threads > 1 {
		var err error
		if s.spare, err = share.Carve("long pieces", sizes.spare()); err != nil {
			return nil, err
		}
		spare = s.spare
		f.limit -= spare.Limit()
	}
	state, err := d.workers(sizes.threads)
	if err == nil {
		f.frames, err = d.frames(ctx, share, sizes)
	}
	if err != nil {
		s.spare.Close()
		return nil, err
	}
	if f.frames != nil {
		f.limit -= f.frames.Limit()
	}
	s.feeder = f
	f.spare = spare
	s.results = stream.NewOrdered(sizes.threads, sizes.ahead(), f.next, state, (*result).drop, waits)
	return s, nil
}

// framesMost is the memory that decompressing frames side by side may have, of
// what nothing else needs.
const framesMost = 96 << 20

// frames is the share for decompressing frames side by side; nil: the objects
// have none, or there is no memory to spare.
func (d *dataset) frames(ctx context.Context, share *mem.Budget, s sizes) (*mem.Budget, error) {
	free := min(share.Limit()-d.need(s), framesMost)
	if s.threads < 2 || d.Window == 0 || d.As != nil || free < framesMost/8 {
		return nil, nil
	}
	many, err := input.Many(ctx, d.Source.Store, d.Source.Objects[0], free, s.threads)
	if err != nil || !many {
		return nil, err
	}
	return share.Carve("frames", free)
}

// worker is one thread's batch and parser.
type worker struct {
	batch  *build.Batch
	parser Parser
}

// workers makes all states beforehand, so that nothing can fail later.
func (d *dataset) workers(n int) (func() *worker, error) {
	made := make(chan *worker, n)
	for range n {
		b, err := build.New(d.Layout.Schema)
		if err != nil {
			return nil, err
		}
		p, err := d.Parser(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		made <- &worker{b, p}
	}
	return func() *worker { return <-made }, nil
}
