package mds

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// room is where a value of several parts is put together. What finds no room
// is dropped, which is asked once.
type room struct {
	dst  []byte
	n    int
	full bool
}

func (r *room) put(p []byte) {
	if len(p) > len(r.dst)-r.n {
		r.full = true
		return
	}
	r.n += copy(r.dst[r.n:], p)
}

func (r *room) uint32(v uint32) { r.put(binary.LittleEndian.AppendUint32(nil, v)) }

// part puts one value of an array.
type part func(r *room, row int) error

// nested writes what was read from an encoding of several parts, whose type a
// has, as it was.
func nested(e encoding, a arrow.Array) value {
	var put part
	switch e.kind {
	case asPIL:
		put = images(a.(*array.Struct))
	case asArray, asAny:
		put = shaped(e, a.(*array.Struct))
	default:
		put = lists(e, a.(*array.List))
	}
	return func(dst []byte, row int) (int, error) {
		r := room{dst: dst}
		if err := put(&r, row); err != nil {
			return -1, err
		}
		if r.full {
			return -1, nil
		}
		return r.n, nil
	}
}

func images(s *array.Struct) part {
	width, height := s.Field(0).(*array.Uint32), s.Field(1).(*array.Uint32)
	mode, data := s.Field(2).(*array.String), s.Field(3).(*array.Binary)
	return func(r *room, row int) error {
		r.uint32(width.Value(row))
		r.uint32(height.Value(row))
		r.uint32(uint32(len(mode.Value(row))))
		r.put([]byte(mode.Value(row)))
		r.put(data.Value(row))
		return nil
	}
}

func lists(e encoding, l *array.List) part {
	var put part
	if e.kind == asPILList {
		put = images(l.ListValues().(*array.Struct))
	} else {
		items := l.ListValues().(*array.Binary)
		put = func(r *room, i int) error {
			r.put(items.Value(i))
			return nil
		}
	}
	return func(r *room, row int) error {
		from, to := l.ValueOffsets(row)
		if e.kind != asImages {
			r.uint32(0)
		}
		r.uint32(uint32(to - from))
		sizes := r.n
		r.put(make([]byte, 4*(to-from)))
		for i := from; i < to && !r.full; i++ {
			begun := r.n
			if err := put(r, int(i)); err != nil {
				return err
			}
			binary.LittleEndian.PutUint32(r.dst[sizes+4*int(i-from):], uint32(r.n-begun))
		}
		return nil
	}
}

// shaped writes arrays of any shape, and of any type where that is not fixed.
func shaped(e encoding, s *array.Struct) part {
	if e.kind == asArray {
		l := s.Field(1).(*array.List)
		numbers := numberBytes(l.ListValues(), e.width)
		return func(r *room, row int) error {
			from, to := l.ValueOffsets(row)
			return putArray(r, s.Field(0).(*array.List), row, e.width, numbers[int(from)*e.width:int(to)*e.width])
		}
	}
	types, data := s.Field(0).(*array.String), s.Field(2).(*array.Binary)
	return func(r *room, row int) error {
		d, ok := dtypeNamed(types.Value(row))
		if !ok {
			return fmt.Errorf("an array of %q", types.Value(row))
		}
		r.put([]byte{d.code})
		return putArray(r, s.Field(1).(*array.List), row, d.width(), data.Value(row))
	}
}

// putArray puts a shape, in as few bytes as it takes, and the numbers.
func putArray(r *room, shapes *array.List, row, width int, data []byte) error {
	from, to := shapes.ValueOffsets(row)
	dims := shapes.ListValues().(*array.Int64).Int64Values()[from:to]
	size, largest := uint64(width), uint64(0)
	for _, d := range dims {
		if d < 0 || d > 1<<32 || size > 1<<31 {
			return fmt.Errorf("an array of shape %v", dims)
		}
		size *= uint64(d)
		largest = max(largest, uint64(d))
	}
	if size != uint64(len(data)) || len(dims) > 63 {
		return fmt.Errorf("an array of shape %v with %d bytes", dims, len(data))
	}
	k := shapeWidth(largest)
	r.put([]byte{byte(len(dims)<<2 | k)})
	for _, d := range dims {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(d))
		r.put(word[:1<<k])
	}
	r.put(data)
	return nil
}

// shapeWidth is the k of the smallest unsigned number of 2^k bytes that holds
// n.
func shapeWidth(n uint64) int {
	k := 0
	for k < 3 && n>>(8<<k) != 0 {
		k++
	}
	return k
}
