package tensor

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// Dtype is the type of a tensor's elements. The zero value leaves the choice to
// whoever plans.
type Dtype uint8

const (
	Auto Dtype = iota
	Float32
	Float64
	Float16
	BFloat16
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Bool // one byte, 0 or 1
)

var dtypeNames = [...]string{"auto", "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64",
	"uint8", "uint16", "uint32", "uint64", "bool"}

var dtypeSizes = [...]int{0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1}

// String is the name that numpy and torch know it by.
func (d Dtype) String() string { return dtypeNames[d] }

// Size is the bytes of an element; of Auto it is 0.
func (d Dtype) Size() int { return dtypeSizes[d] }

// Floating says that elements can be NaN.
func (d Dtype) Floating() bool { return d >= Float32 && d <= BFloat16 }

// ParseDtype finds a type of features or labels by its name; "" is Auto.
// Others are ErrUsage.
func ParseDtype(name string) (Dtype, error) {
	if name == "" {
		return Auto, nil
	}
	for _, d := range []Dtype{Float32, Float64, Float16, BFloat16, Int64} {
		if d.String() == strings.TrimPrefix(name, "torch.") {
			return d, nil
		}
	}
	return 0, format.Error(format.ErrUsage, "dtype %q is not one of float32, float64, float16, bfloat16, int64", name)
}

// numbers are the Arrow types that are numbers, as tensors have them.
var numbers = map[arrow.Type]Dtype{
	arrow.FLOAT32: Float32, arrow.FLOAT64: Float64, arrow.FLOAT16: Float16,
	arrow.INT8: Int8, arrow.INT16: Int16, arrow.INT32: Int32, arrow.INT64: Int64,
	arrow.UINT8: Uint8, arrow.UINT16: Uint16, arrow.UINT32: Uint32, arrow.UINT64: Uint64,
	arrow.BOOL: Bool,
}

// numberOf is the type of t's values, of a dictionary's values, if they are
// numbers.
func numberOf(t arrow.DataType) (Dtype, bool) {
	t = layout.Storage(t)
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = layout.Storage(d.ValueType)
	}
	d, ok := numbers[t.ID()]
	return d, ok
}

// Tensor says where in a batch's memory a tensor lies.
type Tensor struct {
	Name   string
	Part   string // "": the column itself; else values, offsets or lengths of its lists
	Dtype  Dtype
	Shape  []int64
	Offset int64 // from the beginning of the batch's memory, a multiple of 64
}

// Bytes is what its elements occupy.
func (t Tensor) Bytes() int64 {
	n := int64(t.Dtype.Size())
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// align is what tensors and Arrow's buffers begin at multiples of.
const align = 64

func aligned(n int) int { return (n + align - 1) &^ (align - 1) }
