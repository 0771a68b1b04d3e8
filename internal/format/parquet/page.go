package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
)

// worker is what one decoding goroutine keeps between pages.
type worker struct {
	dec  codec.Decoder
	head []byte // page headers are parsed here
	// tmp takes booleans on their way from bytes to bits.
	tmp [1024]byte
	// words takes values on their way between nulls.
	words [513]uint64
}

func newWorker() *worker { return &worker{head: make([]byte, 4<<10)} }

// pageRef is a data page whose header has been read.
type pageRef struct {
	meta.PageHeader
	index int   // of the data page in its chunk
	body  int64 // file offset behind the header
	ahead bool  // loaded before it is needed, if memory allows
}

// usesDict says that the page holds indices into the dictionary.
func (r *pageRef) usesDict() bool {
	return r.Encoding == meta.PlainDictionary || r.Encoding == meta.RLEDictionary
}

// page is a data page being decoded: its levels and values, and the memory
// they come from.
type page struct {
	left     int   // entries not yet decoded
	body     int64 // file offset
	stored   int32 // bytes in the file
	rep, def hybrid
	vals     values
	usesDict bool

	repWin, defWin window
	blocks         []*mem.Block
	leases         []*mem.Lease
	streams        []codec.Stream
}

// free gives all memory back.
func (p *page) free() {
	if p == nil {
		return
	}
	for _, s := range p.streams {
		s.Close()
	}
	for _, b := range p.blocks {
		b.Free()
	}
	for _, l := range p.leases {
		l.Release()
	}
	p.streams, p.blocks, p.leases = nil, nil, nil
}

// walk reads page headers up to the next data page that has entries. The
// dictionary is loaded when that page needs it. ok is false at the end of the chunk.
func (l *leaf) walk(ctx context.Context, w *worker) (ref pageRef, ok bool, err error) {
	ref, ok, err = l.look(ctx, w)
	if ok && ref.usesDict() && l.dict == nil && l.dictRef.body > 0 {
		if err := l.loadDict(ctx, w, l.dictRef); err != nil {
			return ref, false, fmt.Errorf("dictionary page: %w", err)
		}
	}
	return ref, ok, err
}

// look is walk without the dictionary.
func (l *leaf) look(ctx context.Context, w *worker) (ref pageRef, ok bool, err error) {
	for l.walked < l.chunk.Values {
		h, n, err := l.header(ctx, w)
		if err != nil {
			return ref, false, fmt.Errorf("page %d: %w", l.pages, err)
		}
		body := l.off + int64(n)
		next := body + int64(h.Compressed)
		if next > l.src.size() {
			return ref, false, damaged("page %d: %d bytes at %d, the file ends before", l.pages, h.Compressed, body)
		}
		l.off = next
		switch h.Kind {
		case meta.DictionaryPage:
			// Loaded when a page needs it.
			l.dictRef = pageRef{PageHeader: h, body: body}
		case meta.DataPage, meta.DataPageV2:
			l.pages++
			if h.Values == 0 {
				continue
			}
			l.walked += int64(h.Values)
			if l.walked > l.chunk.Values {
				return ref, false, damaged("page %d: more values than the footer says", l.pages-1)
			}
			return pageRef{PageHeader: h, index: l.pages - 1, body: body}, true, nil
		}
	}
	return ref, false, nil
}

// header reads the page header at l.off, with a larger buffer where
// statistics make it long.
func (l *leaf) header(ctx context.Context, w *worker) (meta.PageHeader, int, error) {
	for {
		n := min(int64(len(w.head)), l.src.size()-l.off)
		if n <= 0 {
			return meta.PageHeader{}, 0, damaged("%d values are missing at the end of the file", l.chunk.Values-l.walked)
		}
		buf := w.head[:n]
		if err := l.src.read(ctx, buf, l.off); err != nil {
			return meta.PageHeader{}, 0, err
		}
		h, k, err := meta.ParsePageHeader(buf)
		if !errors.Is(err, meta.ErrShort) {
			return h, k, err
		}
		if n < int64(len(w.head)) {
			return h, 0, damaged("the file ends inside a page header")
		}
		w.head = make([]byte, 4*len(w.head))
	}
}

// alloc maps n bytes from what all columns share, or else from what is set
// aside for this one. Pages read ahead have only the former.
func (l *leaf) alloc(n int, ahead bool) (*mem.Block, bool) {
	b, ok := l.extra.TryMap(n)
	if !ok && !ahead {
		b, ok = l.reserve.TryMap(n)
	}
	return b, ok
}

// fetch gives the stored bytes of a page, which the caller keeps until it
// calls done. They are nil when there is no room for them.
func (l *leaf) fetch(ctx context.Context, ref pageRef) (raw []byte, done func(), err error) {
	n := int(ref.Compressed)
	if raw, done := l.src.peek(ref.body, n); raw != nil {
		return raw, done, nil
	}
	block, ok := l.alloc(n+slack, ref.ahead)
	if !ok {
		return nil, nil, nil
	}
	raw = block.Bytes()[:n]
	if err := l.src.take(ctx, raw, ref.body); err != nil {
		block.Free()
		return nil, nil, err
	}
	return raw, block.Free, nil
}

// load decodes a page's frame: whole where memory allows it, else as a stream;
// a page read ahead is nil then. It may run for several pages at once.
func (l *leaf) load(ctx context.Context, w *worker, ref pageRef) (*page, error) {
	p := &page{left: int(ref.Values), body: ref.body, stored: ref.Compressed}
	ok, err := l.loadWhole(ctx, w, ref, p)
	if err == nil && !ok {
		if ref.ahead {
			return nil, nil
		}
		err = l.loadStreamed(ctx, ref, p)
	}
	if err != nil {
		p.free()
		return nil, fmt.Errorf("page %d: %w", ref.index, err)
	}
	return p, nil
}

