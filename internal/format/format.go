// Package format is the seam between files and batches. Each format is a
// folder below it, reader and writer together; cmd/weir lists them.
package format

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

var (
	// ErrData is the kind of every error that is the fault of the bytes read:
	// damaged, truncated, encrypted, of another kind than the rest.
	ErrData = errors.New("data error")
	// ErrUsage is the kind of errors that are the fault of the options given.
	ErrUsage = errors.New("usage error")
)

// Error makes an error of a kind, ErrData or ErrUsage, that errors.Is finds
// but the text does not name.
func Error(kind error, format string, args ...any) error {
	return &kindError{kind: kind, err: fmt.Errorf(format, args...)}
}

type kindError struct{ kind, err error }

func (e *kindError) Error() string        { return e.err.Error() }
func (e *kindError) Unwrap() error        { return e.err }
func (e *kindError) Is(target error) bool { return target == e.kind }

// Format reads one kind of file.
type Format struct {
	Name string
	// Sniff says whether a file is of this kind. Formats are asked in the
	// order of their list: those with a magic number stand first, those that
	// go by the name last.
	Sniff func(Clue) bool
	// Inline says that files may be compressed as a whole; Sniff then sees
	// the decompressed head.
	Inline bool
	// Gather, if not nil, picks the objects of this format out of a listing
	// by their names, without the files that describe them where those are
	// not read as data (state.json beside Arrow shards), or with them where
	// they are (index.json beside MDS shards). None: the listing is not of
	// this format.
	Gather func([]store.Object) []store.Object
	// Plan looks at every object's description (not at its data) and says
	// what reading them needs. Objects of different schemas are ErrData.
	Plan func(ctx context.Context, src Source, opt Options) (Dataset, error)
}

// Clue is what a file is recognised by.
type Clue struct {
	Name string // lower case, without the ending of a compression
	Head []byte // up to 4 KiB, decompressed
	Tail []byte // the last 64 bytes; none where the file is compressed
}

// Source is what to read, in order.
type Source struct {
	Store   store.Store
	Objects []store.Object
}

// Options say how to read. The zero value reads everything, one thread, in
// batches as large as suits the budget.
type Options struct {
	Columns   []string // names or globs of top-level columns, in the order wanted; empty: all
	BatchRows int      // most rows in a batch; 0: as suits the budget
	Threads   int      // decoding threads; 0: one
	Index     bool     // keep what Indexer tells

	// Schema is what formats without one of their own give; nil: it is
	// inferred from a sample.
	Schema *arrow.Schema
	// Sample is the bytes of each file, decompressed, that a schema is
	// inferred from; 0: 4 MiB of the first file and 256 KiB of up to 15
	// others; less than 0: all of all.
	Sample int64
	// Room is the bytes of Go heap that looking at a sample may take; 0: 12
	// MiB. A record that is longer than a third of it is not looked at.
	Room int64
	// Bad takes the error of a record that cannot be read, which is then left
	// out; nil: it ends the reading. It is called in the order of the records,
	// by one goroutine at a time.
	Bad func(error)

	Field      string   // JSON: the path, dots between keys, of the array of rows in a document
	Delimiter  byte     // CSV: 0: guessed from the sample
	NoHeader   bool     // CSV: the first row is data; columns are called c0, c1, …
	Nulls      []string // CSV: fields without quotes that are null; nil: the empty one
	WholeFiles bool     // text: a row a file instead of a row a line
}

// Dataset is a planned reading of one or more objects.
type Dataset interface {
	// Schema is that of every batch.
	Schema() *arrow.Schema
	// Info is what the descriptions say.
	Info() Info
	// Floor is the least share, in bytes, that Open will work with.
	Floor() int64
	// Open reads from a cursor on (the zero Cursor is the beginning). Every
	// byte it holds is leased from share, which it may use whole. Waits, if
	// not nil, is counted up. A share below Floor is mem.ErrTooSmall.
	Open(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error)
}

// Divider is a Dataset that several streams may read side by side, each from a
// cursor of its own: to begin in the middle costs at most one group.
type Divider interface {
	Dataset
	// Divide is the same reading with other threads.
	Divide(threads int) Dataset
}

// Indexer is a Dataset that knows where reading can begin, without reading.
type Indexer interface {
	Dataset
	// Index is the groups of all objects, in order; nil where Options.Index
	// was not set.
	Index() []Group
}

// Group is rows of an object that follow each other.
type Group struct {
	Object int
	Row    int64 // rows of the object before them
	Rows   int64
}

// Info describes a dataset.
type Info struct {
	Objects   int
	Rows      int64 // -1: not known before they are read
	Groups    int64 // row groups, or the format's word for them
	Bytes     int64 // stored bytes of the chosen columns
	InMemory  int64 // bytes of the chosen columns as Arrow, estimated from the descriptions
	LargestIn int64 // InMemory of the largest group
}
