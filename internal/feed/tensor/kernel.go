package tensor

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// plain is the numbers that columns are made of; bools come as uint8, float16 as
// float32.
type plain interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// most is the rows that go through the columns together.
const most = 256

// cells is where one column's elements of up to most rows go.
type cells struct {
	dst   []byte // from the first element on
	step  int    // bytes from row to row
	width int    // elements of a row
	dtype Dtype
}

// from is the cells from the i-th element on.
func (c cells) from(i int) cells {
	c.dst = c.dst[i/c.width*c.step+i%c.width*c.dtype.Size():]
	return c
}

// put converts v, width values a row, to where they belong.
func put[S plain](c cells, v []S) error {
	switch c.dtype {
	case Float32:
		scatter(arrow.GetData[float32](c.dst), c.step/4, c.width, v)
	case Float64:
		scatter(arrow.GetData[float64](c.dst), c.step/8, c.width, v)
	case Float16, BFloat16:
		shorten(arrow.GetData[uint16](c.dst), c.step/2, c.width, v, c.dtype)
	default:
		return whole(arrow.GetData[int64](c.dst), c.step/8, v)
	}
	return nil
}

// scatter writes v in rows of width elements that begin every step elements.
func scatter[S plain, D float32 | float64](dst []D, step, width int, v []S) {
	if width == 1 {
		at := 0
		for _, x := range v {
			dst[at] = D(x)
			at += step
		}
		return
	}
	if same, ok := any(v).([]D); ok {
		for at := 0; len(same) >= width; at += step {
			copy(dst[at:at+width], same)
			same = same[width:]
		}
		return
	}
	for at := 0; len(v) >= width; at += step {
		row := dst[at : at+width]
		for i, x := range v[:width] {
			row[i] = D(x)
		}
		v = v[width:]
	}
}

// shorten is scatter to numbers of 16 bits. Every number is rounded once.
func shorten[S plain](dst []uint16, step, width int, v []S, to Dtype) {
	var tmp [most]float32
	round := roundHalf
	if to == BFloat16 {
		round = roundBrain
	}
	if width == 1 {
		widen(tmp[:len(v)], v)
		round(dst, step, tmp[:len(v)])
		return
	}
	for i := 0; i < len(v); {
		n := min(most, width-i%width)
		widen(tmp[:n], v[i:i+n])
		round(dst[i/width*step+i%width:], 1, tmp[:n])
		i += n
	}
}

func roundHalf(dst []uint16, step int, v []float32) {
	at := 0
	for _, f := range v {
		// half for numbers that float16 has all bits of
		b := math.Float32bits(f)
		if m := b & 0x7fffffff; m-0x38800000 < 0x47800000-0x38800000 {
			dst[at] = uint16(b>>16)&0x8000 | uint16((m-0x38000000+0xfff+m>>13&1)>>13)
		} else {
			dst[at] = half(f)
		}
		at += step
	}
}

func roundBrain(dst []uint16, step int, v []float32) {
	at := 0
	for _, f := range v {
		dst[at] = brain(f)
		at += step
	}
}

// widen makes float32 of v that can be rounded once more.
func widen[S plain](dst []float32, v []S) {
	switch v := any(v).(type) {
	case []float32:
		copy(dst, v)
		return
	case []int64:
		for i, x := range v {
			switch {
			case -1<<53 < x && x < 1<<53:
				dst[i] = cut32(math.Float64bits(float64(x)))
			case x < 0:
				dst[i] = odd32(-odd64(-uint64(x)))
			default:
				dst[i] = odd32(odd64(uint64(x)))
			}
		}
		return
	case []uint64:
		for i, x := range v {
			dst[i] = odd32(odd64(x))
		}
		return
	}
	dst = dst[:len(v)]
	for i, x := range v {
		f := float64(x) // which has all values of all other types
		if u := math.Float64bits(f); u<<1 >= smallest32 {
			dst[i] = cut32(u)
		} else {
			dst[i] = odd32(f)
		}
	}
}

// whole writes labels as integers, every step elements. A value that int64 has
// not is a wholeError.
func whole[S plain](dst []int64, step int, v []S) error {
	one := S(1)
	fractions := one/2 != 0
	at := 0
	for i, x := range v {
		n := int64(x)
		// What int64 makes of numbers beyond it differs from machine to machine.
		if S(n) != x || (n < 0) != (x < 0) || fractions && n == math.MaxInt64 {
			return &wholeError{i, fmt.Sprint(x)}
		}
		dst[at] = n
		at += step
	}
	return nil
}

// wholeError is a label that int64 has not.
type wholeError struct {
	row   int // of those given
	value string
}

func (e *wholeError) Error() string {
	return e.value + ` is not an int64; use label_dtype="float32"`
}

// blank makes n elements NaN.
func (c cells) blank(n int) {
	for i := range n {
		switch dst := c.from(i).dst; c.dtype {
		case Float32:
			arrow.GetData[float32](dst)[0] = float32(math.NaN())
		case Float64:
			arrow.GetData[float64](dst)[0] = math.NaN()
		case Float16:
			arrow.GetData[uint16](dst)[0] = 0x7e00
		case BFloat16:
			arrow.GetData[uint16](dst)[0] = 0x7fc0
		}
	}
}
