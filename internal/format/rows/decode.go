package rows

import (
	"encoding/binary"
	"math"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// Decoder makes records of rows, one goroutine at a time.
type Decoder struct {
	f   *Form
	st  []state
	ram []byte
	at  []int
}

// state is what there is of a node, and where it goes.
type state struct {
	rows, nulls, data int

	n, put       int // rows and data that were written
	valid        []byte
	values, ends []byte
}

// NewDecoder makes one.
func (f *Form) NewDecoder() *Decoder { return &Decoder{f: f, st: make([]state, len(f.nodes))} }

// ErrRow is of kind ErrData: bytes are not those of a row.
var ErrRow = format.Error(format.ErrData, "a row is damaged")

// Measure chooses the rows that begin at places of ram, which is borrowed until
// Take, checks them, and says how many bytes a record of them has.
func (d *Decoder) Measure(ram []byte, at []int) (int, error) {
	d.ram, d.at = ram, at
	for i := range d.st {
		d.st[i] = state{}
	}
	for _, a := range at {
		if a < 0 || a > len(ram) {
			return 0, ErrRow
		}
		if _, ok := d.f.Size(ram[a:]); !ok {
			return 0, ErrRow
		}
	}
	d.countNulls()
	last := -1 // column with bytes, before the one that is looked at
	for c, root := range d.f.roots {
		st := &d.st[root.id]
		if st.rows = len(at); root.kind == nulls {
			st.nulls = len(at)
		}
		if root.kind < text {
			continue
		}
		if !d.measure(c, last, root) {
			return 0, ErrRow
		}
		last = c
	}
	for i, nd := range d.f.nodes {
		st := &d.st[i]
		if st.rows > math.MaxInt32 || (nd.kind == text || nd.kind == list) && nd.width == 4 && st.data > math.MaxInt32 {
			return 0, format.Error(format.ErrData, "%d rows have more values or bytes than a batch can hold", len(at))
		}
	}
	return d.place(nil), nil
}

// countNulls counts them in every column.
func (d *Decoder) countNulls() {
	width := (len(d.f.roots) + 7) / 8
	for k := range width {
		byAll := byte(0xff)
		for _, a := range d.at {
			byAll &= d.ram[a+d.f.bits+k]
		}
		if byAll == 0xff {
			continue
		}
		for c := 8 * k; c < min(8*k+8, len(d.f.roots)); c++ {
			if byAll>>(c&7)&1 != 0 {
				continue
			}
			n := 0
			for _, a := range d.at {
				n += int(^d.ram[a+d.f.bits+k] >> (c & 7) & 1)
			}
			d.st[d.f.roots[c].id].nulls = n
		}
	}
}

// span is the bytes of a column in the row at a; last is the column with bytes
// before it, less than 0: none.
func (d *Decoder) span(a, c, last int) (from, to int) {
	from = d.f.fixed
	if last >= 0 {
		from = int(binary.LittleEndian.Uint32(d.ram[a+d.f.slots[last]:]))
	}
	return a + from, a + int(binary.LittleEndian.Uint32(d.ram[a+d.f.slots[c]:]))
}

// measure counts the bytes or values of a column; false: they are damaged.
func (d *Decoder) measure(c, last int, root *node) bool {
	st := &d.st[root.id]
	for _, a := range d.at {
		size, _ := d.f.Size(d.ram[a:])
		from, to := d.span(a, c, last)
		if from < a+d.f.fixed || to < from || to > a+size {
			return false
		}
		if root.kind == text {
			st.data += to - from
			continue
		}
		rest, ok := d.scanBody(root, d.ram[from:to:to], 1)
		if !ok || len(rest) > 0 {
			return false
		}
	}
	return true
}

// scanFull counts n nested values that b begins with and returns what is behind
// them; false: they are damaged.
func (d *Decoder) scanFull(nd *node, b []byte, n int) ([]byte, bool) {
	st := &d.st[nd.id]
	if st.rows += n; n > math.MaxInt32 || len(b) == 0 || b[0] > 1 {
		return nil, false
	}
	if b[0] == 1 {
		size := (n + 7) / 8
		if len(b) <= size {
			return nil, false
		}
		st.nulls += n - ones(b[1:1+size], n)
		b = b[size:]
	}
	if nd.kind == nulls {
		st.nulls = st.rows
	}
	return d.scanBody(nd, b[1:], n)
}

// scanBody is scanFull without what says which are null.
func (d *Decoder) scanBody(nd *node, b []byte, n int) (_ []byte, ok bool) {
	st := &d.st[nd.id]
	size := 0
	switch nd.kind {
	case bools:
		size = (n + 7) / 8
	case plain:
		size = n * nd.width
	case text, list:
		size = 4 * n
	}
	if len(b) < size {
		return nil, false
	}
	head, b := b[:size], b[size:]
	switch nd.kind {
	case text, list:
		total := 0
		for ; len(head) > 0; head = head[4:] {
			total += int(binary.LittleEndian.Uint32(head))
		}
		st.data += total
		if nd.kind == list {
			return d.scanFull(nd.kids[0], b, total)
		}
		if len(b) < total {
			return nil, false
		}
		return b[total:], true
	case vector:
		if nd.width > 0 && n > math.MaxInt32/nd.width {
			return nil, false
		}
		return d.scanFull(nd.kids[0], b, n*nd.width)
	case record:
		for _, k := range nd.kids {
			if b, ok = d.scanFull(k, b, n); !ok {
				return nil, false
			}
		}
	}
	return b, true
}

// Take writes the columns of the rows that were measured to dst, which begins at
// a multiple of 64; Measure said how many bytes. Too few are mem.ErrTooSmall.
func (d *Decoder) Take(dst []byte) error {
	if need := d.place(nil); len(dst) < need {
		return &mem.TooSmallError{Share: "rows: batch", Need: int64(need), Limit: int64(len(dst))}
	}
	d.place(dst)
	for at := d.at; len(at) > 0; {
		n := min(tile, len(at))
		d.takeTile(at[:n])
		at = at[n:]
	}
	d.ram, d.at = nil, nil
	return nil
}
