package parquet

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
)

// dictionary is a column chunk's dictionary page, ready for look-ups: fixed
// values in the width Arrow gives them, or the bytes of all values with where
// each begins.
type dictionary struct {
	block *mem.Block
	n     int
	width int // of fixed values; 0: bytes
	fixed []byte
	data  []byte   // bytes: the page as stored
	start []uint32 // bytes: where value i begins; its length stands in the four bytes before
}

func (d *dictionary) free() {
	if d != nil {
		d.block.Free()
	}
}

// dictBlock is how many bytes a dictionary page of size bytes and n values
// takes in memory: the page, and the values or where they begin.
func dictBlock(size, n, width int) int {
	if width == 0 {
		return align(size+slack) + 4*n
	}
	return n * width
}

// loadDict reads the chunk's dictionary page.
func (l *leaf) loadDict(ctx context.Context, w *worker, ref pageRef) error {
	size, n := int(ref.Uncompressed), int(ref.Values)
	if ref.Encoding != meta.Plain && ref.Encoding != meta.PlainDictionary {
		return damaged("encoded as %s", ref.Encoding)
	}
	if l.shape == bitShape {
		return damaged("booleans have no dictionary")
	}
	least := l.phys
	if l.Type == meta.ByteArray {
		least = 4
	}
	if n > size/least {
		return damaged("%d values in %d bytes", n, size)
	}
	width := l.width
	if l.shape == byteShape {
		width = 0
	}
	block, ok := l.alloc(dictBlock(size, n, width), false)
	if !ok {
		return l.tooSmall("the dictionary", int64(dictBlock(size, n, width)))
	}
	d := &dictionary{block: block, n: n, width: width}
	if err := l.readDict(ctx, w, ref, d, block.Bytes()); err != nil {
		d.free()
		return err
	}
	l.dict = d
	return nil
}

// readDict fills d, whose memory is ram.
func (l *leaf) readDict(ctx context.Context, w *worker, ref pageRef, d *dictionary, ram []byte) error {
	size := int(ref.Uncompressed)
	if d.width == 0 {
		d.data = ram[:size]
		d.start = view[uint32](ram[align(size+slack):])[:d.n]
		if err := l.decompress(ctx, w, ref, d.data); err != nil {
			return err
		}
		if err := d.indexBytes(d.n); err != nil {
			return damaged("%w", err)
		}
		return nil
	}
	d.fixed = ram[:d.n*d.width]
	if l.conv == nil && l.phys == l.width && size == d.n*d.width {
		return l.decompress(ctx, w, ref, d.fixed)
	}
	tmp, ok := l.alloc(size+slack, false)
	if !ok {
		return l.tooSmall("the dictionary", int64(size+slack))
	}
	defer tmp.Free()
	page := tmp.Bytes()[:size]
	if err := l.decompress(ctx, w, ref, page); err != nil {
		return err
	}
	win := whole(page)
	var v values = plainFixed{w: &win, width: l.phys}
	if l.Type == meta.ByteArray {
		v = plainBytes{w: &win}
	}
	if err := l.arrowed(v).fixed(d.fixed, d.n); err != nil {
		return damaged("%w", err)
	}
	return nil
}

// decompress reads a page that is compressed as one into dst.
func (l *leaf) decompress(ctx context.Context, w *worker, ref pageRef, dst []byte) error {
	if l.codec(ref) == codec.None {
		if int(ref.Compressed) != len(dst) {
			return damaged("%d bytes stored for %d uncompressed ones", ref.Compressed, len(dst))
		}
		if err := l.src.take(ctx, dst, ref.body); err != nil {
			return err
		}
		return checkSum(ref, dst)
	}
	if l.chunk.Codec == codec.Snappy && !l.src.held(ref.body) {
		return l.decompressFrom(ctx, w, ref, dst)
	}
	raw, done, err := l.fetch(ctx, ref)
	if err != nil {
		return err
	}
	if raw == nil {
		return l.decompressStreamed(ctx, ref, dst)
	}
	defer done()
	if err := checkSum(ref, raw); err != nil {
		return err
	}
	if err := w.dec.Decompress(l.chunk.Codec, dst, raw); err != nil {
		return damaged("%w", err)
	}
	return nil
}

