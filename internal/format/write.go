package format

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Writer writes one kind of file.
type Writer struct {
	Name string // as --to says it
	Ext  string // of its files, with the dot
	// Inline says that its files may be compressed as a whole, which is done
	// below it: WriteOptions.Codec is then not its business.
	Inline bool
	// PartSize is that of the parts of a directory where WriteOptions say
	// none; 0: 512 MiB.
	PartSize int64
	// Groups says that it makes use of WriteOptions.Groups.
	Groups bool
	// PartName names the parts of a directory; nil: part-00000 and its Ext.
	PartName func(part int, opt WriteOptions) string
	// Memory says what writing rows of a schema takes: the least that works,
	// and the most that makes it faster. A schema that cannot be written, or
	// an option that makes no sense, is ErrUsage.
	Memory func(*arrow.Schema, WriteOptions) (least, most int64, err error)
	// Begin begins one file. Every byte beyond a fixed few KiB is leased from
	// share, which is the file's alone until it was closed or aborted.
	Begin func(out Output, s *arrow.Schema, opt WriteOptions, share *mem.Budget) (File, error)
	// Index, if not nil, makes the file that describes all parts of a
	// directory from what their Close returned, in order. Such a format is
	// always written as a directory. The name does not depend on the parts.
	Index func(s *arrow.Schema, opt WriteOptions, parts []Part) (name string, data []byte, err error)
}

// Output is where the bytes of a file go.
type Output interface {
	io.Writer
	// Patch overwrites bytes written already, which lie in the first 4 KiB.
	// It is ErrUsage where the output is a pipe or is compressed.
	Patch(p []byte, off int64) error
}

// File is one file being written.
type File interface {
	// Write borrows the batch.
	Write(*stream.Batch) error
	// Size is about how many bytes the file would have if it were closed now;
	// it is what ends a part.
	Size() int64
	// Close ends the format, not the output below, and gives all memory back.
	Close() (Part, error)
	// Abort gives all memory back; what was written is of no use.
	Abort()
}

// Filler is a File that knows itself where a part of a directory ends.
type Filler interface {
	// Fill borrows the batch and writes its rows from row on until the file
	// is full. It says how many it wrote: fewer than there are when the file
	// is full. An empty file takes one at least.
	Fill(b *stream.Batch, row int64) (rows int64, err error)
}

// Holder is a File that goes on with batches behind Write: they are retained.
type Holder interface {
	// Relieve waits until it has let go of what it has had longest; false: it
	// has nothing.
	Relieve() (bool, error)
}

// Part describes a file that was written. Whoever wrote the file fills in what
// its Index needs; the rest is filled in by the owner of the output.
type Part struct {
	Name  string // in its directory
	Rows  int64
	Bytes int64
	Raw   int64 // bytes before the format compressed them, where its Index tells; 0: it did not
	Note  any   // from File.Close to Writer.Index; nil: not kept, which does where files have no hashes
}

// WriteOptions say how to write. The zero value is each format's own choice.
type WriteOptions struct {
	Codec    string   // of pages, batches or whole files: none, snappy, gzip, brotli, lz4, zstd; with a level as zstd:9
	RowGroup int64    // Parquet: bytes of a row group in memory; 0: 64 MiB, or less where the memory is less
	PartSize int64    // bytes of a part; 0: 512 MiB, MDS: 64 MiB
	Hashes   []string // MDS: names of hashes of every shard
	Threads  int      // encoding threads; 0: one
	// Steady: Parquet: the bytes depend on the rows, their batches and the
	// options alone, not on memory and threads. The least memory is then also
	// the most, and grows with RowGroup.
	Steady bool
	// Groups: Parquet, with Steady: row groups that are encoded side by side; 0:
	// one. A File of more than one is a Holder.
	Groups int
}

// Counter passes on what is written, and counts it.
type Counter struct {
	io.Writer
	N int64
}

// Write makes Counter an io.Writer.
func (c *Counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.N += int64(n)
	return n, err
}
