package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

var errIndex = errors.New("dictionary index out of range")

// hybrid reads Parquet's mix of runs and bit-packed groups: levels,
// dictionary indices and RLE booleans. left values of the current run remain;
// a packed run's next value begins bit bits into the window.
type hybrid struct {
	w      *window
	width  uint
	left   int
	packed bool
	value  uint32
	bit    uint
}

// newHybrid reads values of width bits (at most 32) from w.
func newHybrid(w *window, width uint) (hybrid, error) {
	if width > 32 {
		return hybrid{}, fmt.Errorf("bit width %d over 32", width)
	}
	return hybrid{w: w, width: width}, nil
}

// run makes sure that the current run has a value left.
func (h *hybrid) run() error {
	for h.left == 0 {
		if h.packed {
			// A packed run ends on a byte: groups hold eight values.
			h.packed = false
			if h.bit > 0 {
				h.w.skip(1)
				h.bit = 0
			}
		}
		u, err := h.w.uvarint()
		if err != nil {
			return err
		}
		if u > 1<<32 {
			return fmt.Errorf("run header %d is too large", u)
		}
		h.left = int(u >> 1)
		if u&1 == 1 {
			h.left *= 8
			h.packed, h.bit = true, 0
			if h.width == 0 {
				h.packed, h.value = false, 0
			}
			continue
		}
		k := int(h.width+7) / 8
		b, err := h.w.need(k)
		if err != nil {
			return err
		}
		h.value = 0
		for i := range k {
			h.value |= uint32(b[i]) << (8 * i)
		}
		if h.width < 32 && h.value>>h.width != 0 {
			return fmt.Errorf("run value %d has more than %d bits", h.value, h.width)
		}
		h.w.skip(k)
	}
	return nil
}

// span returns the bytes of a packed run, with slack, and how many of the
// wanted values lie in them whole; at least one. The last group of a page may
// be cut short by writers that do not pad it.
func (h *hybrid) span(want int) ([]byte, int, error) {
	one := int(h.bit+h.width+7) / 8
	b, err := h.w.need(one)
	if err != nil {
		return nil, 0, err
	}
	n := min(want, h.left, (len(b)*8-int(h.bit))/int(h.width))
	return b[:cap(b)], n, nil
}

// took consumes n packed values.
func (h *hybrid) took(n int) {
	h.left -= n
	h.bit += uint(n) * h.width
	h.w.skip(int(h.bit >> 3))
	h.bit &= 7
}

// fillHybrid reads len(dst) values.
func fillHybrid[T uint8 | uint32](h *hybrid, dst []T) error {
	for len(dst) > 0 {
		if err := h.run(); err != nil {
			return err
		}
		n := min(len(dst), h.left)
		if h.packed {
			b, k, err := h.span(n)
			if err != nil {
				return err
			}
			n = k
			unpack(dst[:n], b, h.bit, h.width)
			h.took(n)
		} else {
			v := T(h.value)
			for i := range dst[:n] {
				dst[i] = v
			}
			h.left -= n
		}
		dst = dst[n:]
	}
	return nil
}

// gatherHybrid reads len(dst) indices and writes what dict holds there.
func gatherHybrid[T number](h *hybrid, dst, dict []T) error {
	for len(dst) > 0 {
		if err := h.run(); err != nil {
			return err
		}
		n := min(len(dst), h.left)
		if h.packed {
			b, k, err := h.span(n)
			if err != nil {
				return err
			}
			n = k
			if !gather(dst[:n], dict, b, h.bit, h.width) {
				return errIndex
			}
			h.took(n)
		} else {
			if int(h.value) >= len(dict) {
				return errIndex
			}
			v := dict[h.value]
			for i := range dst[:n] {
				dst[i] = v
			}
			h.left -= n
		}
		dst = dst[n:]
	}
	return nil
}

// bitmap reads n one-bit values into m, from bit at on, where m is zero, and
// returns how many are set.
func (h *hybrid) bitmap(m []byte, at, n int) (int, error) {
	ones := 0
	for n > 0 {
		if h.left == 0 {
			done, set := h.shortRuns(m, at, n)
			at, n, ones = at+done, n-done, ones+set
			if n == 0 {
				break
			}
		}
		if err := h.run(); err != nil {
			return 0, err
		}
		k := min(n, h.left)
		if h.packed {
			b, got, err := h.span(k)
			if err != nil {
				return 0, err
			}
			k = got
			ones += orBits(m, at, b, int(h.bit), k)
			h.took(k)
		} else {
			if h.value == 1 {
				setBits(m, at, k)
				ones += k
			}
			h.left -= k
		}
		at += k
		n -= k
	}
	return ones, nil
}

// shortRuns is bitmap for runs with one-byte headers that lie whole in the
// window and of which all values are wanted: what nulls here and there give.
func (h *hybrid) shortRuns(m []byte, at, n int) (done, ones int) {
	src := h.w.have()
	pos := 0
	acc, have := uint64(m[at>>3])&(1<<(at&7)-1), uint(at&7) // bits not yet stored
	out := at >> 3
	for pos+9 <= len(src) && src[pos] < 0x80 {
		run := int(src[pos] >> 1)
		if src[pos]&1 == 0 {
			if run > n-done || run == 0 || src[pos+1] > 1 {
				break
			}
			v := -uint64(src[pos+1])
			ones += run & int(v)
			pos += 2
			done += run
			for run > 0 {
				k := min(run, 56-int(have))
				acc |= v & (1<<k - 1) << have
				have += uint(k)
				run -= k
				out, acc, have = flushBits(m, out, acc, have)
			}
			continue
		}
		// Packed: at most seven groups here, so that one load takes them.
		if run > 6 || run == 0 || run*8 > n-done {
			break
		}
		v := binary.LittleEndian.Uint64(src[pos+1:]) & (1<<(8*run) - 1)
		ones += bits.OnesCount64(v)
		acc |= v << have
		have += uint(8 * run)
		out, acc, have = flushBits(m, out, acc, have)
		pos += 1 + run
		done += 8 * run
	}
	if have > 0 {
		m[out] |= byte(acc)
	}
	h.w.skip(pos)
	h.packed = false
	return done, ones
}

// flushBits stores the whole bytes of acc at m[out:] and keeps the rest. The
// bytes behind them are zeroed.
func flushBits(m []byte, out int, acc uint64, have uint) (int, uint64, uint) {
	binary.LittleEndian.PutUint64(m[out:], acc)
	whole := have >> 3
	return out + int(whole), acc >> (8 * whole), have & 7
}

// constant returns how many of the next values are known, without reading
// them, to be v: the rest of a run. Zero where a packed run is next.
func (h *hybrid) constant(v uint32) (int, error) {
	if err := h.run(); err != nil {
		return 0, err
	}
	if h.packed || h.value != v {
		return 0, nil
	}
	return h.left, nil
}
