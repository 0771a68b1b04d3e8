package tensor

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
)

const (
	// tile is the bytes of rows that stay in the first cache while one column
	// after the other fills them. Of wide rows only the cache lines that are
	// being filled need to stay: few rows are enough.
	tile = 24 << 10
	few  = 64
)

// fill makes rows of t of rec.
func (l *Layout) fill(t *target, at int, rec arrow.RecordBatch) error {
	n := int(rec.NumRows())
	if err := t.within(at, n); err != nil {
		return err
	}
	if err := l.suits(rec); err != nil {
		return err
	}
	block := min(most, max(few, tile/l.row))
	size := l.dtype.Size()
	for from := 0; from < n; from += block {
		k := min(block, n-from)
		for i := range l.features {
			f := &l.features[i]
			c := cells{t.x[(at+from)*t.xStep+f.at*size:], t.xStep, f.width, f.dtype}
			if err := f.read(c, rec.Column(f.index), from, k); err != nil {
				return err
			}
		}
		if l.label == nil {
			continue
		}
		c := cells{t.y[(at+from)*t.yStep:], t.yStep, 1, l.label.dtype}
		if err := l.label.read(c, rec.Column(l.label.index), from, k); err != nil {
			return err
		}
	}
	return nil
}

// suits says no to a record of another schema.
func (l *Layout) suits(rec arrow.RecordBatch) error {
	check := func(f *feature) error {
		if f.index >= int(rec.NumCols()) || !arrow.TypeEqual(rec.Column(f.index).DataType(), f.typ) {
			return format.Error(format.ErrData, "column %q: the batch is of another schema", f.name)
		}
		return nil
	}
	for i := range l.features {
		if err := check(&l.features[i]); err != nil {
			return err
		}
	}
	if l.label == nil {
		return nil
	}
	return check(l.label)
}

// read converts n rows of a column from from on.
func (f *feature) read(c cells, a arrow.Array, from, n int) error {
	if ext, ok := a.(array.ExtensionArray); ok {
		return f.read(c, ext.Storage(), from, n)
	}
	if dict, ok := a.(*array.Dictionary); ok {
		return f.look(c, dict, from, n)
	}
	if a.NullN() != 0 && !f.dtype.Floating() {
		for i := range n {
			if a.IsNull(from + i) {
				return f.missing(from + i)
			}
		}
	}
	if list, ok := a.(*array.FixedSizeList); ok {
		child, first := list.ListValues(), (a.Data().Offset()+from)*f.width
		if first+n*f.width > child.Len() {
			return format.Error(format.ErrData, "column %q: lists have fewer values than they should", f.name)
		}
		if err := values(c, child, first, n*f.width); err != nil {
			return err
		}
		blankNulls(c, child, first, n*f.width, 1)
	} else if err := values(c, a, from, n); err != nil {
		return f.wrong(err, from)
	}
	blankNulls(c, a, from, n, f.width)
	return nil
}

// blankNulls makes the nulls of n values NaN, each of which is width elements.
func blankNulls(c cells, a arrow.Array, from, n, width int) {
	if a.NullN() == 0 {
		return
	}
	for i := range n {
		if a.IsNull(from + i) {
			c.from(i * width).blank(width)
		}
	}
}

// missing is the error of a label without a value.
func (f *feature) missing(row int) error {
	return format.Error(format.ErrData,
		`column %q: row %d is null, which int64 has no value for; use label_dtype="float32", or fill it with weir prepare`, f.name, row)
}

// wrong says where a value that cannot be converted lies.
func (f *feature) wrong(err error, from int) error {
	var bad *wholeError
	if errors.As(err, &bad) {
		return format.Error(format.ErrData, "column %q: row %d: %w", f.name, from+bad.row, err)
	}
	return format.Error(format.ErrData, "column %q: %w", f.name, err)
}

// look converts rows of a dictionary.
func (f *feature) look(c cells, a *array.Dictionary, from, n int) error {
	dict := a.Dictionary()
	for i := range n {
		row, at := from+i, -1
		if a.IsValid(row) {
			at = a.GetValueIndex(row)
			if uint(at) >= uint(dict.Len()) {
				return format.Error(format.ErrData, "column %q: row %d: entry %d of a dictionary of %d", f.name, row, at, dict.Len())
			}
		}
		cell := c.from(i)
		switch {
		case at >= 0 && dict.IsValid(at):
			if err := values(cell, dict, at, 1); err != nil {
				return f.wrong(err, row)
			}
		case f.dtype.Floating():
			cell.blank(1)
		default:
			return f.missing(row)
		}
	}
	return nil
}

// values converts n values of a column of numbers.
func values(c cells, a arrow.Array, from, n int) error {
	to := from + n
	switch a := a.(type) {
	case *array.Float64:
		return put(c, a.Float64Values()[from:to])
	case *array.Float32:
		return put(c, a.Float32Values()[from:to])
	case *array.Int64:
		return put(c, a.Int64Values()[from:to])
	case *array.Int32:
		return put(c, a.Int32Values()[from:to])
	case *array.Int16:
		return put(c, a.Int16Values()[from:to])
	case *array.Int8:
		return put(c, a.Int8Values()[from:to])
	case *array.Uint64:
		return put(c, a.Uint64Values()[from:to])
	case *array.Uint32:
		return put(c, a.Uint32Values()[from:to])
	case *array.Uint16:
		return put(c, a.Uint16Values()[from:to])
	case *array.Uint8:
		return put(c, a.Uint8Values()[from:to])
	case array.ExtensionArray:
		return values(c, a.Storage(), from, n)
	}
	return spread(c, a, from, n)
}

// spread converts values that are computed with more bits than they lie in, a
// piece at a time that is within a row or has one element a row.
func spread(c cells, a arrow.Array, from, n int) error {
	for i := 0; i < n; {
		piece, k := c.from(i), n
		if c.width > 1 {
			k = min(most, c.width-i%c.width)
			piece.width = k
		}
		var err error
		switch a := a.(type) {
		case *array.Boolean:
			var tmp [most]uint8
			unpack(tmp[:k], a.Data().Buffers()[1].Bytes(), a.Data().Offset()+from+i)
			err = put(piece, tmp[:k])
		case *array.Float16:
			var tmp [most]float32
			for j, h := range arrow.GetData[uint16](a.Data().Buffers()[1].Bytes())[a.Data().Offset()+from+i:][:k] {
				tmp[j] = unhalf(h)
			}
			err = put(piece, tmp[:k])
		default:
			err = errors.New(a.DataType().String() + " is not a number")
		}
		if err != nil {
			return err
		}
		i += k
	}
	return nil
}

// unpack makes bytes of the bits from at on.
func unpack(dst, bits []byte, at int) {
	for i := range dst {
		dst[i] = bits[(at+i)>>3] >> ((at + i) & 7) & 1
	}
}
