package write

import (
	"encoding/binary"
	"fmt"

	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// put writes a row group whose pages are complete.
func (f *file) put(g *group, rows int64) error {
	start, size := f.out.n, int64(0)
	for _, l := range g.leaves {
		if err := f.writeChunk(g, l); err != nil {
			return fmt.Errorf("parquet: %w", err)
		}
		size += l.chunk.uncompressed
	}
	g.clear()
	// Behind the chunks, as in the footer.
	var totals []byte
	for _, v := range []int64{size, rows, start, f.out.n - start} {
		totals = binary.AppendUvarint(totals, uint64(v))
	}
	if _, err := f.chunks.Write(totals); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	f.count++
	return nil
}

// writeChunk writes the pages of a chunk and describes it.
func (f *file) writeChunk(g *group, l *leaf) error {
	c := &l.chunk
	dict := f.out.n
	if c.has(meta.RLEDictionary) {
		if err := f.writeDict(g, l); err != nil {
			return err
		}
	}
	data := f.out.n
	for r := c.pages.head; r != 0; {
		rec, _, _ := g.held.read(r)
		if _, err := f.out.Write(rec.data); err != nil {
			return err
		}
		r = rec.next
	}
	columns, offsets := f.columns.total, f.offsets.total
	if err := f.indexPages(&g.held, c, data, l.order); err != nil || (columns+offsets) > f.index {
		// Readers do without; a footer that does not fit is worse.
		f.columns.cut(columns)
		f.offsets.cut(offsets)
	}
	t := thrift{b: make([]byte, 0, chunkCost+2*len(l.name))}
	l.describe(&t, g.pool.Own().compressor(c).id, dict, data)
	entry := binary.AppendUvarint(nil, uint64(len(t.b)))
	entry = append(entry, t.b...)
	entry = binary.AppendUvarint(entry, uint64(f.columns.total-columns))
	entry = binary.AppendUvarint(entry, uint64(f.offsets.total-offsets))
	_, err := f.chunks.Write(entry)
	return err
}

// has says whether the chunk has data pages of an encoding.
func (c *chunk) has(e meta.Encoding) bool { return c.encodings>>e&1 == 1 }

// writeDict writes the dictionary page by way of the caller's own memory.
func (f *file) writeDict(g *group, l *leaf) error {
	c, t := &l.chunk, g.pool.Own()
	values := c.dict.values.Bytes()[:c.dict.used]
	n, err := t.compressor(c).pack(t.spill, nil, values)
	if err != nil {
		return fmt.Errorf("column %q: %w", l.name, err)
	}
	h := t.header(meta.DictionaryPage, len(values), n, func(h *thrift) {
		outer := h.begin(7)
		h.i32(1, int32(c.dict.n))
		h.i32(2, int32(meta.Plain))
		h.end(outer)
	})
	c.uncompressed += int64(len(h) + len(values))
	c.compressed += int64(len(h) + n)
	if _, err := f.out.Write(h); err != nil {
		return err
	}
	_, err = f.out.Write(t.spill[:n])
	return err
}

// describe writes the chunk's metadata.
func (l *leaf) describe(t *thrift, codec int32, dict, data int64) {
	c := &l.chunk
	t.i32(1, int32(l.typ))
	encodings := []meta.Encoding{meta.RLE}
	for _, e := range []meta.Encoding{meta.Plain, meta.DeltaBinaryPacked, meta.RLEDictionary} {
		if c.has(e) || e == meta.Plain && c.has(meta.RLEDictionary) { // the dictionary's values are plain
			encodings = append(encodings, e)
		}
	}
	t.list(2, wireI32, len(encodings))
	for _, e := range encodings {
		t.b = binary.AppendVarint(t.b, int64(e))
	}
	t.list(3, wireBinary, len(l.path))
	for _, name := range l.path {
		t.b = append(binary.AppendUvarint(t.b, uint64(len(name))), name...)
	}
	t.i32(4, codec)
	t.i64(5, c.values)
	t.i64(6, c.uncompressed)
	t.i64(7, c.compressed)
	t.i64(9, data)
	if c.has(meta.RLEDictionary) {
		t.i64(11, dict)
	}
	outer := t.begin(12)
	t.i64(3, c.nulls)
	if c.stats.known && !c.unbounded {
		t.binary(5, c.stats.max())
		t.binary(6, c.stats.min())
		t.bool(7, !c.stats.cutMax)
		t.bool(8, !c.stats.cutMin)
	}
	t.end(outer)
	t.b = append(t.b, 0)
}

// indexPages writes the chunk's offset index and, where every page with
// values has bounds, its column index. The first page lies at a place in the
// file.
func (f *file) indexPages(h *held, c *chunk, at int64, o order) error {
	t := thrift{}
	t.list(1, wireStruct, c.count)
	row := int64(0)
	for r := c.pages.head; r != 0; {
		rec, _, _ := h.read(r)
		size := len(rec.data)
		for r = rec.next; r != 0; {
			more, _, _ := h.read(r)
			if more.flags&goesOn == 0 {
				break
			}
			size += len(more.data)
			r = more.next
		}
		t.last = 0
		t.i64(1, at)
		t.i32(2, int32(size))
		t.i64(3, row)
		if err := t.to(&f.offsets, 0); err != nil {
			return err
		}
		at += int64(size)
		row += int64(rec.rows)
	}
	if err := t.to(&f.offsets, 0); err != nil || o == noOrder || c.unbounded {
		return err
	}
	return f.columnIndex(h, c)
}

// to moves what was written and some more bytes to a tape.
func (t *thrift) to(p *tape, more ...byte) error {
	t.b = append(t.b, more...)
	_, err := p.Write(t.b)
	t.b = t.b[:0]
	return err
}

// columnIndex goes over the pages once for each of its lists.
func (f *file) columnIndex(h *held, c *chunk) error {
	t := thrift{}
	each := func(id int16, typ byte, put func(r record, lo, hi []byte)) error {
		t.list(id, typ, c.count)
		for r := c.pages.head; r != 0; {
			rec, lo, hi := h.read(r)
			r = rec.next
			if rec.flags&goesOn != 0 {
				continue
			}
			put(rec, lo, hi)
			if err := t.to(&f.columns); err != nil {
				return err
			}
		}
		return nil
	}
	text := func(b []byte) { t.b = append(binary.AppendUvarint(t.b, uint64(len(b))), b...) }
	err := each(1, wireTrue, func(r record, _, _ []byte) {
		if r.flags&allNull != 0 {
			t.b = append(t.b, wireTrue)
		} else {
			t.b = append(t.b, wireFalse)
		}
	})
	if err == nil {
		err = each(2, wireBinary, func(_ record, lo, _ []byte) { text(lo) })
	}
	if err == nil {
		err = each(3, wireBinary, func(_ record, _, hi []byte) { text(hi) })
	}
	if err != nil {
		return err
	}
	t.i32(4, 0) // no order of the pages
	err = each(5, wireI64, func(r record, _, _ []byte) { t.b = binary.AppendVarint(t.b, int64(r.nulls)) })
	if err != nil {
		return err
	}
	return t.to(&f.columns, 0)
}
