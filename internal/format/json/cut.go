package json

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/weir-data/weir/internal/format/records"
)

// cutter finds the elements of an array, which is a document of its own or
// lies at a path of keys in one. It knows strings and brackets; whether an
// element is sound is for the parser to say. What stands around the array is
// passed over, and only its strings and brackets must be sound.
//
// Pieces begin with the first element, or with the comma before another one.
type cutter struct {
	path  []string
	state state
	begun bool // the first bytes were seen
	level int  // keys of path that were found
	walk  walk
	seen  int // bytes at the front of the data to come that were walked over
}

type state uint8

const (
	opening  state = iota // before the bracket of a document or of a value on the path
	naming                // before a key
	skipping              // in a member that is not on the path
	elements              // in the array
	closing               // behind the array
)

var bom = []byte("\xef\xbb\xbf")

// Resume goes on behind an element.
func (c *cutter) Resume() { c.state = elements }

// Cut makes cutter a records.Cutter.
func (c *cutter) Cut(data []byte, final bool) (from, to int, err error) {
	switch c.state {
	case elements:
		return c.cut(data, 0, final)
	case closing:
		return c.close(data, final)
	}
	from, err = c.open(data, final)
	if err != nil || c.state != elements {
		return from, from, err
	}
	c.walk, c.seen = walk{}, from
	return c.cut(data, from, final)
}

// cut finds whole elements from a place on.
func (c *cutter) cut(data []byte, from int, final bool) (int, int, error) {
	if final {
		if from == len(data) {
			return 0, 0, c.bad(from, errOpen)
		}
		return from, len(data), nil // the parser sees how it ends
	}
	to, at := from, c.walk.step(data, c.seen)
	for ; at < len(data); at = c.walk.step(data, at+1) {
		if data[at] == ',' {
			to = at
		} else if data[at] == ']' {
			c.state, c.walk = closing, walk{depth: len(c.path) + 1}
			return from, at, nil
		}
	}
	c.seen = at - to
	return from, to, nil
}

// close passes over what stands behind the elements.
func (c *cutter) close(data []byte, final bool) (int, int, error) {
	if k := c.walk.close(data); k < len(data) {
		return 0, 0, c.bad(k, errMore)
	}
	if final && !c.walk.closed() {
		return 0, 0, c.bad(len(data), errOpen)
	}
	return len(data), len(data), nil
}

var (
	errOpen = fmt.Errorf("the document is not closed: %w", io.ErrUnexpectedEOF)
	errMore = fmt.Errorf("there is more behind the end of the document")
)

func (c *cutter) bad(at int, err error) error { return &records.Bad{At: at, Line: -1, Err: err} }

// open passes over what stands before the first element, and returns how much
// that is, or how much of it data has.
func (c *cutter) open(data []byte, final bool) (int, error) {
	i := 0
	if !c.begun {
		if len(data) < len(bom) && !final {
			return 0, nil
		}
		c.begun = true
		i = len(data) - len(bytes.TrimPrefix(data, bom))
	}
	for {
		if c.state == skipping {
			i = c.walk.step(data, i)
		} else {
			i += len(data[i:]) - len(bytes.TrimLeft(data[i:], " \t\r\n"))
		}
		if i == len(data) {
			if final && (c.state != opening || c.level > 0) {
				return 0, c.bad(i, errOpen)
			}
			return i, nil
		}
		switch c.state {
		case opening:
			if err := c.bracket(data, i); err != nil {
				return 0, err
			}
			if i++; c.state == elements {
				return i, nil
			}
		case naming:
			behind, err := c.name(data, i)
			if err != nil {
				return 0, err
			}
			if behind == 0 {
				if final {
					return 0, c.bad(len(data), errOpen)
				}
				return i, nil
			}
			i = behind
		case skipping:
			if data[i] != ',' {
				return 0, c.missing(i)
			}
			c.state = naming
			i++
		}
	}
}

// bracket goes into the array, or into the next object on the path.
func (c *cutter) bracket(data []byte, i int) error {
	want, what := byte('['), "array"
	c.state = elements
	if c.level < len(c.path) {
		want, what = '{', "object"
		c.state = naming
	}
	if data[i] == want {
		return nil
	}
	if c.level == 0 {
		return c.bad(i, fmt.Errorf("%q where an %s should begin", data[i], what))
	}
	return c.bad(i, fmt.Errorf("%q is not an %s", strings.Join(c.path[:c.level], "."), what))
}

// name reads a key and its colon; 0: more data is needed for that.
func (c *cutter) name(data []byte, i int) (int, error) {
	if data[i] == '}' {
		return 0, c.missing(i)
	}
	if data[i] != '"' {
		return 0, c.bad(i, fmt.Errorf("%q where a key should be", data[i]))
	}
	w := walk{quoted: true}
	end := w.quote(data, i+1)
	rest := bytes.TrimLeft(data[end:], " \t\r\n")
	if w.quoted || len(rest) == 0 {
		return 0, nil
	}
	if rest[0] != ':' {
		return 0, c.bad(len(data)-len(rest), fmt.Errorf("%q where ':' should be", rest[0]))
	}
	var key string
	if err := stdjson.Unmarshal(data[i:end], &key); err != nil {
		return 0, c.bad(i, fmt.Errorf("%q is not a key", clip(data[i:end])))
	}
	c.state, c.walk = skipping, walk{}
	if key == c.path[c.level] {
		c.state = opening
		c.level++
	}
	return len(data) - len(rest) + 1, nil
}

// missing: an object ended that should have had the next key of the path.
func (c *cutter) missing(i int) error {
	if c.level == 0 {
		return c.bad(i, fmt.Errorf("the document has no key %q", c.path[0]))
	}
	return c.bad(i, fmt.Errorf("%q has no key %q", strings.Join(c.path[:c.level], "."), c.path[c.level]))
}
