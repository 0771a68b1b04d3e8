package json

import (
	"bytes"

	"github.com/weir-data/weir/internal/format/records"
)

const (
	// keyMost is the bytes of the longest key, escaped, of a row or a struct.
	keyMost = 4 << 10
	// learnMost is how many keys of an object that are no columns are
	// remembered, so that they are expected where they stood before.
	learnMost = 64
)

// object reads JSON objects as structs or rows. Writers put keys in the same
// order row after row: of each key it remembers which came next.
type object struct {
	fields []field
	byName map[string]int
	next   []int // of a field, one up: the field that came behind it; of 0: the first one
	open   bool  // other keys are passed over
	learnt int
}

// field is a key of an object.
type field struct {
	name string
	node node
	// The text of the key with its quotes and colon: its first sixteen bytes
	// in two words, with masks where it is shorter, and what is behind them.
	word, mask [2]uint64
	rest       string
	size       int
}

func newObject(open bool) *object {
	return &object{byName: map[string]int{}, next: []int{0}, open: open}
}

// add adds a key; of two of a name the first counts.
func (o *object) add(name string, n node) {
	f := field{name: name, node: n}
	text := key(name, true)[1:]
	f.size = len(text)
	f.rest = string(text[min(len(text), 16):])
	for k := range 16 {
		if k < len(text) {
			f.word[k/8] |= uint64(text[k]) << (k % 8 * 8)
			f.mask[k/8] |= 0xff << (k % 8 * 8)
		}
	}
	i := len(o.fields)
	o.fields = append(o.fields, f)
	if _, ok := o.byName[name]; !ok {
		o.byName[name] = i
	}
	o.next[i] = i
	o.next = append(o.next, 0)
}

// stands says whether the key stands at i.
func (f *field) stands(b []byte, i int) bool {
	if (load(b, i)^f.word[0])&f.mask[0]|(load(b, i+8)^f.word[1])&f.mask[1] != 0 {
		return false
	}
	return f.rest == "" || i+f.size+records.Slack/4 <= len(b) && string(b[i+16:i+f.size]) == f.rest
}

// members reads an object from behind its brace. Its columns have had `have`
// values before.
func (s *scanner) members(o *object, i, have int) int {
	b := s.b
	i = s.gap(i)
	if b[i] == '}' {
		return i + 1
	}
	for last := 0; ; {
		if i >= s.n {
			return s.unexpected(i, "a key")
		}
		k := o.next[last]
		if k < len(o.fields) && o.fields[k].stands(b, i) {
			i += o.fields[k].size
		} else if k, i = s.key(o, i); i < 0 {
			return i
		} else if k >= 0 {
			o.next[last] = k
		}
		i = s.gap(i)
		if k >= 0 {
			f := &o.fields[k]
			if c := f.node.col; c != nil && c.Len() != have {
				c.Cut(have) // the last of two of a name counts
			}
			if i = s.value(&f.node, i); i < 0 {
				s.keys = append(s.keys, f.name)
				return i
			}
			last = k + 1
		} else if i = s.pass(i, 0); i < 0 {
			return i
		}
		if b[i] == ',' {
			i = s.gap(i + 1)
			continue
		}
		if b[i] == '}' {
			return s.closed(i)
		}
		switch i = s.gap(i); b[i] {
		case ',':
			i = s.gap(i + 1)
		case '}':
			return s.closed(i)
		default:
			return s.unexpected(i, "',' or '}'")
		}
	}
}

// key finds out which key stands at i, and what comes behind its colon; less
// than 0: one that is passed over.
func (s *scanner) key(o *object, i int) (k, end int) {
	if s.b[i] != '"' {
		return 0, s.unexpected(i, "a key")
	}
	name, end := s.name(i + 1)
	if end < 0 {
		return 0, end
	}
	colon := s.gap(end)
	if s.b[colon] != ':' {
		return 0, s.unexpected(colon, "':'")
	}
	k, ok := o.byName[string(name)]
	switch {
	case ok:
	case !o.open:
		s.typed = true
		return 0, s.fail(i, "key %q is not in the schema, which came from a sample of the data; --sample all looks at all of it, --schema names it", clip(name))
	case o.learnt < learnMost:
		o.learnt++
		k = len(o.fields)
		o.add(string(name), node{kind: passed})
	default:
		k = -1
	}
	return k, colon + 1
}

// name is the key that begins at i, behind its quote. It is valid until the
// next call.
func (s *scanner) name(i int) ([]byte, int) {
	end := s.passString(i)
	if end < 0 {
		return nil, end
	}
	raw := s.b[i : end-1]
	if len(raw) > keyMost {
		return nil, s.fail(i, "a key of more than %d bytes", keyMost)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, end
	}
	return s.expand(make([]byte, 0, len(raw)), raw, i), end
}

// expand appends raw, the inside of a sound string that begins at i, to dst,
// which has the room.
func (s *scanner) expand(dst, raw []byte, i int) []byte {
	for k := 0; k < len(raw); {
		if raw[k] != '\\' {
			dst = append(dst, raw[k])
			k++
		} else if v := plainEscapes[raw[k+1]]; v != 0 {
			dst = append(dst, v)
			k += 2
		} else {
			at, j := s.unicode(dst[:cap(dst)], i+k, len(dst))
			dst, k = dst[:j], at-i
		}
	}
	return dst
}

// clip is the beginning of a text that may be long.
func clip(p []byte) []byte {
	const most = 60
	if len(p) <= most {
		return p
	}
	return append(append([]byte(nil), p[:most]...), "…"...)
}

// list reads an array from behind its bracket, values of elem, and returns
// how many there were.
func (s *scanner) list(elem *node, i int) (count, end int) {
	i = s.gap(i)
	if s.b[i] == ']' {
		return 0, i + 1
	}
	for {
		if i = s.value(elem, i); i < 0 {
			return 0, i
		}
		count++
		if s.b[i] <= ' ' {
			i = s.gap(i)
		}
		switch s.b[i] {
		case ',':
			i = s.gap(i + 1)
		case ']':
			return count, s.closed(i)
		default:
			return 0, s.unexpected(i, "',' or ']'")
		}
	}
}

// entries reads an object from behind its brace as the entries of a map: its
// keys stand in the order they have, twice where they stand twice.
func (s *scanner) entries(nd *node, i int) int {
	pair := nd.elem.col
	key, val := &nd.elem.object.fields[0].node, &nd.elem.object.fields[1].node
	i = s.gap(i)
	if s.b[i] == '}' {
		return i + 1
	}
	for {
		if i >= s.n || s.b[i] != '"' {
			return s.unexpected(i, "a key")
		}
		if i = s.entryKey(key, i); i < 0 {
			return i
		}
		if i = s.gap(i); s.b[i] != ':' {
			return s.unexpected(i, "':'")
		}
		if i = s.value(val, s.gap(i+1)); i < 0 {
			return i
		}
		pair.EndStruct()
		switch i = s.gap(i); s.b[i] {
		case ',':
			i = s.gap(i + 1)
		case '}':
			return s.closed(i)
		default:
			return s.unexpected(i, "',' or '}'")
		}
	}
}

// full ends a row whose values have no room.
func (s *scanner) full() int {
	s.err = nil
	return -1
}
