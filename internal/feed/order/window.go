package order

// Window is the rows of consecutive positions: those from First on, as many as
// there are Rows. Held of them are to be read: all, until Narrow leaves out those
// that a share has no use for. They are numbered from 0 as Pieces gives them.
type Window struct {
	First, Rows int64
	Held        int64
	lo          int64 // rows of the window before those held
	epoch       *Epoch
	index       int
	start       [strata + 1]int32 // the first row of each stratum
	late        [strata]uint8     // 1: the window's first, partial round has none of the stratum
}

// Window describes window i, below Windows.
func (e *Epoch) Window(i int) *Window {
	w := &Window{First: e.first[i], Rows: e.end(i) - e.first[i], epoch: e, index: i}
	w.Held = w.Rows
	if !e.mixed() {
		w.start[strata] = int32(w.Rows)
		return w
	}
	var c tally
	c.add(e.key, w.First, w.First+w.Rows)
	for s, n := range c {
		w.start[s+1] = w.start[s] + int32(n)
	}
	for pos := w.First - w.First%strata; pos < w.First; pos++ {
		w.late[stratumOf(e.key, pos)] = 1
	}
	return w
}

// hold narrows the window to its rows [lo, hi), all of some strata where the
// order is not the natural one.
func (w *Window) hold(lo, hi int64) { w.lo, w.Held = lo, hi-lo }

// Pieces are what to read, in that order, to have the rows that are held. Pieces
// that lie side by side are one.
func (w *Window) Pieces() []Piece {
	p, lo, hi := w.epoch.plan, w.lo, w.lo+w.Held
	var out []Piece
	next := -1 // the piece that would continue the last one
	for at, row := int(w.epoch.begin[w.index]), int64(0); row < hi; at++ {
		piece := w.epoch.piece(at)
		rows := p.rowsOf(piece)
		from, to := max(lo-row, 0), min(hi-row, rows)
		row += rows
		if from >= to {
			continue
		}
		if piece == next && from == 0 {
			out[len(out)-1].Rows += to
		} else {
			out = append(out, p.locate(piece, from, to-from))
		}
		next = piece + 1
		if to < rows {
			next = -1
		}
	}
	return out
}

// locate is rows [skip, skip+rows) of a piece: from the nearest unit on.
func (p *Plan) locate(piece int, skip, rows int64) Piece {
	unit := int(p.pieces[piece])
	if parts := p.parts(p.units[unit].size()); parts > 1 {
		from, _ := part(p.units[unit].Rows, parts, p.partOf(piece))
		skip += from
	}
	for skip >= p.units[unit].Rows {
		skip -= p.units[unit].Rows
		unit++
	}
	return Piece{Unit: unit, From: p.units[unit].From, Skip: skip, Rows: rows}
}

// Deck draws the order of the rows that are held, 4 bytes a row, into dst, which
// is made larger if it must be; about 3 ns a row. Where the order is the natural
// one it is empty.
func (w *Window) Deck(dst []int32) []int32 {
	if !w.epoch.mixed() {
		return dst[:0]
	}
	if int64(cap(dst)) < w.Held {
		dst = make([]int32, w.Held)
	}
	dst = dst[:w.Held]
	k := key(w.epoch.key, 2, uint64(w.index))
	for s := range strata {
		from, to := int64(w.start[s])-w.lo, int64(w.start[s+1])-w.lo
		if from >= 0 && to <= w.Held {
			deal(dst[from:to], int32(from), draws(key(k, uint64(s))))
		}
	}
	return dst
}

// Numbers appends to dst the numbers of the rows at positions, all of which are
// of the window and held; deck is the window's Deck.
func (w *Window) Numbers(dst, deck []int32, positions []int64) []int32 {
	if !w.epoch.mixed() {
		for _, pos := range positions {
			dst = append(dst, int32(pos-w.First-w.lo))
		}
		return dst
	}
	begin, round, lo := w.First/strata, int64(-1), int32(w.lo)
	var t throw
	for _, pos := range positions {
		if r := pos / strata; r != round {
			round, t = r, throwOf(w.epoch.key, r)
		}
		s := t.stratum(pos % strata)
		dst = append(dst, deck[w.start[s]-lo+int32(round-begin)-int32(w.late[s])])
	}
	return dst
}
