package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
)

// gzipState is what decoding gzip takes beside a window.
const gzipState = 4*(litSize+distSize) + 4<<10

// Flags of a member's header say what else it has.
const (
	gzipHeaderSum = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4

	gzipHeader  = 10
	gzipTrailer = 8
)

var (
	errGzipHeader = errors.New("header is damaged or of an unknown kind")
	errGzipSum    = errors.New("checksum differs")
)

// gzipElements decodes gzip members one after another, RFC 1952. Zeros may
// follow the last, as tapes have them. Call begin first.
type gzipElements struct {
	inflate
	inMember bool
	members  int
	sum      uint32
	size     uint32
	header   uint32 // checksum of a header
}

func (g *gzipElements) begin() { g.inMember, g.members = false, 0 }

func (g *gzipElements) decode(w *window) error {
	for {
		if !g.inMember {
			if err := g.next(w); err != nil {
				return err
			}
		}
		from := w.wr
		ended, err := g.inflate.decode(w)
		if err != nil {
			return err
		}
		g.sum = crc32.Update(g.sum, crc32.IEEETable, w.buf[from:w.wr])
		g.size += uint32(w.wr - from)
		if !ended {
			return nil
		}
		if err := g.trailer(w); err != nil {
			return err
		}
		g.inMember = false
	}
}

// next reads the header of a member; io.EOF comes behind the last.
func (g *gzipElements) next(w *window) error {
	have, err := w.need(gzipHeader)
	if err != nil {
		return err
	}
	if g.members > 0 && (have == 0 || w.in[w.r] == 0) {
		return zerosToEnd(w)
	}
	if magic := min(have, len(magicGzip)); string(w.in[w.r:w.r+magic]) != magicGzip[:magic] {
		return errGzipHeader
	}
	if have < gzipHeader {
		return io.ErrUnexpectedEOF
	}
	flags := w.in[w.r+3]
	g.header = 0
	if err := g.pass(w, gzipHeader); err != nil {
		return err
	}
	if err := g.fields(w, flags); err != nil {
		return err
	}
	g.inflate.reset()
	w.lo = w.wr
	g.inMember, g.sum, g.size = true, 0, 0
	g.members++
	return nil
}

// fields passes over what a header may have.
func (g *gzipElements) fields(w *window, flags byte) error {
	if flags&gzipExtra != 0 {
		have, err := w.need(2)
		if err != nil {
			return err
		}
		if have < 2 {
			return io.ErrUnexpectedEOF
		}
		if err := g.pass(w, 2+int(binary.LittleEndian.Uint16(w.in[w.r:]))); err != nil {
			return err
		}
	}
	for _, flag := range []byte{gzipName, gzipComment} {
		if flags&flag != 0 {
			if err := g.passText(w); err != nil {
				return err
			}
		}
	}
	if flags&gzipHeaderSum != 0 {
		want := g.header & 0xffff
		have, err := w.need(2)
		if err != nil {
			return err
		}
		if have < 2 {
			return io.ErrUnexpectedEOF
		}
		if uint32(binary.LittleEndian.Uint16(w.in[w.r:])) != want {
			return errGzipHeader
		}
		w.r += 2
	}
	return nil
}

// pass goes over n bytes of a header.
func (g *gzipElements) pass(w *window, n int) error {
	for n > 0 {
		have, err := w.need(1)
		if err != nil {
			return err
		}
		if have == 0 {
			return io.ErrUnexpectedEOF
		}
		k := min(n, have)
		g.header = crc32.Update(g.header, crc32.IEEETable, w.in[w.r:w.r+k])
		w.r += k
		n -= k
	}
	return nil
}

// passText goes over a text of a header and the zero behind it.
func (g *gzipElements) passText(w *window) error {
	for {
		have, err := w.need(1)
		if err != nil {
			return err
		}
		if have == 0 {
			return io.ErrUnexpectedEOF
		}
		if at := bytes.IndexByte(w.in[w.r:w.n], 0); at >= 0 {
			return g.pass(w, at+1)
		}
		if err := g.pass(w, have); err != nil {
			return err
		}
	}
}

func (g *gzipElements) trailer(w *window) error {
	have, err := w.need(gzipTrailer)
	if err != nil {
		return err
	}
	if have < gzipTrailer {
		return io.ErrUnexpectedEOF
	}
	sum, size := binary.LittleEndian.Uint32(w.in[w.r:]), binary.LittleEndian.Uint32(w.in[w.r+4:])
	w.r += gzipTrailer
	if sum != g.sum || size != g.size {
		return errGzipSum
	}
	return nil
}

// zerosToEnd gives io.EOF when there is nothing but zeros.
func zerosToEnd(w *window) error {
	for {
		have, err := w.need(1)
		if err != nil {
			return err
		}
		if have == 0 {
			return io.EOF
		}
		for _, b := range w.in[w.r:w.n] {
			if b != 0 {
				return errGzipHeader
			}
		}
		w.r = w.n
	}
}

func (d *Decoder) gunzip(dst, src []byte) error {
	if d.gzip == nil {
		d.gzip = new(gzipElements)
	}
	d.gzip.begin()
	w := window{in: src, n: len(src), err: io.EOF, buf: dst[:cap(dst)], limit: len(dst)}
	switch err := d.gzip.decode(&w); {
	case err == nil:
		return fmt.Errorf("gzip: more than %d bytes", len(dst))
	case err != io.EOF:
		return Gzip.damage(err)
	case w.wr < len(dst):
		return fmt.Errorf("gzip: %d bytes, want %d: %w", w.wr, len(dst), io.ErrUnexpectedEOF)
	}
	return nil
}

var gzipPool = sync.Pool{New: func() any { return new(gzipElements) }}

// openGzip reads members one after another until the source ends.
func openGzip(f *feed) {
	g := gzipPool.Get().(*gzipElements)
	g.begin()
	openWindow(f, g)
	free := f.free
	f.free = func() {
		free()
		gzipPool.Put(g)
	}
}
