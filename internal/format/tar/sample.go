package tar

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/records"
)

// split takes a member's name apart: the sample it belongs to, up to the first
// dot of the last part of the path, and the column. Names that begin with __
// describe the archive, and a name without a dot belongs to no sample: false.
func split(name []byte) (key, column []byte, ok bool) {
	base := bytes.LastIndexByte(name, '/') + 1
	dot := bytes.IndexByte(name[base:], '.')
	if dot <= 0 || dot == len(name)-base-1 || bytes.HasPrefix(name[base:], []byte("__")) {
		return nil, nil, false
	}
	column = name[base+dot+1:]
	if slices.ContainsFunc(column, func(c byte) bool { return c >= 0x80 || c >= 'A' && c <= 'Z' }) {
		column = bytes.ToLower(column)
	}
	return bytes.TrimPrefix(name[:base+dot], []byte("./")), column, true
}

// cutter cuts behind whole samples.
type cutter struct {
	need  int64
	ended bool // the last bytes seen were the mark of an end
}

// Resume has nothing to do: every sample begins with a header.
func (c *cutter) Resume() {}

// Need says how much of the archive holds the sample that was too long.
func (c *cutter) Need() int64 { return c.need }

// Cut goes from header to header. A sample ends where a member of another one
// begins.
func (c *cutter) Cut(data []byte, final bool) (from, to int, err error) {
	c.need = 0
	var key []byte
	at, border := 0, 0
	for at < len(data) {
		m, err := parse(data[at:], false)
		var short *shortError
		switch {
		case errors.As(err, &short):
			c.need = int64(at) + short.need
			return c.end(data, border, final)
		case err == errEnd:
			at += block
			if key == nil {
				border = at // no sample has begun
			}
			c.ended = true
			continue
		case err != nil:
			return 0, 0, c.bad(at, err)
		}
		c.ended = false
		if k, _, ok := split(m.name); ok && m.regular() && (key == nil || !bytes.Equal(k, key)) {
			if key != nil {
				border = at
			}
			key = k
		}
		whole := m.whole()
		if whole > int64(len(data)-at) {
			// One block more shows whether the sample goes on.
			c.need = int64(at) + whole + block
			return c.end(data, border, final)
		}
		at += int(whole)
	}
	if final {
		return c.whole(data)
	}
	c.need = int64(at) + block
	return 0, border, nil
}

// end is where data ends inside a member: with the border found before, unless
// there is no more data.
func (c *cutter) end(data []byte, border int, final bool) (from, to int, err error) {
	if final {
		return 0, 0, c.bad(border, format.Error(format.ErrData, "the archive ends inside a member: byte %d", len(data)))
	}
	return 0, border, nil
}

// whole is the archive's end, which its mark must say.
func (c *cutter) whole(data []byte) (from, to int, err error) {
	if !c.ended {
		return 0, 0, c.bad(len(data), errors.New("the archive has no mark of its end, it may have been cut"))
	}
	return 0, len(data), nil
}

func (c *cutter) bad(at int, err error) error {
	return &records.Bad{At: at, Line: -1, Err: err}
}

// place names a member in an error.
func place(name []byte, err error) error { return fmt.Errorf("member %q: %w", name, err) }
