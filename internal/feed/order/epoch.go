package order

import (
	"slices"
	"sort"

	"github.com/weir-data/weir/internal/stream"
)

// Epoch is the sequence of one epoch's samples: every row of the dataset at one
// position. It is safe for concurrent use.
type Epoch struct {
	plan   *Plan
	number int
	key    uint64
	order  []uint32 // pieces as they come; nil: as they lie
	begin  []uint32 // the place in order of each window's first piece
	first  []int64  // the position of each window's first row
	widest int64    // rows of the window with the most
}

// Piece is a run of rows to read: Rows rows from From on, after Skip others.
type Piece struct {
	Unit       int // of the rows' first, in the plan's units
	From       stream.Cursor
	Skip, Rows int64
}

// Epoch computes the order of epoch e, 0 or more: about 0.1 µs a unit, once.
func (p *Plan) Epoch(e int) *Epoch {
	ep := &Epoch{plan: p, number: e, key: p.key(e)}
	if p.opt.Shuffle {
		ep.order = make([]uint32, len(p.pieces))
		deal(ep.order, 0, draws(key(ep.key, 1)))
	}
	n := min(int64(len(p.pieces)), p.mostWindows())
	ep.begin, ep.first = make([]uint32, 0, n), make([]int64, 0, n)
	var sizes [256]size
	var pos, rows, weight int64 // rows and weight: of the window that grows
	for at := 0; at < len(p.pieces); {
		for _, s := range ep.measure(&sizes, at) {
			if at == 0 || s.weight > p.opt.Window-weight || rows+s.rows > mostRows {
				ep.begin, ep.first = append(ep.begin, uint32(at)), append(ep.first, pos)
				rows, weight = 0, 0
			}
			pos, rows, weight = pos+s.rows, rows+s.rows, weight+s.weight
			ep.widest = max(ep.widest, rows)
			at++
		}
	}
	return ep
}

// key tells the shuffled epochs of all seeds apart.
func (p *Plan) key(e int) uint64 {
	if !p.opt.Shuffle {
		return natural
	}
	return key(p.opt.Seed, uint64(e)) | 1
}

// Rows of the epoch: positions are 0 to Rows-1.
func (e *Epoch) Rows() int64 { return e.plan.rows }

// Windows of the epoch.
func (e *Epoch) Windows() int { return len(e.first) }

// Widest is the rows of the window that has most.
func (e *Epoch) Widest() int64 { return e.widest }

// Most is the rows that a window of any epoch may have: another order puts other
// units together.
func (p *Plan) Most() int64 {
	dense := 0.0 // rows by weight, of the unit that has most
	for i := range p.units {
		s := p.units[i].size()
		dense = max(dense, float64(s.rows)/float64(max(1, s.weight)))
	}
	most := min(p.rows, mostRows, int64(dense*float64(p.opt.Window))+1)
	return max(most, p.Epoch(0).widest)
}

// At is the window that position pos, below Rows, is in.
func (e *Epoch) At(pos int64) int {
	return sort.Search(len(e.first), func(i int) bool { return e.first[i] > pos }) - 1
}

// piece is the piece that comes at a place.
func (e *Epoch) piece(at int) int {
	if e.order == nil {
		return at
	}
	return int(e.order[at])
}

// end is the position after window i's last row.
func (e *Epoch) end(i int) int64 {
	if i+1 < len(e.first) {
		return e.first[i+1]
	}
	return e.plan.rows
}

// measure is the sizes of the pieces that come from a place on, as many as
// there is room for. Units lie far apart in an order: looking at many of them
// in a loop that does nothing else lets their memory come side by side.
func (e *Epoch) measure(sizes *[256]size, at int) []size {
	p := e.plan
	n := min(len(sizes), len(p.pieces)-at)
	var units [len(sizes)]uint32
	for i := range n {
		units[i] = p.pieces[e.piece(at+i)]
	}
	for i, unit := range units[:n] {
		sizes[i] = p.units[unit].size()
	}
	for i := range n {
		sizes[i] = p.grow(e.piece(at+i), sizes[i])
	}
	return sizes[:n]
}

// grow is the size of a piece whose first unit is of size s.
func (p *Plan) grow(piece int, s size) size {
	if parts := p.parts(s); parts > 1 {
		from, to := part(s.rows, parts, p.partOf(piece))
		return size{to - from, (s.weight-1)/parts + 1}
	}
	if s.weight > p.opt.Window/64 {
		return s // nothing is put together with it
	}
	end := len(p.units)
	if piece+1 < len(p.pieces) {
		end = int(p.pieces[piece+1])
	}
	for i := int(p.pieces[piece]) + 1; i < end; i++ {
		more := p.units[i].size()
		s.rows, s.weight = s.rows+more.rows, s.weight+more.weight
	}
	return s
}

// rowsOf is a piece's rows.
func (p *Plan) rowsOf(piece int) int64 {
	return p.grow(piece, p.units[p.pieces[piece]].size()).rows
}

// partOf is which part of its unit a piece is.
func (p *Plan) partOf(piece int) int64 {
	i, _ := slices.BinarySearch(p.pieces[:piece+1], p.pieces[piece])
	return int64(piece - i)
}

// part is rows [from, to) of n, the i-th of parts that differ by a row at most.
func part(n, parts, i int64) (from, to int64) {
	each, more := n/parts, n%parts
	from = each*i + min(i, more)
	to = from + each
	if i < more {
		to++
	}
	return from, to
}
