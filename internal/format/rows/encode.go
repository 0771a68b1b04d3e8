package rows

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/weir-data/weir/internal/format"
)

// Sizes sets dst to the sizes of rows from a row on. A row of 2 GiB or more is
// ErrData.
func (e *Encoder) Sizes(from int, dst []int) error {
	for i := range dst {
		dst[i] = e.f.fixed
	}
	if !e.f.vary || len(dst) == 0 {
		return nil
	}
	for _, root := range e.f.roots {
		p := &e.parts[root.id]
		switch {
		case root.kind < text:
		case root.kind == text && p.far == nil && root.width == 4:
			lengths(dst, arrow.GetData[int32](p.ends)[from:])
		case root.kind == text && p.far == nil:
			lengths(dst, arrow.GetData[int64](p.ends)[from:])
		case root.kind == text:
			for i := range dst {
				dst[i] += len(p.text(root.width, from+i))
			}
		default:
			for i := range dst {
				dst[i] += e.bodySize(root, from+i, 1)
			}
		}
	}
	for i, n := range dst {
		if n > math.MaxInt32 {
			return format.Error(format.ErrData, "row %d of a batch has %d bytes, more than can be moved about", from+i, n)
		}
	}
	return nil
}

func lengths[T int32 | int64](dst []int, ends []T) {
	ends = ends[:len(dst)+1]
	for i := range dst {
		dst[i] += int(ends[i+1] - ends[i])
	}
}

// tile is how many rows are written column by column: their bytes, if they are
// not many, stay in the first cache.
const tile = 64

// Write lays rows from a row on down in ram, each at its place, with the size that
// Sizes said. Goroutines may write different rows at once.
func (e *Encoder) Write(ram []byte, at []int, sizes []int, from int) {
	for len(at) > 0 {
		n := min(tile, len(at))
		e.writeTile(ram, at[:n], sizes[:n], from)
		at, sizes, from = at[n:], sizes[n:], from+n
	}
}

func (e *Encoder) writeTile(ram []byte, at, sizes []int, from int) {
	var cursor [tile]int // where the next bytes of each row go, counted from its beginning
	for i, a := range at {
		row := ram[a : a+sizes[i]]
		if e.f.vary {
			binary.LittleEndian.PutUint32(row, uint32(len(row)))
		}
		for k := e.f.bits; k < e.f.bits+(len(e.f.roots)+7)/8; k++ {
			row[k] = 0xff
		}
		cursor[i] = e.f.fixed
	}
	for c, root := range e.f.roots {
		p, slot := &e.parts[root.id], e.f.slots[c]
		if p.valid != nil || p.far != nil {
			for i, a := range at {
				if p.missing(from + i) {
					ram[a+e.f.bits+c>>3] &^= 1 << (c & 7)
				}
			}
		}
		switch {
		case root.kind == bools:
			e.writeBits(ram, at, slot, p, from)
		case root.kind == plain:
			e.writeFixed(ram, at, slot, root.width, p, from)
		case root.kind >= text:
			for i, a := range at {
				row := ram[a : a+sizes[i]]
				if root.kind == text {
					cursor[i] += copy(row[cursor[i]:], p.text(root.width, from+i))
				} else {
					cursor[i] = len(row) - len(e.putBody(row[cursor[i]:], root, from+i, 1))
				}
				binary.LittleEndian.PutUint32(row[slot:], uint32(cursor[i]))
			}
		}
	}
}

func (e *Encoder) writeBits(ram []byte, at []int, slot int, p *part, from int) {
	for i, a := range at {
		values, k := p.values, p.off+from+i
		if p.far != nil {
			values, k = p.far.dict.values, p.far.dict.off+p.entry(from+i)
			if p.entry(from+i) < 0 {
				values, k = []byte{0}, 0
			}
		}
		ram[a+slot] = values[k>>3] >> (k & 7) & 1
	}
}

func (e *Encoder) writeFixed(ram []byte, at []int, slot, width int, p *part, from int) {
	if p.far != nil {
		for i, a := range at {
			if k := p.entry(from + i); k >= 0 {
				copy(ram[a+slot:a+slot+width], p.far.dict.values[k*width:])
			} else {
				clear(ram[a+slot : a+slot+width])
			}
		}
		return
	}
	switch src := p.values[from*width:]; width {
	case 8:
		for i, v := range arrow.GetData[uint64](src)[:len(at)] {
			binary.LittleEndian.PutUint64(ram[at[i]+slot:], v)
		}
	case 4:
		for i, v := range arrow.GetData[uint32](src)[:len(at)] {
			binary.LittleEndian.PutUint32(ram[at[i]+slot:], v)
		}
	default:
		for i, a := range at {
			copy(ram[a+slot:a+slot+width], src[i*width:])
		}
	}
}

