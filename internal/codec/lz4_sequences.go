package codec

import "io"

type lz4Stage uint8

const (
	lz4Token lz4Stage = iota
	lz4LiteralLength
	lz4Literal
	lz4MatchOffset
	lz4MatchLength
	lz4Match
	lz4Stored // not compressed: the block is its own output
)

// lz4Sequences decodes one block and can stop at any byte of it.
type lz4Sequences struct {
	stage lz4Stage
	open  bool  // the block ends where the source does
	left  int64 // compressed bytes still to come
	room  int64 // decompressed bytes still allowed
	token int
	n     int // of the literal or match at hand
	off   int
}

// decode fills the window from the block and reports whether there is more
// of it.
func (q *lz4Sequences) decode(w *window) (more bool, err error) {
	for w.room() > 0 {
		if q.stage == lz4Stored {
			return q.stored(w)
		}
		if q.stage == lz4Token {
			if err := q.run(w); err != nil {
				return false, err
			}
			if w.room() == 0 {
				break
			}
		}
		ended, err := q.step(w)
		if ended || err != nil {
			return false, err
		}
	}
	return true, nil
}

// run takes the fast path for as long as it goes.
func (q *lz4Sequences) run(w *window) error {
	if _, err := w.need(lookahead); err != nil {
		return err
	}
	in := w.in[:w.r+int(min(q.left, int64(w.n-w.r)))]
	buf := w.buf[:w.wr+int(min(q.room, int64(w.room())))]
	d, s, err := lz4Run(buf, w.wr, w.lo, in, w.r)
	q.left -= int64(s - w.r)
	q.room -= int64(d - w.wr)
	w.wr, w.r = d, s
	return err
}

// step does one stage of a sequence, or as much of it as input and window
// allow, and reports whether the block has ended.
func (q *lz4Sequences) step(w *window) (ended bool, err error) {
	switch q.stage {
	case lz4Token:
		q.token, err = q.byte(w)
		q.begin(lz4LiteralLength, q.token>>4)
	case lz4LiteralLength, lz4MatchLength:
		var b int
		b, err = q.byte(w)
		if q.n += b; b != 255 {
			q.stage++
		}
	case lz4Literal:
		if q.n == 0 {
			return q.literalEnd(w)
		}
		n := 0
		if int64(q.n) > q.left {
			return false, io.ErrUnexpectedEOF
		}
		n, err = w.literal(q.n)
		q.n -= n
		q.left -= int64(n)
		q.room -= int64(n)
	case lz4MatchOffset:
		var lo, hi int
		if lo, err = q.byte(w); err == nil {
			hi, err = q.byte(w)
		}
		if q.off = lo | hi<<8; err == nil {
			err = lz4Offset(q.off, w.wr-w.lo)
		}
		q.begin(lz4MatchLength, q.token&15)
		q.n += 4
	case lz4Match:
		n := w.match(q.off, q.n)
		q.room -= int64(n)
		if q.n -= n; q.n == 0 {
			q.stage = lz4Token
		}
	}
	if err == nil && int64(q.n) > q.room {
		err = errLZ4Long
	}
	return false, err
}

// begin starts on a length whose token nibble is n; only 15 has more bytes.
func (q *lz4Sequences) begin(stage lz4Stage, n int) {
	q.stage, q.n = stage, n
	if n < 15 {
		q.stage++
	}
}

// literalEnd tells the end of a block, which is behind literals, from a match.
func (q *lz4Sequences) literalEnd(w *window) (ended bool, err error) {
	if q.left == 0 {
		return true, nil
	}
	have, err := w.need(1)
	if err != nil || (have == 0 && q.open) {
		return true, err
	}
	q.stage = lz4MatchOffset
	return false, nil
}

// byte takes one byte of the block.
func (q *lz4Sequences) byte(w *window) (int, error) {
	have, err := w.need(1)
	if err != nil {
		return 0, err
	}
	if have == 0 || q.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := w.in[w.r]
	w.r++
	q.left--
	return int(b), nil
}

// stored passes bytes through.
func (q *lz4Sequences) stored(w *window) (more bool, err error) {
	if q.left == 0 {
		return false, nil
	}
	if q.left > q.room {
		return false, errLZ4Long
	}
	n, err := w.literal(int(q.left))
	q.left -= int64(n)
	q.room -= int64(n)
	return q.left > 0, err
}
