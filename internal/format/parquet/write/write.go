// Package write writes Parquet files.
//
// A row group's columns lie one after another in the file, so its pages are
// kept, compressed, until it is complete. A batch is cut into as many row
// groups as the memory makes it; the pages of a batch's columns are encoded
// side by side, and several row groups where that is asked for.
//
// The values of a chunk's first page decide how it is encoded: as indices into a
// dictionary where they repeat, as differences where integers lie in a small
// range or rise, else as they are. Differences that compression does nothing for,
// such as those of tokens, are not compressed.
package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// options are those of format.WriteOptions, read.
type options struct {
	*compiler
	comp    compression
	threads int
	side    int   // row groups that are encoded side by side
	group   int64 // bytes of a row group in memory
	part    int64 // bytes of the file
	steady  bool  // the bytes do not depend on memory and threads
}

// parse reads the options and compiles the schema.
func parse(s *arrow.Schema, opt format.WriteOptions) (*options, error) {
	o := &options{threads: max(1, opt.Threads), group: opt.RowGroup, part: opt.PartSize, steady: opt.Steady}
	if o.side = 1; o.steady {
		o.side = max(1, opt.Groups)
	}
	switch {
	case opt.RowGroup < 0:
		return nil, format.Error(format.ErrUsage, "parquet: a row group of %d bytes", opt.RowGroup)
	case opt.RowGroup == 0:
		o.group = defaultGroup
	}
	if o.part <= 0 {
		o.part = defaultPart
	}
	var err error
	if o.comp, err = parseCodec(opt.Codec); err != nil {
		return nil, err
	}
	o.compiler, err = compile(s)
	return o, err
}

// Memory is what writing rows of a schema takes; see format.Writer.
func Memory(s *arrow.Schema, opt format.WriteOptions) (least, most int64, err error) {
	o, err := parse(s, opt)
	if err != nil {
		return 0, 0, err
	}
	least = leastMemory(o)
	return least, max(least, mostMemory(o)), nil
}