// nulls counts them among n values from i on.
func (p *part) nulls(i, n int) (count int) {
	switch {
	case p.far != nil && p.far.dict != nil:
		for k := range n {
			if p.missing(i + k) {
				count++
			}
		}
	case p.valid != nil && n > 0:
		count = n - bitutil.CountSetBits(p.valid, p.off+i, n)
	}
	return count
}

// fullSize is the bytes of n nested values from i on.
func (e *Encoder) fullSize(nd *node, i, n int) int {
	size := 1
	if e.parts[nd.id].nulls(i, n) > 0 {
		size += (n + 7) / 8
	}
	return size + e.bodySize(nd, i, n)
}

// bodySize is fullSize without what says which are null.
func (e *Encoder) bodySize(nd *node, i, n int) (size int) {
	p := &e.parts[nd.id]
	switch nd.kind {
	case bools:
		return (n + 7) / 8
	case plain:
		return n * nd.width
	case text:
		size = 4 * n
		if p.far == nil && n > 0 {
			return size + p.end(nd.width, i+n) - p.end(nd.width, i)
		}
		for k := range n {
			size += len(p.text(nd.width, i+k))
		}
	case list:
		from, count := p.below(nd.width, i, n)
		return 4*n + e.fullSize(nd.kids[0], from, count)
	case vector:
		return e.fullSize(nd.kids[0], i*nd.width, n*nd.width)
	case record:
		for _, k := range nd.kids {
			size += e.fullSize(k, i, n)
		}
	}
	return size
}

// putFull writes n nested values from i on and returns what is left of dst.
func (e *Encoder) putFull(dst []byte, nd *node, i, n int) []byte {
	p := &e.parts[nd.id]
	if dst[0] = 0; p.nulls(i, n) > 0 {
		dst[0] = 1
		valid := dst[1 : 1+(n+7)/8]
		clear(valid)
		for k := range n {
			if !p.missing(i + k) {
				bitutil.SetBit(valid, k)
			}
		}
		dst = dst[len(valid):]
	}
	return e.putBody(dst[1:], nd, i, n)
}

// putBody is putFull without what says which are null.
func (e *Encoder) putBody(dst []byte, nd *node, i, n int) []byte {
	p := &e.parts[nd.id]
	switch nd.kind {
	case bools, plain:
		return e.putPlain(dst, nd, i, n)
	case text:
		ends, rest := dst[:4*n], dst[4*n:]
		for k := range n {
			t := p.text(nd.width, i+k)
			binary.LittleEndian.PutUint32(ends[4*k:], uint32(len(t)))
			rest = rest[copy(rest, t):]
		}
		return rest
	case list:
		for k := range n {
			binary.LittleEndian.PutUint32(dst[4*k:], uint32(p.end(nd.width, i+k+1)-p.end(nd.width, i+k)))
		}
		from, count := p.below(nd.width, i, n)
		return e.putFull(dst[4*n:], nd.kids[0], from, count)
	case vector:
		return e.putFull(dst, nd.kids[0], i*nd.width, n*nd.width)
	case record:
		for _, k := range nd.kids {
			dst = e.putFull(dst, k, i, n)
		}
	}
	return dst
}

// putPlain writes nested bools and values of fixed width.
func (e *Encoder) putPlain(dst []byte, nd *node, i, n int) []byte {
	p := &e.parts[nd.id]
	if nd.kind == plain {
		out := dst[:n*nd.width]
		if p.far == nil && n > 0 {
			copy(out, p.values[i*nd.width:])
			return dst[len(out):]
		}
		clear(out)
		for k := range n {
			if entry := p.entry(i + k); entry >= 0 {
				copy(out[k*nd.width:(k+1)*nd.width], p.far.dict.values[entry*nd.width:])
			}
		}
		return dst[len(out):]
	}
	out := dst[:(n+7)/8]
	clear(out)
	if p.far == nil && n > 0 {
		bitutil.CopyBitmap(p.values, p.off+i, n, out, 0)
		return dst[len(out):]
	}
	for k := range n {
		if entry := p.entry(i + k); entry >= 0 && bitutil.BitIsSet(p.far.dict.values, p.far.dict.off+entry) {
			bitutil.SetBit(out, k)
		}
	}
	return dst[len(out):]
}
