package json

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/number"
)

// rare reads values of the types that value does not.
func (s *scanner) rare(nd *node, i int) int {
	end, ok := i, false
	switch c := s.b[i]; nd.kind {
	case boolean:
		if end, ok = i+4, c == 't'; ok {
			end = s.word(i, "true")
		} else if c == 'f' {
			end, ok = s.word(i, "false"), true
		}
		if ok && end >= 0 {
			nd.col.Bool(c == 't')
		}
	case integer:
		end, ok = s.integer(nd, i)
	case float:
		end, ok = s.narrow(nd, i)
	case binaries:
		if c == '"' {
			end, ok = s.base64(nd.col, i+1)
		}
	case worded:
		end, ok = s.scalar(nd, i)
	case vector:
		if c == '[' {
			var k int
			k, end = s.list(nd.elem, i+1)
			if ok = end < 0 || k == nd.col.Width; ok && end >= 0 {
				nd.col.EndVector()
			}
		}
	case dict:
		end, ok = s.dict(nd, i)
	}
	if !ok {
		return s.misfit(nd, i)
	}
	return end
}

func (s *scanner) integer(nd *node, i int) (int, bool) {
	v, k, ok := number.Int64(s.number(i))
	end := i + k
	if !s.isInt(i, end) {
		return i, false
	}
	if !ok && nd.wide {
		u, err := strconv.ParseUint(string(s.b[i:end]), 10, 64)
		if err != nil {
			return i, false
		}
		nd.col.Uint64(u)
		return end, true
	}
	if !ok || v < nd.least || v > nd.most {
		return i, false
	}
	switch nd.col.Width {
	case 8:
		nd.col.Uint64(uint64(v))
	case 4:
		nd.col.Uint32(uint32(v))
	case 2:
		nd.col.Uint16(uint16(v))
	case 1:
		nd.col.Uint8(uint8(v))
	}
	return end, true
}

// narrow reads floats of fewer than 64 bits, rounded once.
func (s *scanner) narrow(nd *node, i int) (int, bool) {
	v, end, ok := s.float(i)
	if !ok {
		return i, false
	}
	f := float32(v)
	if v-v == 0 {
		f64, err := strconv.ParseFloat(string(s.b[i:end]), 32)
		if err != nil {
			return i, false // it is too large
		}
		f = float32(f64)
	}
	if nd.col.Width == 4 {
		nd.col.Uint32(math.Float32bits(f))
		return end, true
	}
	if f-f == 0 && max(f, -f) > math.MaxUint16 {
		return i, false
	}
	nd.col.Uint16(float16.New(f).Uint16())
	return end, true
}

// base64 reads binary; of fixed-size ones all have the same length.
func (s *scanner) base64(c *build.Column, i int) (int, bool) {
	if c.Kind == build.Bytes {
		p, end := s.unescape(c, i)
		if end < 0 {
			return end, true
		}
		// What is decoded is shorter than what it is read from, and never
		// before it.
		k, err := base64.StdEncoding.Decode(p, p)
		if err != nil {
			return i, false
		}
		c.Commit(k)
		return end, true
	}
	end := s.passString(i)
	if end < 0 {
		return end, true
	}
	raw := s.b[i : end-1]
	if len(raw) > 8*c.Width+16 {
		return i, false
	}
	p := s.expand(make([]byte, 0, len(raw)), raw, i)
	k, err := base64.StdEncoding.Decode(p, p)
	if err != nil || k != c.Width {
		return i, false
	}
	c.Value(p[:k])
	return end, true
}

// shortMost is the bytes of the longest text of a scalar, more than any has.
const shortMost = 512

// scalar reads what stands for one value: a number, or a string.
func (s *scanner) scalar(nd *node, i int) (int, bool) {
	if s.b[i] != '"' {
		if c := s.b[i]; c != '-' && c-'0' > 9 {
			return i, false
		}
		end := s.passNumber(i)
		return end, end < 0 || end-i <= shortMost && nd.read(nd.col, s.b[i:end])
	}
	end := s.passString(i + 1)
	if end < 0 {
		return end, true
	}
	raw := s.b[i+1 : end-1]
	if len(raw) > shortMost {
		return i, false
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw = s.expand(make([]byte, 0, len(raw)), raw, i+1)
	}
	return end, nd.read(nd.col, raw)
}

// dict reads a map: an object, or an array of its entries.
func (s *scanner) dict(nd *node, i int) (int, bool) {
	var end int
	switch s.b[i] {
	case '{':
		end = s.entries(nd, i+1)
	case '[':
		_, end = s.list(nd.elem, i+1)
	default:
		return i, false
	}
	if end >= 0 {
		nd.col.EndList()
	}
	return end, true
}

// entryKey reads the key at i, a string, as a value of the type of keys: what
// stands between its quotes.
func (s *scanner) entryKey(nd *node, i int) int {
	switch nd.kind {
	case text, binaries, worded:
		return s.value(nd, i)
	}
	end := s.passString(i + 1)
	if end < 0 {
		return end
	}
	if got := s.value(nd, i+1); got != end-1 {
		if got >= 0 {
			return s.misfit(nd, i)
		}
		return got
	}
	return end
}
