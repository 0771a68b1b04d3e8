package codec

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// fromBuffer is the input DecompressFrom holds.
	fromBuffer = 64 << 10
	// fromLook is what it reads along with a long literal: the tag behind it.
	fromLook = 512
)

// snappyInput is the part of a block that was read but not decoded: buf[s:n].
// want is how much to read next: little where long literals follow each other,
// for those are read straight to where they belong.
type snappyInput struct {
	src  io.Reader
	buf  []byte
	s, n int
	want int
	done bool // src has ended
}

// fill reads more; it does nothing at the end of src.
func (in *snappyInput) fill() error {
	in.n = copy(in.buf, in.buf[in.s:in.n])
	in.s = 0
	for !in.done && in.n < fastRead {
		n, err := in.src.Read(in.buf[in.n:min(len(in.buf), in.n+in.want)])
		in.n += n
		in.want = min(4*in.want, len(in.buf))
		if err == io.EOF {
			in.done = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// literal moves n bytes to dst[d:].
func (in *snappyInput) literal(dst []byte, d, n int) error {
	k := copy(dst[d:d+n], in.buf[in.s:in.n])
	in.s += k
	if k == n {
		return nil
	}
	// The rest, and the next tag for now behind it.
	at, end := d+k, d+n
	look := dst[at:min(len(dst), end+fromLook)]
	got, err := io.ReadAtLeast(in.src, look, end-at)
	if err != nil {
		return err
	}
	in.s, in.n = 0, copy(in.buf, look[end-at:got])
	in.want = fromLook
	return nil
}

// DecompressFrom is Decompress for snappy blocks that src gives in pieces: all
// of dst may be copied from, but only a little of the input is held. src ends
// where the block does; its errors come back unchanged.
func (d *Decoder) DecompressFrom(dst []byte, src io.Reader) error {
	if d.input.buf == nil {
		d.input = snappyInput{buf: make([]byte, fromBuffer), want: fromBuffer}
	}
	in := &d.input
	in.src, in.s, in.n, in.done = src, 0, 0, false
	err := in.decode(dst[:len(dst):len(dst)])
	in.src = nil
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = Snappy.damage(err)
	}
	return err
}

func (in *snappyInput) decode(dst []byte) error {
	if err := in.fill(); err != nil {
		return err
	}
	if in.n == 0 && len(dst) == 0 {
		return nil
	}
	size, n := binary.Uvarint(in.buf[:in.n])
	if n <= 0 || n > 5 {
		return errSnappyHeader
	}
	if size != uint64(len(dst)) {
		return wrongSize(Snappy, int(size), len(dst))
	}
	in.s = n
	d := 0
	for {
		if d >= fastStart {
			d, in.s = snappyFast(dst, in.buf[:in.n], d, in.s)
		}
		if in.n-in.s < fastRead && !in.done {
			if err := in.fill(); err != nil {
				return err
			}
		}
		if in.s == in.n {
			break
		}
		lit, n, off, used := snappyElement(in.buf[in.s:in.n])
		in.s += used
		switch {
		case used == 0:
			return io.ErrUnexpectedEOF
		case lit > 0:
			if lit > len(dst)-d {
				return fmt.Errorf("snappy: more than %d bytes", len(dst))
			}
			if err := in.literal(dst, d, lit); err != nil {
				return err
			}
		default:
			if err := snappyCopy(dst, d, off, n); err != nil {
				return err
			}
		}
		d += lit + n
	}
	if d < len(dst) {
		return fmt.Errorf("snappy: %d bytes, want %d: %w", d, len(dst), io.ErrUnexpectedEOF)
	}
	return nil
}
