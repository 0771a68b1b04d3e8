package meta

import (
	"errors"
	"fmt"
	"math"
)

// MaxPageHeader is the longest header ParsePageHeader accepts. Headers are
// some 20 to 100 bytes long, but may carry a smallest and a largest value of
// any size.
const MaxPageHeader = 32 << 20

// PageHeader describes the page whose bytes follow it.
type PageHeader struct {
	Kind                     PageKind
	Uncompressed, Compressed int32 // bytes of the page without its header; Compressed are in the file
	CRC                      uint32
	HasCRC                   bool
	Values                   int32 // nulls included; of a dictionary page: its entries
	Encoding                 Encoding
	DefEncoding, RepEncoding Encoding // RLE in v2 pages

	// Of v2 data pages only.
	Nulls, Rows    int32
	DefLen, RepLen int32 // bytes of the levels, which are never compressed
	IsCompressed   bool  // the values are compressed by the chunk's codec; true for other kinds
}

// ParsePageHeader reads the header that b begins with; n is its length. With
// ErrShort b ends inside the header, which is then at most MaxPageHeader long.
// Other errors wrap format.ErrData. Sizes and counts of a header without error
// are not negative, and the levels of a v2 page fit in it.
func ParsePageHeader(b []byte) (h PageHeader, n int, err error) {
	d := decoder{buf: b}
	h.IsCompressed = true
	seen := d.pageHeader(&h)
	switch {
	case errors.Is(d.err, ErrShort) && len(b) < MaxPageHeader:
		return PageHeader{}, 0, ErrShort
	case errors.Is(d.err, ErrShort):
		d.err = bad("longer than %d bytes", len(b))
	case d.err == nil:
		d.err = h.check(seen)
	}
	if d.err != nil {
		return PageHeader{}, 0, fmt.Errorf("page header: %w", d.err)
	}
	return h, d.pos, nil
}

// pageHeader returns a bit for every field that was there.
func (d *decoder) pageHeader(h *PageHeader) (seen uint16) {
	var f field
	for d.next(&f) {
		if f.id > 0 && f.id < 16 {
			seen |= 1 << f.id
		}
		switch f.id {
		case 1:
			kind := d.size(f)
			if kind > math.MaxInt8 {
				d.fail("page kind %d", kind)
			}
			h.Kind = PageKind(kind)
		case 2:
			h.Uncompressed = d.size(f)
		case 3:
			h.Compressed = d.size(f)
		case 4:
			h.CRC, h.HasCRC = uint32(d.int32(f)), true
		case 5:
			if d.enter(f) {
				d.dataPage(h)
			}
		case 7:
			if d.enter(f) {
				d.dictionaryPage(h)
			}
		case 8:
			if d.enter(f) {
				d.dataPageV2(h)
			}
		default:
			d.skip(f)
		}
	}
	return seen
}

func (d *decoder) dataPage(h *PageHeader) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			h.Values = d.size(f)
		case 2:
			h.Encoding = d.encoding(f)
		case 3:
			h.DefEncoding = d.encoding(f)
		case 4:
			h.RepEncoding = d.encoding(f)
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) dictionaryPage(h *PageHeader) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			h.Values = d.size(f)
		case 2:
			h.Encoding = d.encoding(f)
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) dataPageV2(h *PageHeader) {
	h.DefEncoding, h.RepEncoding = RLE, RLE
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			h.Values = d.size(f)
		case 2:
			h.Nulls = d.size(f)
		case 3:
			h.Rows = d.size(f)
		case 4:
			h.Encoding = d.encoding(f)
		case 5:
			h.DefLen = d.size(f)
		case 6:
			h.RepLen = d.size(f)
		case 7:
			h.IsCompressed = d.bool(f)
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) encoding(f field) Encoding {
	v := d.int32(f)
	if v < 0 || v > math.MaxInt8 {
		d.fail("encoding %d", v)
	}
	return Encoding(v)
}

// check holds the header against what was seen of it.
func (h *PageHeader) check(seen uint16) error {
	const must = 1<<1 | 1<<2 | 1<<3
	own := uint16(0) // the field with the description of this kind of page
	switch h.Kind {
	case DataPage:
		own = 1 << 5
	case DictionaryPage:
		own = 1 << 7
	case DataPageV2:
		own = 1 << 8
	}
	levels := int64(h.DefLen) + int64(h.RepLen)
	switch {
	case seen&must != must:
		return bad("kind or sizes are missing")
	case seen&own != own || seen&(1<<5|1<<7|1<<8)&^own != 0:
		return bad("a %v with the description of another kind", h.Kind)
	case h.Kind == DataPageV2 && levels > int64(min(h.Compressed, h.Uncompressed)):
		return bad("%d bytes of levels in a page of %d bytes, %d in the file", levels, h.Uncompressed, h.Compressed)
	case h.Nulls > h.Values:
		return bad("%d of %d values are null", h.Nulls, h.Values)
	}
	return nil
}

// PageLocation is where a data page lies.
type PageLocation struct {
	Offset   int64 // of the page's header
	Size     int32 // bytes in the file, header included
	FirstRow int64 // in its row group
}

// ParseOffsetIndex reads an offset index, which lists the data pages of a
// chunk, into dst, which it may reuse. Offsets and rows of an index without
// error are not negative and ascend. Errors wrap format.ErrData.
func ParseOffsetIndex(b []byte, dst []PageLocation) ([]PageLocation, error) {
	d := decoder{buf: b}
	dst = dst[:0]
	var f field
	for d.next(&f) {
		if f.id != 1 {
			d.skip(f)
			continue
		}
		n := d.list(f, wireStruct)
		for i := 0; i < n && d.err == nil; i++ {
			at := d.pageLocation()
			if len(dst) > 0 {
				last := dst[len(dst)-1]
				if at.FirstRow < last.FirstRow || at.Offset < last.Offset+int64(last.Size) {
					d.fail("page %d lies before the end of page %d", i, i-1)
				}
			}
			dst = append(dst, at)
		}
	}
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("offset index: %w", err)
	}
	return dst, nil
}

func (d *decoder) pageLocation() (at PageLocation) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			at.Offset = d.int64(f)
		case 2:
			at.Size = d.size(f)
		case 3:
			at.FirstRow = d.int64(f)
		default:
			d.skip(f)
		}
	}
	if at.Offset < 0 || at.FirstRow < 0 || at.Offset > math.MaxInt64-math.MaxInt32 {
		d.fail("a page at %d that begins with row %d", at.Offset, at.FirstRow)
	}
	return at
}
