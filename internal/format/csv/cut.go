package csv

import "bytes"

// cutter cuts behind line feeds that are not between quotes. A header is in
// the first piece.
type cutter struct {
	dialect
	header bool
	begun  bool // the next data is not the object's first
}

func (c *cutter) Resume() { c.begun = true }

func (c *cutter) Cut(data []byte, final bool) (from, to int, err error) {
	if final {
		return 0, len(data), nil
	}
	start := 0
	if !c.begun {
		start = front(data, c.header)
	}
	if to = c.lastBorder(data, start); to > 0 {
		c.begun = true
	}
	return 0, to, nil
}

// lastBorder is behind the last record that ends in data, the first of which
// begins at start; 0: none ends.
func (c *cutter) lastBorder(data []byte, start int) int {
	to, i := 0, start
	for {
		n := bytes.IndexByte(data[i:], quote)
		if n < 0 {
			if k := bytes.LastIndexByte(data[i:], '\n'); k >= 0 {
				to = i + k + 1
			}
			return to
		}
		if k := bytes.LastIndexByte(data[i:i+n], '\n'); k >= 0 {
			to = i + k + 1
		}
		i += n
		if !c.opens(data, start, i) {
			i++
			continue
		}
		at, _ := closing(data, i)
		// A quote that is the last byte may be the first of two.
		if at < 0 || at+1 == len(data) {
			return to
		}
		i = at + 1
	}
}

// opens says whether the quote at i, outside of quotes, opens a field.
func (c *cutter) opens(data []byte, start, i int) bool {
	return i == start || data[i-1] == c.delim || data[i-1] == '\n'
}

// recordEnd is behind the record that begins at i. One whose quotes do not
// close ends with its first line, so that what follows can be read.
func (d dialect) recordEnd(data []byte, i int) int {
	start := i
	for {
		if i < len(data) && data[i] == quote {
			at, _ := closing(data, i)
			if at < 0 {
				break
			}
			i = at + 1
		}
		i = d.end(data, i)
		if i == len(data) {
			return i
		}
		if data[i] == '\n' {
			return i + 1
		}
		i++
	}
	if n := bytes.IndexByte(data[start:], '\n'); n >= 0 {
		return start + n + 1
	}
	return len(data)
}
