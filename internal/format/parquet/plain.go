package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// values decodes the values of one page. A page's nulls are not among them.
type values interface {
	// fixed writes n values of the page's physical width to dst.
	fixed(dst []byte, n int) error
	// bytes appends up to n values to c and returns how many there was room
	// for. A value that alone is larger than c's room is left in c.wants.
	bytes(c *byteColumn, n int) (int, error)
}

// byteColumn collects values of varying length: offsets[n] is the end of
// value n-1 in data.
type byteColumn struct {
	offsets []int32 // capacity+1
	data    []byte  // capacity, with slack behind it
	n       int     // values in it
	end     int     // bytes in it
	wants   int     // bytes that the value lacks which did not fit
}

// room says whether another value of size bytes fits.
func (c *byteColumn) room(size int) bool {
	if c.n+1 < len(c.offsets) && size <= len(c.data)-c.end {
		return true
	}
	c.wants = size
	return false
}

// plainFixed reads values that stand one after the other.
type plainFixed struct {
	w     *window
	width int
}

func (p plainFixed) fixed(dst []byte, n int) error { return p.w.read(dst[:n*p.width]) }

func (p plainFixed) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }

// plainBytes reads values that stand behind their lengths.
type plainBytes struct{ w *window }

func (p plainBytes) fixed([]byte, int) error { return errNotFixed }

func (p plainBytes) bytes(c *byteColumn, n int) (int, error) {
	done := 0
	for done < n {
		k, err := p.near(c, n-done)
		if err != nil {
			return done, err
		}
		if done += k; done == n {
			break
		}
		// The next value is not whole in the window, or does not fit.
		b, err := p.w.need(4)
		if err != nil {
			return done, err
		}
		size := int(binary.LittleEndian.Uint32(b))
		if size > maxValue {
			return done, fmt.Errorf("value of %d bytes", size)
		}
		if !c.room(size) {
			return done, nil
		}
		p.w.skip(4)
		if err := p.w.read(c.data[c.end : c.end+size]); err != nil {
			return done, err
		}
		c.end += size
		c.n++
		c.offsets[c.n] = int32(c.end)
		done++
	}
	return done, nil
}

// near takes the values that lie whole in the window and fit c.
func (p plainBytes) near(c *byteColumn, n int) (int, error) {
	src := p.w.have()
	at, end := 0, c.end
	n = min(n, len(c.offsets)-1-c.n)
	offsets := c.offsets[c.n+1 : c.n+1+n]
	room := len(c.data)
	data := c.data[:cap(c.data)]
	i := 0
	for ; i < len(offsets); i++ {
		if at+4 > len(src) {
			break
		}
		size := int(binary.LittleEndian.Uint32(src[at:]))
		if size > len(src)-at-4 || size > room-end {
			break
		}
		at += 4
		if size <= 16 && at+16 <= cap(src) {
			// A wide move: both sides have slack behind them.
			copy16(data[end:], src[at:cap(src)])
		} else {
			copy(data[end:end+size], src[at:])
		}
		at += size
		end += size
		offsets[i] = int32(end)
	}
	p.w.skip(at)
	c.n += i
	c.end = end
	return i, nil
}

// copy16 moves sixteen bytes.
func copy16(dst, src []byte) {
	_, _ = dst[15], src[15]
	binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src))
	binary.LittleEndian.PutUint64(dst[8:], binary.LittleEndian.Uint64(src[8:]))
}

// maxValue is the largest single value: Arrow's offsets are 32 bits.
const maxValue = 1<<31 - 1

var errNotFixed = errors.New("values of varying length in a fixed-size column")

// plainBits reads booleans, eight to a byte, one byte a value out.
type plainBits struct {
	w   *window
	bit uint
}

func (p *plainBits) fixed(dst []byte, n int) error {
	for i := range dst[:n] {
		b, err := p.w.some()
		if err != nil {
			return err
		}
		dst[i] = b[0] >> p.bit & 1
		if p.bit++; p.bit == 8 {
			p.w.skip(1)
			p.bit = 0
		}
	}
	return nil
}

func (p *plainBits) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }

var errNotBytes = errors.New("fixed-size values in a byte column")

// rleBits reads booleans as runs, one byte a value out.
type rleBits struct{ h hybrid }

func (r *rleBits) fixed(dst []byte, n int) error       { return fillHybrid(&r.h, dst[:n]) }
func (r *rleBits) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }
