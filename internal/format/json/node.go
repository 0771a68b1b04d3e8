package json

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/literal"
	"github.com/weir-data/weir/internal/format/number"
	"github.com/weir-data/weir/internal/format/schematext"
)

// kind is how a value is read.
type kind uint8

const (
	passed   kind = iota // it is not wanted
	nulls                // nothing but null
	boolean              // true, false
	int64s               // the common integer
	integer              // any other, from least to most
	float64s             // the common float
	float                // any other
	text                 // a string, or the text of any other value
	binaries             // a string in base64
	worded               // a number or a string that read understands
	list                 // an array
	vector               // an array of fixed length
	structs              // an object with known keys
	dict                 // an object with any keys
)

// node reads the values of a column.
type node struct {
	kind   kind
	col    *build.Column
	elem   *node   // of list, vector and dict
	object *object // of structs

	least, most int64 // of integer
	wide        bool  // of integer: it goes up to that of a uint64
	// read, of worded, appends what a number or the inside of a string says;
	// false: it does not fit.
	read func(*build.Column, []byte) bool
}

// newNode makes the node that fills a column. With open, keys of structs that
// the schema has not are passed over.
func newNode(c *build.Column, open bool) (node, error) {
	t := c.Field.Type
	if ext, ok := t.(arrow.ExtensionType); ok {
		if ext.ExtensionName() == "arrow.uuid" {
			return node{kind: worded, col: c, read: literal.UUID}, nil
		}
		t = ext.StorageType()
	}
	nd := node{col: c}
	switch t := t.(type) {
	case *arrow.NullType:
		nd.kind = nulls
	case *arrow.BooleanType:
		nd.kind = boolean
	case *arrow.StringType:
		nd.kind = text
	case *arrow.BinaryType, *arrow.FixedSizeBinaryType:
		nd.kind = binaries
	case *arrow.Float64Type:
		nd.kind = float64s
	case *arrow.Float32Type, *arrow.Float16Type:
		nd.kind = float
	case *arrow.ListType:
		nd.kind = list
	case *arrow.MapType:
		nd.kind = dict
	case *arrow.FixedSizeListType:
		nd.kind = vector
	case *arrow.StructType:
		nd.kind = structs
	default:
		if !nd.number(t) {
			nd.kind, nd.read = worded, literal.For(t)
			if nd.read == nil {
				return nd, format.Error(format.ErrUsage, "values of type %s cannot be read from JSON", schematext.Type(t))
			}
		}
	}
	return nd, nd.nest(open)
}

// nest makes the nodes of the children.
func (nd *node) nest(open bool) error {
	if nd.kind == structs {
		nd.object = newObject(open)
		for _, c := range nd.col.Children {
			child, err := newNode(c, open)
			if err != nil {
				return err
			}
			nd.object.add(c.Field.Name, child)
		}
		return nil
	}
	if nd.kind != list && nd.kind != vector && nd.kind != dict {
		return nil
	}
	child, err := newNode(nd.col.Children[0], open)
	nd.elem = &child
	return err
}

// number says whether t is an integer, and which.
func (nd *node) number(t arrow.DataType) bool {
	nd.kind = integer
	switch t.ID() {
	case arrow.INT64, arrow.DURATION:
		nd.kind = int64s
	case arrow.INT32:
		nd.least, nd.most = math.MinInt32, math.MaxInt32
	case arrow.INT16:
		nd.least, nd.most = math.MinInt16, math.MaxInt16
	case arrow.INT8:
		nd.least, nd.most = math.MinInt8, math.MaxInt8
	case arrow.UINT64:
		nd.most, nd.wide = math.MaxInt64, true
	case arrow.UINT32:
		nd.most = math.MaxUint32
	case arrow.UINT16:
		nd.most = math.MaxUint16
	case arrow.UINT8:
		nd.most = math.MaxUint8
	default:
		return false
	}
	return true
}

// value reads the value at i into a column.
func (s *scanner) value(nd *node, i int) int {
	if i >= s.n {
		return s.unexpected(i, "a value")
	}
	c := s.b[i]
	if nd.kind == text && c == '"' {
		return s.text(nd.col, i+1)
	}
	if c == 'n' {
		if i = s.word(i, "null"); i >= 0 && nd.col != nil {
			nd.col.Null()
		}
		return i
	}
	switch nd.kind {
	case passed:
		return s.pass(i, 0)
	case text:
		end := s.pass(i, 0)
		if end >= 0 {
			nd.col.Bytes(s.b[i:end])
		}
		return end
	case int64s:
		v, k, ok := number.Int64(s.number(i))
		if end := i + k; ok && s.isInt(i, end) {
			nd.col.Uint64(uint64(v))
			return end
		}
	case float64s:
		if v, end, ok := s.float(i); ok {
			nd.col.Float64(v)
			return end
		}
	case structs:
		if c == '{' {
			end := s.members(nd.object, i+1, nd.col.Len())
			if end >= 0 {
				nd.col.EndStruct()
			}
			return end
		}
	case list:
		if c == '[' {
			_, end := s.list(nd.elem, i+1)
			if end >= 0 {
				nd.col.EndList()
			}
			return end
		}
	default:
		return s.rare(nd, i)
	}
	return s.misfit(nd, i)
}

// isInt says whether b[i:end], a run of digits with an optional sign, is an
// integer as JSON has it, and no more of a number follows.
func (s *scanner) isInt(i, end int) bool {
	c := s.b[i]
	if c == '-' {
		c = s.b[i+1]
		i++
	}
	e := s.b[end]
	return c-'0' <= 9 && (c != '0' || end == i+1) && e != '.' && e|0x20 != 'e'
}

// misfit fails at a value that is not of the column's type, or no value.
func (s *scanner) misfit(nd *node, i int) int {
	end := s.pass(i, 0)
	if end < 0 {
		return end
	}
	if end > s.n {
		return s.unexpected(s.n, "the end of a value")
	}
	s.typed = true
	way := ""
	if s.sampled {
		way = ", which came from a sample of the data; --sample all looks at all of it, --schema sets it"
	}
	return s.fail(i, "%s is not of type %s%s", clip(s.b[i:end]), schematext.Type(nd.col.Field.Type), way)
}
