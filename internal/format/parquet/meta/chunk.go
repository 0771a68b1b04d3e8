package meta

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/weir-data/weir/internal/codec"
)

// Chunk is one column of one row group: a run of pages in the file.
type Chunk struct {
	Leaf                     int // Leaf.Ordinal
	Type                     Type
	Codec                    codec.Codec
	Values                   int64 // nulls and empty lists included
	Compressed, Uncompressed int64 // bytes of all pages, headers included; Compressed are in the file
	Start                    int64 // of the first page
	DictOffset, DataOffset   int64 // as stated; DictOffset 0: no dictionary page before the data
	OffsetIndex              int64 // where the offset index lies
	OffsetIndexLen           int32 // 0: none
	Nulls                    int64 // -1: unknown
	HasDict                  bool  // some page uses a dictionary
}

// Chunks reads the chunks of row group i for the given leaves, which ascend,
// into dst, which it reuses. Chunks without error lie in the file before the
// footer; their counts are not negative and below 1<<48. Errors name the file
// and the column.
func (f *File) Chunks(ctx context.Context, i int, leaves []int, dst []Chunk) ([]Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dst, err := f.chunks(ctx, i, leaves, dst[:0])
	if err != nil {
		return nil, fmt.Errorf("parquet: %s: row group %d%w", f.name, i, err)
	}
	return dst, nil
}

// chunks returns errors that begin with what comes after the row group.
func (f *File) chunks(ctx context.Context, i int, leaves []int, dst []Chunk) ([]Chunk, error) {
	if cap(f.win.buf) == 0 {
		return nil, errors.New(": the file has been closed")
	}
	d := f.win.decoder(ctx, int64(f.groups[i]))
	var fd field
	for d.next(&fd) {
		if fd.id != 1 {
			d.skip(fd)
			continue
		}
		n := d.list(fd, wireStruct)
		if d.err == nil && n != len(f.Schema.Leaves) {
			return nil, fmt.Errorf(": %w", bad("it has %d columns, the schema has %d", n, len(f.Schema.Leaves)))
		}
		for leaf := 0; leaf < n && len(dst) < len(leaves) && d.err == nil; leaf++ {
			if leaf != leaves[len(dst)] {
				d.skipValue(wireStruct, true, 0)
				continue
			}
			c, err := f.chunk(d, f.Schema.Leaves[leaf])
			if err != nil {
				return nil, fmt.Errorf(", column %q: %w", f.Schema.Leaves[leaf].Path, err)
			}
			dst = append(dst, c)
		}
		break
	}
	if err := d.end(); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	if len(dst) < len(leaves) {
		return nil, fmt.Errorf(": %w", bad("column %d of %d is missing", leaves[len(dst)], len(f.Schema.Leaves)))
	}
	return dst, nil
}

// rawChunk is a chunk as the footer has it.
type rawChunk struct {
	Chunk
	codec     int32
	described bool
	encrypted bool
	elsewhere bool // in another file
}

func (f *File) chunk(d *decoder, leaf *Leaf) (Chunk, error) {
	raw := rawChunk{Chunk: Chunk{Leaf: leaf.Ordinal, Type: -1, Nulls: -1}}
	d.chunk(&raw)
	if err := d.end(); err != nil {
		return Chunk{}, err
	}
	c := raw.Chunk
	switch {
	case raw.encrypted:
		return c, bad("encrypted: weir cannot read encrypted columns")
	case !raw.described:
		return c, bad("encrypted or damaged: the footer does not describe it")
	case raw.elsewhere:
		return c, bad("its data is in another file")
	case c.Type != leaf.Type:
		return c, bad("stored as %v, the schema says %v", c.Type, leaf.Type)
	}
	var err error
	if c.Codec, err = codecOf(raw.codec); err != nil {
		return c, err
	}
	return c, f.place(&c)
}

// maxCount is more values or bytes than a chunk can have, so that sums and
// products of what is below need no checks.
const maxCount = 1 << 48

// place finds the first page and holds the chunk against the file's length.
func (f *File) place(c *Chunk) error {
	if min(c.Values, c.Compressed, c.Uncompressed) < 0 || max(c.Values, c.Uncompressed) > maxCount {
		return bad("%d values in %d bytes, %d in the file", c.Values, c.Uncompressed, c.Compressed)
	}
	if c.Nulls > c.Values || c.Nulls < -1 {
		c.Nulls = -1
	}
	// Writers without a dictionary page state 0, or the data page's place.
	if c.DictOffset <= 0 || c.DictOffset >= c.DataOffset {
		c.DictOffset = 0
	}
	c.Start = c.DataOffset
	if c.DictOffset > 0 {
		c.Start = c.DictOffset
	}
	if c.OffsetIndex < magicSize || c.OffsetIndexLen <= 0 || c.OffsetIndex > f.win.start-int64(c.OffsetIndexLen) {
		c.OffsetIndex, c.OffsetIndexLen = 0, 0
	}
	if c.Start < magicSize || c.Compressed > f.win.start-c.Start {
		if c.Values > 0 {
			return bad("its pages, %d bytes at %d, are not in the file, whose data ends at %d", c.Compressed, c.Start, f.win.start)
		}
		c.Start, c.Compressed, c.DictOffset, c.DataOffset = magicSize, 0, 0, magicSize
	}
	c.Compressed = min(c.Compressed+f.pad, f.win.start-c.Start)
	return nil
}

// codecOf maps Parquet's number.
func codecOf(n int32) (codec.Codec, error) {
	switch n {
	case 0:
		return codec.None, nil
	case 1:
		return codec.Snappy, nil
	case 2:
		return codec.Gzip, nil
	case 3:
		return 0, bad("compressed with LZO, which weir cannot read")
	case 4:
		return codec.Brotli, nil
	case 5:
		return codec.LZ4, nil
	case 6:
		return codec.Zstd, nil
	case 7:
		return codec.LZ4Raw, nil
	}
	return 0, bad("compressed with codec %d, which weir does not know", n)
}

func (d *decoder) chunk(c *rawChunk) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			n := d.length(f)
			c.elsewhere = n > 0
			d.jump(n)
		case 3:
			if d.enter(f) {
				d.columnMeta(c)
				c.described = true
			}
		case 4:
			c.OffsetIndex = d.int64(f)
		case 5:
			c.OffsetIndexLen = d.int32(f)
		case 8, 9:
			c.encrypted = true
			d.skip(f)
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) columnMeta(c *rawChunk) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			c.Type = Type(d.small(f, math.MaxInt8, "type"))
		case 2:
			n := d.list(f, wireI32)
			for range n {
				e := Encoding(d.zigzag())
				c.HasDict = c.HasDict || e == PlainDictionary || e == RLEDictionary
			}
		case 4:
			c.codec = d.int32(f)
		case 5:
			c.Values = d.int64(f)
		case 6:
			c.Uncompressed = d.int64(f)
		case 7:
			c.Compressed = d.int64(f)
		case 9:
			c.DataOffset = d.int64(f)
		case 11:
			c.DictOffset = d.int64(f)
		case 12:
			if d.enter(f) {
				d.statistics(c)
			}
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) statistics(c *rawChunk) {
	var f field
	for d.next(&f) {
		if f.id == 3 {
			c.Nulls = d.int64(f)
		} else {
			d.skip(f)
		}
	}
}