// decompressStreamed is decompress where the stored bytes find no room.
func (l *leaf) decompressStreamed(ctx context.Context, ref pageRef, dst []byte) error {
	p := new(page)
	defer p.free()
	s := &pageStreams{l: l, ctx: ctx, ref: ref, p: p, from: ref.body}
	w, err := s.window(0)
	if err != nil {
		return bad("page", err)
	}
	return bad("page", w.read(dst))
}

// indexBytes finds where the n values of a plain-encoded page begin.
func (d *dictionary) indexBytes(n int) error {
	at := 0
	for i := range n {
		if at+4 > len(d.data) {
			return errShort
		}
		size := int(binary.LittleEndian.Uint32(d.data[at:]))
		if size > len(d.data)-at-4 {
			return fmt.Errorf("value %d has %d bytes, the page ends before", i, size)
		}
		d.start[i] = uint32(at + 4)
		at += 4 + size
	}
	return nil
}

// dictFixed reads indices into a dictionary of fixed-size values.
type dictFixed struct {
	h    hybrid
	dict *dictionary
}

func (f *dictFixed) fixed(dst []byte, n int) error {
	d := f.dict
	switch d.width {
	case 1:
		return gatherHybrid(&f.h, dst[:n], d.fixed)
	case 2:
		return gatherHybrid(&f.h, view[uint16](dst)[:n], view[uint16](d.fixed))
	case 4:
		return gatherHybrid(&f.h, view[uint32](dst)[:n], view[uint32](d.fixed))
	case 8:
		return gatherHybrid(&f.h, view[uint64](dst)[:n], view[uint64](d.fixed))
	}
	var idx [256]uint32
	for n > 0 {
		k := min(n, len(idx))
		if err := fillHybrid(&f.h, idx[:k]); err != nil {
			return err
		}
		for i, x := range idx[:k] {
			if int(x) >= d.n {
				return errIndex
			}
			copy(dst[i*d.width:(i+1)*d.width], d.fixed[int(x)*d.width:])
		}
		dst, n = dst[k*d.width:], n-k
	}
	return nil
}

func (f *dictFixed) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }

// dictBytes reads indices into a dictionary of byte values.
type dictBytes struct {
	h    hybrid
	dict *dictionary
	idx  []uint32 // indices read but not used: idx[at:]
	at   int
	ram  [256]uint32
}

func (f *dictBytes) fixed([]byte, int) error { return errNotFixed }

func (f *dictBytes) bytes(c *byteColumn, n int) (int, error) {
	done := 0
	for done < n {
		if f.at == len(f.idx) {
			f.idx, f.at = f.ram[:min(n-done, len(f.ram))], 0
			if err := fillHybrid(&f.h, f.idx); err != nil {
				return done, err
			}
		}
		k, err := f.copy(c, f.idx[f.at:min(len(f.idx), f.at+n-done)])
		f.at += k
		done += k
		if err != nil || f.at < len(f.idx) {
			return done, err
		}
	}
	return done, nil
}

// copy appends the values at idx and returns how many fitted.
func (f *dictBytes) copy(c *byteColumn, idx []uint32) (int, error) {
	d := f.dict
	src := d.data[:cap(d.data)]
	data := c.data[:cap(c.data)]
	room, end := len(c.data), c.end
	offsets := c.offsets[c.n+1:]
	for i, x := range idx {
		if int(x) >= len(d.start) {
			return i, errIndex
		}
		at := int(d.start[x])
		size := int(binary.LittleEndian.Uint32(src[at-4:]))
		if i >= len(offsets) || size > room-end {
			c.wants = size
			c.n, c.end = c.n+i, end
			return i, nil
		}
		if size <= 16 {
			copy16(data[end:], src[at:])
		} else {
			copy(data[end:end+size], src[at:])
		}
		end += size
		offsets[i] = int32(end)
	}
	c.n, c.end = c.n+len(idx), end
	return len(idx), nil
}
