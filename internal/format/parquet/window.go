package parquet

import (
	"errors"
	"io"
)

// errShort says that a page ends before its values do.
var errShort = errors.New("page ends early")

// slack is how many bytes behind a window's last byte may be read (never
// used): word-wide loads need not look where the end is.
const slack = 16

// window is the part of a page's decompressed bytes that is at hand. A page
// held whole is one window that never moves; a streamed one is refilled from
// src. Its buffer has slack readable bytes behind its end.
type window struct {
	buf []byte    // bytes at hand
	pos int       // consumed
	src io.Reader // nil: buf is all there is
	ram []byte    // the buffer behind buf, where src is not nil
	err error     // what src said last
}

// whole makes a window over b, which must have slack capacity behind it.
func whole(b []byte) window { return window{buf: b} }

// streamed makes a window that reads src through ram.
func streamed(src io.Reader, ram []byte) window {
	return window{buf: ram[:0], src: src, ram: ram[:len(ram)-slack]}
}

// have is what can be consumed without reading.
func (w *window) have() []byte { return w.buf[w.pos:] }

// skip consumes n bytes of have.
func (w *window) skip(n int) { w.pos += n }

// need returns have with at least n bytes in it, or errShort when the page
// has not so many left. n must be small beside a streamed window's buffer.
func (w *window) need(n int) ([]byte, error) {
	for len(w.buf)-w.pos < n {
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
	return w.buf[w.pos:], nil
}

// some returns have with at least one byte in it, or errShort.
func (w *window) some() ([]byte, error) { return w.need(1) }

// fill reads more bytes behind those at hand.
func (w *window) fill() error {
	if w.src == nil {
		return errShort
	}
	if w.err != nil {
		return w.err
	}
	rest := copy(w.ram, w.buf[w.pos:])
	w.pos = 0
	w.buf = w.ram[:rest]
	if rest == len(w.ram) {
		return errors.New("a value's header is larger than the window")
	}
	n, err := w.src.Read(w.ram[rest:])
	w.buf = w.ram[:rest+n]
	switch {
	case err == io.EOF:
		w.err = errShort
	case err != nil:
		w.err = err
	}
	if n == 0 && w.err != nil {
		return w.err
	}
	return nil
}

// read consumes exactly len(dst) bytes into dst.
func (w *window) read(dst []byte) error {
	for {
		n := copy(dst, w.have())
		w.skip(n)
		if dst = dst[n:]; len(dst) == 0 {
			return nil
		}
		if w.src != nil && w.err == nil && len(dst) >= len(w.ram) {
			// Larger than the window: past it, straight into place.
			n, err := io.ReadFull(w.src, dst)
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				w.err = errShort
				return errShort
			}
			if err != nil {
				w.err = err
				return err
			}
			dst = dst[n:]
			if len(dst) == 0 {
				return nil
			}
		}
		if _, err := w.some(); err != nil {
			return err
		}
	}
}

// discard consumes n bytes.
func (w *window) discard(n int) error {
	for n > 0 {
		b, err := w.some()
		if err != nil {
			return err
		}
		k := min(n, len(b))
		w.skip(k)
		n -= k
	}
	return nil
}

// uvarint consumes a varint of at most 64 bits.
func (w *window) uvarint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := w.some()
		if err != nil {
			return 0, err
		}
		w.skip(1)
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("varint over 64 bits")
}

// varint consumes a zigzag varint.
func (w *window) varint() (int64, error) {
	u, err := w.uvarint()
	return int64(u>>1) ^ -int64(u&1), err
}
