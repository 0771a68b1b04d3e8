package rows

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// ones counts the bits that are set among the first n.
func ones(b []byte, n int) (count int) {
	for ; n >= 8; n -= 8 {
		count += bits.OnesCount8(b[0])
		b = b[1:]
	}
	if n > 0 {
		count += bits.OnesCount8(b[0] & (1<<n - 1))
	}
	return count
}

// takeTile writes a few rows, column by column.
func (d *Decoder) takeTile(at []int) {
	last := -1
	for c, root := range d.f.roots {
		st, slot := &d.st[root.id], d.f.slots[c]
		if len(st.valid) > 0 {
			for i, a := range at {
				k := st.n + i
				st.valid[k>>3] |= d.ram[a+d.f.bits+c>>3] >> (c & 7) & 1 << (k & 7)
			}
		}
		switch {
		case root.kind == nulls:
		case root.kind == plain:
			takeFixed(st, d.ram, at, slot, root.width)
		case root.kind == bools:
			for i, a := range at {
				k := st.n + i
				st.values[k>>3] |= d.ram[a+slot] & 1 << (k & 7)
			}
		case root.kind == text:
			for i, a := range at {
				from, to := d.span(a, c, last)
				st.put += copy(st.values[st.put:], d.ram[from:to])
				st.putEnd(root.width, st.n+i+1)
			}
		default:
			for _, a := range at {
				from, to := d.span(a, c, last)
				d.takeBody(root, d.ram[from:to], 1)
				st.n++
			}
			st.n -= len(at)
		}
		if root.kind >= text {
			last = c
		}
		st.n += len(at)
	}
}

// takeFixed writes values of one width.
func takeFixed(st *state, ram []byte, at []int, slot, width int) {
	switch out := st.values[st.n*width:]; width {
	case 8:
		dst := arrow.GetData[uint64](out)[:len(at)]
		for i, a := range at {
			dst[i] = binary.LittleEndian.Uint64(ram[a+slot:])
		}
	case 4:
		dst := arrow.GetData[uint32](out)[:len(at)]
		for i, a := range at {
			dst[i] = binary.LittleEndian.Uint32(ram[a+slot:])
		}
	default:
		for i, a := range at {
			copy(out[i*width:(i+1)*width], ram[a+slot:])
		}
	}
}

// putEnd says that row k-1 ends where the data ends.
func (st *state) putEnd(width, k int) {
	if width == 4 {
		binary.LittleEndian.PutUint32(st.ends[4*k:], uint32(st.put))
	} else {
		binary.LittleEndian.PutUint64(st.ends[8*k:], uint64(st.put))
	}
}

// takeFull writes n nested values that b begins with and returns what is behind
// them.
func (d *Decoder) takeFull(nd *node, b []byte, n int) []byte {
	st := &d.st[nd.id]
	some := b[0] == 1
	b = b[1:]
	if some {
		if size := (n + 7) / 8; len(st.valid) > 0 {
			bitutil.CopyBitmap(b, 0, n, st.valid, st.n)
			b = b[size:]
		} else {
			b = b[size:]
		}
	} else if len(st.valid) > 0 {
		bitutil.SetBitsTo(st.valid, int64(st.n), int64(n), true)
	}
	b = d.takeBody(nd, b, n)
	st.n += n
	return b
}

// takeBody is takeFull without what says which are null, and without counting
// the values.
func (d *Decoder) takeBody(nd *node, b []byte, n int) []byte {
	st := &d.st[nd.id]
	switch nd.kind {
	case bools:
		if n > 0 {
			bitutil.CopyBitmap(b, 0, n, st.values, st.n)
		}
		return b[(n+7)/8:]
	case plain:
		size := n * nd.width
		copy(st.values[st.n*nd.width:], b[:size])
		return b[size:]
	case text, list:
		head := b[:4*n]
		b = b[4*n:]
		before := st.put
		for k := range n {
			st.put += int(binary.LittleEndian.Uint32(head[4*k:]))
			st.putEnd(nd.width, st.n+k+1)
		}
		total := st.put - before
		if nd.kind == list {
			return d.takeFull(nd.kids[0], b, total)
		}
		copy(st.values[before:], b[:total])
		return b[total:]
	case vector:
		return d.takeFull(nd.kids[0], b, n*nd.width)
	case record:
		for _, k := range nd.kids {
			b = d.takeFull(k, b, n)
		}
	}
	return b
}
