package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// shape is how a column's values lie in an Arrow array.
type shape uint8

const (
	fixedShape shape = iota // values of one width
	bitShape                // booleans, a bit each
	byteShape               // offsets and bytes
)

// convert rewrites n physical values as Arrow has them.
type convert func(dst, src []byte, n int) error

// target is what a leaf's values become.
type target struct {
	shape shape
	phys  int     // bytes of a value as stored; 0: they vary
	width int     // bytes of a value in the array; 1 for booleans on their way to bits
	conv  convert // nil: as stored
}

// targetOf says how the values of leaf become its Arrow type.
func targetOf(leaf *meta.Leaf) (target, error) {
	typ := leaf.Node.Field.Type
	_, isDec128 := typ.(*arrow.Decimal128Type)
	_, isDec256 := typ.(*arrow.Decimal256Type)
	switch leaf.Type {
	case meta.Boolean:
		return target{shape: bitShape, phys: 1, width: 1}, nil
	case meta.Int32, meta.Float:
		return int32Target(typ), nil
	case meta.Int64, meta.Double:
		if isDec128 {
			return target{phys: 8, width: 16, conv: int64ToDecimal}, nil
		}
		return target{phys: 8, width: 8}, nil
	case meta.Int96:
		return target{phys: 12, width: 8, conv: int96ToNanos}, nil
	case meta.FixedLenByteArray:
		switch {
		case isDec128 && leaf.Width <= 16:
			return target{phys: leaf.Width, width: 16, conv: bigEndian(leaf.Width, 16)}, nil
		case isDec256 && leaf.Width <= 32:
			return target{phys: leaf.Width, width: 32, conv: bigEndian(leaf.Width, 32)}, nil
		case isDec128 || isDec256 || leaf.Width <= 0:
			return target{}, fmt.Errorf("values of %d bytes as %s", leaf.Width, typ)
		}
		return target{phys: leaf.Width, width: leaf.Width}, nil
	case meta.ByteArray:
		switch {
		case isDec128:
			return target{width: 16}, nil
		case isDec256:
			return target{width: 32}, nil
		}
		return target{shape: byteShape}, nil
	}
	return target{}, fmt.Errorf("physical type %s", leaf.Type)
}

func int32Target(typ arrow.DataType) target {
	switch typ.ID() {
	case arrow.INT8, arrow.UINT8:
		return target{phys: 4, width: 1, conv: narrow(1)}
	case arrow.INT16, arrow.UINT16:
		return target{phys: 4, width: 2, conv: narrow(2)}
	case arrow.DECIMAL128:
		return target{phys: 4, width: 16, conv: int32ToDecimal}
	}
	return target{phys: 4, width: 4}
}

// narrow keeps the low bytes of four.
func narrow(width int) convert {
	return func(dst, src []byte, n int) error {
		from := view[uint32](src)[:n]
		if width == 1 {
			dst = dst[:n]
			for i, x := range from {
				dst[i] = byte(x)
			}
			return nil
		}
		to := view[uint16](dst)[:n]
		for i, x := range from {
			to[i] = uint16(x)
		}
		return nil
	}
}

func int32ToDecimal(dst, src []byte, n int) error {
	for i := range n {
		putDecimal(dst[i*16:], int64(int32(binary.LittleEndian.Uint32(src[i*4:]))))
	}
	return nil
}

func int64ToDecimal(dst, src []byte, n int) error {
	for i := range n {
		putDecimal(dst[i*16:], int64(binary.LittleEndian.Uint64(src[i*8:])))
	}
	return nil
}

func putDecimal(dst []byte, v int64) {
	binary.LittleEndian.PutUint64(dst, uint64(v))
	binary.LittleEndian.PutUint64(dst[8:], uint64(v>>63))
}

// bigEndian turns two's complement numbers of from bytes, highest first, into
// ones of to bytes, lowest first.
func bigEndian(from, to int) convert {
	return func(dst, src []byte, n int) error {
		for i := range n {
			putBigEndian(dst[i*to:(i+1)*to], src[i*from:(i+1)*from])
		}
		return nil
	}
}

func putBigEndian(dst, src []byte) {
	var sign byte
	if len(src) > 0 && src[0] >= 0x80 {
		sign = 0xff
	}
	for j := range dst {
		if j < len(src) {
			dst[j] = src[len(src)-1-j]
		} else {
			dst[j] = sign
		}
	}
}

// int96ToNanos reads nanoseconds of the day and a Julian day number; 2440588
// is that of 1970-01-01. Days outside what 64 bits hold wrap, as in pyarrow.
func int96ToNanos(dst, src []byte, n int) error {
	for i := range n {
		nanos := binary.LittleEndian.Uint64(src[i*12:])
		day := int64(binary.LittleEndian.Uint32(src[i*12+8:]))
		v := uint64(day-2440588)*(86400*1e9) + nanos
		binary.LittleEndian.PutUint64(dst[i*8:], v)
	}
	return nil
}

// converted applies conv to what inner reads.
type converted struct {
	inner       values
	phys, width int
	conv        convert
	tmp         [1024]uint64 // words, so that inner may view them
}

func (c *converted) fixed(dst []byte, n int) error {
	tmp := bytesOf(c.tmp[:])
	per := len(tmp) / c.phys
	if per == 0 {
		return fmt.Errorf("values of %d bytes", c.phys)
	}
	for n > 0 {
		k := min(n, per)
		if err := c.inner.fixed(tmp, k); err != nil {
			return err
		}
		if err := c.conv(dst, tmp, k); err != nil {
			return err
		}
		dst, n = dst[k*c.width:], n-k
	}
	return nil
}

func (c *converted) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }

// decimalBytes reads decimals that are stored with varying lengths.
type decimalBytes struct {
	inner values
	width int
}

func (d *decimalBytes) fixed(dst []byte, n int) error {
	var offsets [65]int32
	var data [64*32 + slack]byte
	for n > 0 {
		c := byteColumn{offsets: offsets[:], data: data[:64*32]}
		k, err := d.inner.bytes(&c, min(n, 64))
		if err != nil {
			return err
		}
		if k == 0 {
			return fmt.Errorf("decimal of %d bytes", c.wants)
		}
		for i := range k {
			v := c.data[offsets[i]:offsets[i+1]]
			if len(v) > d.width {
				return fmt.Errorf("decimal of %d bytes, its precision allows %d", len(v), d.width)
			}
			putBigEndian(dst[i*d.width:(i+1)*d.width], v)
		}
		dst, n = dst[k*d.width:], n-k
	}
	return nil
}

func (d *decimalBytes) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }
