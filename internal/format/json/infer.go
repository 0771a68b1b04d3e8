package json

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/number"
)

const (
	// keysMost is how many different keys an object may have to be a struct;
	// one with more is a table of its own, and its column has its JSON text.
	keysMost = 1000
	// membersMost is how many keys a schema that is found may have in all.
	membersMost = 20_000
)

// shape is what values at one place were seen to be: kinds of them, and what
// is in arrays and objects.
type shape struct {
	kinds  kinds
	elem   *shape
	fields []member
	byName map[string]int
	next   int // the field that is expected
}

type member struct {
	name  string
	shape *shape
	built int64 // bytes of the values as Arrow, of top-level members
}

// kinds is a set.
type kinds uint16

const (
	sawBool     kinds = 1 << iota
	sawInt            // within an int64
	sawNegative       // an integer below 0
	sawLarge          // an integer within a uint64 only
	sawFloat          // any other number
	sawString
	sawArray
	sawObject

	sawNumber = sawInt | sawNegative | sawLarge | sawFloat
)

// typ is the narrowest type that holds all values.
func (sh *shape) typ() arrow.DataType {
	switch k := sh.kinds; {
	case k == 0:
		return arrow.Null
	case k == sawBool:
		return arrow.FixedWidthTypes.Boolean
	case k&^(sawInt|sawNegative) == 0:
		return arrow.PrimitiveTypes.Int64
	case k&^(sawInt|sawLarge) == 0:
		return arrow.PrimitiveTypes.Uint64
	case k&^sawNumber == 0:
		return arrow.PrimitiveTypes.Float64
	case k == sawArray:
		return arrow.ListOf(sh.elem.typ())
	case k == sawObject && len(sh.fields) > 0 && len(sh.fields) <= keysMost:
		return arrow.StructOf(sh.schema()...)
	}
	return arrow.BinaryTypes.String
}

func (sh *shape) schema() []arrow.Field {
	out := make([]arrow.Field, len(sh.fields))
	for i, f := range sh.fields {
		out[i] = arrow.Field{Name: f.name, Type: f.shape.typ(), Nullable: true}
	}
	return out
}

// at is the member of a key, and whether it was there.
func (sh *shape) at(name []byte) (m *member, old bool) {
	if sh.next == len(sh.fields) {
		sh.next = 0
	}
	if i := sh.next; i < len(sh.fields) && sh.fields[i].name == string(name) {
		sh.next++
		return &sh.fields[i], true
	}
	i, old := sh.byName[string(name)]
	if !old {
		if sh.byName == nil {
			sh.byName = map[string]int{}
		}
		i = len(sh.fields)
		sh.byName[string(name)] = i
		sh.fields = append(sh.fields, member{name: string(name), shape: new(shape)})
	}
	sh.next = i + 1
	return &sh.fields[i], old
}

// survey is the sink that finds out the shape of rows.
type survey struct {
	top     shape
	built   int64 // bytes of all values as Arrow, about
	largest int64 // bytes of the largest row
	members int   // keys in all shapes
	bad     error // what was wrong before any row could be read
}

// at is the member of a key of a shape; nil: there are too many.
func (v *survey) at(sh *shape, name []byte) *member {
	if v.members > membersMost {
		return nil
	}
	m, old := sh.at(name)
	if !old {
		v.members++
	}
	return m
}

func (v *survey) end() bool  { return true }
func (v *survey) undo()      {}
func (v *survey) more() bool { return true }

// row holds that the row is sound before it counts.
func (v *survey) row(s *scanner, i int) int {
	end := s.pass(i, 0)
	if end < 0 || end > s.n {
		return end
	}
	v.largest = max(v.largest, int64(end-i))
	v.top.kinds |= sawObject
	for i = s.gap(i + 1); s.b[i] != '}'; {
		name, behind := s.name(i + 1)
		if behind < 0 {
			return behind
		}
		m := v.at(&v.top, name)
		if m == nil {
			return end
		}
		before := v.built
		if i = v.value(s, m.shape, s.gap(s.gap(behind)+1)); i < 0 {
			return i
		}
		m.built += v.built - before
		if i = s.gap(i); s.b[i] == ',' {
			i = s.gap(i + 1)
		}
	}
	return end
}

// value adds the value at i, which is sound, to a shape.
func (v *survey) value(s *scanner, sh *shape, i int) int {
	switch c := s.b[i]; c {
	case '"':
		sh.kinds |= sawString
		end := s.passString(i + 1)
		v.built += int64(end-i) + 4
		return end
	case '{':
		sh.kinds |= sawObject
		return v.object(s, sh, i+1)
	case '[':
		sh.kinds |= sawArray
		return v.array(s, sh, i+1)
	case 't', 'f', 'n':
		if c != 'n' {
			sh.kinds |= sawBool
		}
		v.built++
		return s.pass(i, 0)
	}
	v.built += 8
	end := s.pass(i, 0)
	sh.kinds |= numberKind(s.b[i:end])
	return end
}

func numberKind(p []byte) kinds {
	v, k, ok := number.Int64(p)
	switch {
	case ok && k == len(p) && v < 0:
		return sawNegative
	case ok && k == len(p):
		return sawInt
	}
	if k == len(p) && p[0] != '-' && fitsUint64(p) {
		return sawLarge
	}
	if len(p) > 300 || bytes.IndexByte(p, 'e') >= 0 || bytes.IndexByte(p, 'E') >= 0 {
		if f, _, ok := number.Float64(p); !ok && p[0] <= '9' || math.IsInf(f, 0) {
			return sawString // no float64 has it: it is kept as text
		}
	}
	return sawFloat
}

// fitsUint64 says whether p, an integer of digits alone, is one.
func fitsUint64(p []byte) bool {
	const most = "18446744073709551615"
	return len(p) < len(most) || len(p) == len(most) && string(p) <= most
}

func (v *survey) object(s *scanner, sh *shape, i int) int {
	for i = s.gap(i); s.b[i] != '}'; {
		name, behind := s.name(i + 1)
		if behind < 0 {
			return behind
		}
		i = s.gap(s.gap(behind) + 1)
		if m := v.member(sh, name); m != nil {
			i = v.value(s, m.shape, i)
		} else {
			end := s.pass(i, 0)
			v.built += int64(end - i)
			i = end
		}
		if i < 0 {
			return i
		}
		if i = s.gap(i); s.b[i] == ',' {
			i = s.gap(i + 1)
		}
	}
	return i + 1
}

// member is at for nested objects; nil where it is text already.
func (v *survey) member(sh *shape, name []byte) *member {
	if len(sh.fields) > keysMost {
		return nil
	}
	return v.at(sh, name)
}

func (v *survey) array(s *scanner, sh *shape, i int) int {
	v.built += 4
	if sh.elem == nil {
		sh.elem = new(shape)
	}
	for i = s.gap(i); s.b[i] != ']'; {
		if i = v.value(s, sh.elem, i); i < 0 {
			return i
		}
		if i = s.gap(i); s.b[i] == ',' {
			i = s.gap(i + 1)
		}
	}
	return i + 1
}
