package mds

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/weir-data/weir/internal/format/records"
)

// frame is how a sample is laid out: the sizes of the columns that have no
// fixed one, then the bytes of all columns.
type frame struct {
	head  int // bytes of sizes
	fixed int // bytes of the columns of a fixed size
}

func frameOf(columns []column) frame {
	var f frame
	for _, c := range columns {
		if c.size == 0 {
			f.head += 4
		}
		f.fixed += c.size
	}
	return f
}

// length is that of the sample that data begins with; 0: data has not all of
// it.
func (f frame) length(data []byte) int {
	if len(data) < f.head {
		return 0
	}
	n := f.head + f.fixed
	for i := 0; i+4 <= f.head; i += 4 {
		n += int(binary.LittleEndian.Uint32(data[i:]))
	}
	if n > len(data) {
		return 0
	}
	return n
}

// cutter goes through one shard: the number of samples, their offsets, what
// the shard says about itself, the samples. It holds none of these; that the
// offsets are those of the samples it sees by a sum of both.
type cutter struct {
	frame
	samples int64 // as the index has it
	bytes   int64 // as the index has it

	pos     int64 // of the next byte in the shard
	begin   int64 // of the first sample; 0: not known yet
	left    int64 // samples to come
	table   sum   // of the offsets as they are told
	found   sum   // of those that were found
	before  sum   // found, without the last
	resumed bool  // nothing can be told about the whole
}

// sum is a polynomial of offsets: it depends on their order.
type sum uint64

func (s *sum) add(offset uint32) { *s = *s*0x9E3779B97F4A7C15 + sum(offset) + 1 }

func (c *cutter) Resume() { c.resumed = true }

func (c *cutter) Cut(data []byte, final bool) (from, to int, err error) {
	if !c.resumed && c.pos < max(c.begin, 8) {
		if from, err = c.header(data); err != nil {
			return 0, 0, err
		}
		if c.begin == 0 || c.pos < c.begin {
			if final {
				return 0, 0, bad(len(data), "its %d bytes end in the header: %w", c.pos, io.ErrUnexpectedEOF)
			}
			return from, from, nil
		}
	}
	to, last := c.hop(data, from)
	switch {
	case c.resumed:
		if final && to < len(data) {
			return 0, 0, bad(to, "a sample ends early: %w", io.ErrUnexpectedEOF)
		}
	case c.left > 0:
		if final {
			return 0, 0, bad(to, "sample %d of %d ends early: %w", c.samples-c.left, c.samples, io.ErrUnexpectedEOF)
		}
	case to < len(data):
		return 0, 0, bad(to, "more bytes than those of its %d samples", c.samples)
	case final:
		return from, to, c.ended(to)
	case c.samples > 0:
		// The last sample stays back until the end has been seen and checked.
		c.pos -= int64(to - last)
		c.left, c.found, to = 1, c.before, last
	}
	return from, to, nil
}

// header goes through what comes before the samples, as far as data has it,
// and says how much that is.
func (c *cutter) header(data []byte) (int, error) {
	at := 0
	if c.pos == 0 {
		if len(data) < 8 {
			return 0, nil
		}
		n, begin := int64(binary.LittleEndian.Uint32(data)), int64(binary.LittleEndian.Uint32(data[4:]))
		if n != c.samples {
			return 0, bad(0, "it has %d samples, the index says %d", n, c.samples)
		}
		if begin < 4*(n+2) || begin > c.bytes {
			return 0, bad(4, "the first sample is at byte %d of %d", begin, c.bytes)
		}
		c.begin, c.left = begin, n
		c.pos, at = 4, 4
	}
	for end := 4 * (c.samples + 2); c.pos < end && len(data)-at >= 4; at += 4 {
		c.table.add(binary.LittleEndian.Uint32(data[at:]))
		c.pos += 4
		if c.pos == end {
			c.found.add(uint32(c.begin))
		}
	}
	if c.pos >= 4*(c.samples+2) {
		n := min(c.begin-c.pos, int64(len(data)-at))
		c.pos += n
		at += int(n)
	}
	return at, nil
}

// hop passes over whole samples from data[at:] on; last is where the last of
// them begins.
func (c *cutter) hop(data []byte, at int) (to, last int) {
	if c.resumed {
		for last = at; at < len(data); {
			n := c.length(data[at:])
			if n == 0 {
				break
			}
			last, at = at, at+n
		}
		return at, last
	}
	pos := c.pos - int64(at)
	c.before = c.found
	for last = at; c.left > 0; c.left-- {
		n := c.length(data[at:])
		if n == 0 {
			break
		}
		last, at = at, at+n
		c.before = c.found
		c.found.add(uint32(pos + int64(at)))
	}
	c.pos = pos + int64(at)
	return at, last
}

// ended checks what can only be known at the end.
func (c *cutter) ended(at int) error {
	switch {
	case c.pos != c.bytes:
		return bad(at, "it has %d bytes, the index says %d", c.pos, c.bytes)
	case c.table != c.found:
		return bad(at, "its offsets are not those of its samples")
	}
	return nil
}

// bad is a shard that cannot be read on.
func bad(at int, text string, args ...any) error {
	return &records.Bad{At: at, Line: -1, Err: fmt.Errorf(text, args...)}
}