// loadWhole decompresses the page; false when there is no room for it.
func (l *leaf) loadWhole(ctx context.Context, w *worker, ref pageRef, p *page) (bool, error) {
	size := int(ref.Uncompressed)
	block, ok := l.alloc(size+slack, ref.ahead)
	if !ok {
		return false, nil
	}
	p.blocks = append(p.blocks, block)
	buf := block.Bytes()[:size]
	if l.codec(ref) == codec.None {
		if ref.Compressed != ref.Uncompressed {
			return false, damaged("%d bytes stored for %d uncompressed ones", ref.Compressed, size)
		}
		if err := l.src.take(ctx, buf, ref.body); err != nil {
			return false, err
		}
		if err := checkSum(ref, buf); err != nil {
			return false, err
		}
		return true, l.open(ref, p, buf)
	}
	if ref.Kind == meta.DataPage && l.chunk.Codec == codec.Snappy && !l.src.held(ref.body) {
		if err := l.decompressFrom(ctx, w, ref, buf); err != nil {
			return false, err
		}
		return true, l.open(ref, p, buf)
	}
	raw, done, err := l.fetch(ctx, ref)
	if err != nil || raw == nil {
		p.free()
		return false, err
	}
	defer done()
	if err := checkSum(ref, raw); err != nil {
		return false, err
	}
	levels := 0
	if ref.Kind == meta.DataPageV2 {
		// The levels of a v2 page are never compressed.
		levels = int(ref.RepLen + ref.DefLen)
		if levels > len(raw) || levels > size {
			return false, damaged("levels of %d bytes in a page of %d", levels, len(raw))
		}
		copy(buf, raw[:levels])
	}
	if size > levels {
		if err := w.dec.Decompress(l.chunk.Codec, buf[levels:], raw[levels:]); err != nil {
			return false, damaged("%w", err)
		}
	}
	return true, l.open(ref, p, buf)
}

// decompressFrom decompresses a page while it is read, for the codec that can.
func (l *leaf) decompressFrom(ctx context.Context, w *worker, ref pageRef, dst []byte) error {
	end := ref.body + int64(ref.Compressed)
	var src io.Reader = &fileRange{ctx: ctx, src: l.src, at: ref.body, end: end, step: pageAhead}
	if ref.HasCRC {
		src = &checked{src: src, left: int64(ref.Compressed), want: ref.CRC}
	}
	return bad("page", w.dec.DecompressFrom(dst, src))
}

// codec is what the page's values are compressed with.
func (l *leaf) codec(ref pageRef) codec.Codec {
	if !ref.IsCompressed {
		return codec.None
	}
	return l.chunk.Codec
}

// checkSum compares a page's stored bytes with its checksum, if it has one.
func checkSum(ref pageRef, raw []byte) error {
	if ref.HasCRC && crc32.ChecksumIEEE(raw) != ref.CRC {
		return errSum
	}
	return nil
}

// open finds levels and values in a page held whole.
func (l *leaf) open(ref pageRef, p *page, buf []byte) error {
	at := 0
	section := func(size int) ([]byte, error) {
		if ref.Kind == meta.DataPage {
			if len(buf)-at < 4 {
				return nil, errShort
			}
			size = int(binary.LittleEndian.Uint32(buf[at:]))
			at += 4
		}
		if size > len(buf)-at {
			return nil, fmt.Errorf("%w: levels of %d bytes", errShort, size)
		}
		b := buf[at : at+size]
		at += size
		return b, nil
	}
	if l.MaxRep > 0 {
		b, err := section(int(ref.RepLen))
		if err != nil {
			return bad("repetition levels", err)
		}
		p.repWin = whole(b)
	} else {
		at += int(ref.RepLen)
	}
	if l.MaxDef > 0 {
		b, err := section(int(ref.DefLen))
		if err != nil {
			return bad("definition levels", err)
		}
		p.defWin = whole(b)
	} else {
		at += int(ref.DefLen)
	}
	body := buf[at:]
	return l.begin(ref, p, len(body), func(skip int) (*window, error) {
		if skip > len(body) {
			return nil, errShort
		}
		w := whole(body[skip:])
		return &w, nil
	})
}

// begin sets the decoders of a page up. sections gives windows that begin skip
// bytes into the values, which have size bytes.
func (l *leaf) begin(ref pageRef, p *page, size int, sections func(skip int) (*window, error)) error {
	if ref.Kind == meta.DataPage {
		if l.MaxRep > 0 && ref.RepEncoding != meta.RLE {
			return damaged("repetition levels encoded as %s", ref.RepEncoding)
		}
		if l.MaxDef > 0 && ref.DefEncoding != meta.RLE {
			return damaged("definition levels encoded as %s", ref.DefEncoding)
		}
	}
	p.rep, _ = newHybrid(&p.repWin, l.repWidth)
	p.def, _ = newHybrid(&p.defWin, l.defWidth)
	p.usesDict = ref.usesDict()
	var err error
	if p.vals, err = l.values(ref.Encoding, size, sections); err != nil {
		return bad("values", err)
	}
	return nil
}

// bad marks err as the data's fault and says where in the page it lies.
// Errors of the store pass unchanged.
func bad(place string, err error) error {
	if err == nil || fromStore(err) {
		return err
	}
	return damaged("%s: %w", place, err)
}
