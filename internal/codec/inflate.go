package codec

import (
	"errors"
	"io"
)

type inflateStage uint8

const (
	inflateHead inflateStage = iota
	inflateStored
	inflateSymbols
	inflateEnded
)

var (
	errInflateBlock    = errors.New("block of no known kind")
	errInflateStored   = errors.New("stored block's length differs from its complement")
	errInflateCode     = errors.New("code lengths make no code")
	errInflateSymbol   = errors.New("code without a meaning")
	errInflateDistance = errors.New("distance before start")
)

// inflate decodes a DEFLATE stream, RFC 1951, and can stop at any bit of it.
// Reset it by reset.
type inflate struct {
	// bits are those read and not used; the lowest comes first. Outside of
	// fast there are fewer than 8: bytes are taken when they are wanted.
	bits  uint64
	have  uint
	stage inflateStage
	last  bool // the block is the last
	n     int  // bytes still to come of a stored block or a copy,
	off   int  // and how far back the copy is from

	litMask, distMask uint32 // of second tables
	fixed             bool   // the tables are those of fixed codes
	lit               [litSize]uint32
	dist              [distSize]uint32
	lens              [litSymbols + distSymbols]uint8
}

func (f *inflate) reset() {
	f.bits, f.have, f.stage, f.last, f.n = 0, 0, inflateHead, false, 0
}

// decode appends to the window until the next byte has no room (false) or the
// stream ends (true), which leaves the window's input behind its last byte.
func (f *inflate) decode(w *window) (ended bool, err error) {
	for err == nil {
		switch f.stage {
		case inflateHead:
			err = f.block(w)
		case inflateStored:
			if f.n == 0 {
				f.blockEnd()
				continue
			}
			if w.room() <= 0 {
				return false, nil
			}
			var n int
			n, err = w.literal(f.n)
			f.n -= n
		case inflateSymbols:
			var full bool
			if full, err = f.symbols(w); full {
				return false, nil
			}
		case inflateEnded:
			f.bits, f.have = 0, 0
			return true, nil
		}
	}
	return false, err
}

func (f *inflate) blockEnd() {
	f.stage = inflateHead
	if f.last {
		f.stage = inflateEnded
	}
}

// more takes one more byte of the input.
func (f *inflate) more(w *window) error {
	if w.r == w.n {
		if have, err := w.need(1); err != nil {
			return err
		} else if have == 0 {
			return io.ErrUnexpectedEOF
		}
	}
	f.bits |= uint64(w.in[w.r]) << f.have
	f.have += 8
	w.r++
	return nil
}

// take gives the next n bits, at most 32.
func (f *inflate) take(w *window, n uint) (int, error) {
	for f.have < n {
		if err := f.more(w); err != nil {
			return 0, err
		}
	}
	v := int(f.bits & (1<<n - 1))
	f.drop(n)
	return v, nil
}

func (f *inflate) drop(n uint) {
	f.bits >>= n
	f.have -= n
}

// block reads the head of a block.
func (f *inflate) block(w *window) error {
	head, err := f.take(w, 3)
	if err != nil {
		return err
	}
	f.last = head&1 != 0
	switch head >> 1 {
	case 0:
		f.drop(f.have)
		sizes, err := f.take(w, 32)
		if err != nil {
			return err
		}
		f.n = sizes & 0xffff
		if f.n^0xffff != sizes>>16 {
			return errInflateStored
		}
		f.stage = inflateStored
		return nil
	case 1:
		f.fixedTables()
	case 2:
		if err := f.tables(w); err != nil {
			return err
		}
	default:
		return errInflateBlock
	}
	f.n = 0
	f.stage = inflateSymbols
	return nil
}

func (f *inflate) fixedTables() {
	if f.fixed {
		return
	}
	for i := range f.lens {
		switch {
		case i < 144:
			f.lens[i] = 8
		case i < 256:
			f.lens[i] = 9
		case i < 280:
			f.lens[i] = 7
		case i < litSymbols:
			f.lens[i] = 8
		default:
			f.lens[i] = 5
		}
	}
	f.litMask, _ = buildTable(f.lit[:], litBits, f.lens[:litSymbols], litEntries[:])
	f.distMask, _ = buildTable(f.dist[:], distBits, f.lens[litSymbols:], distEntries[:])
	pairLiterals(&f.lit)
	f.fixed = true
}

// lengthOrder is the order in which a block gives the lengths of the codes
// for code lengths.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthBits is the longest code of a code length.
const lengthBits = 7

var lengthEntries = func() (t [19]uint32) {
	for i := range t {
		t[i] = uint32(i) << 16
	}
	return t
}()

// tables reads the codes of a block.
func (f *inflate) tables(w *window) error {
	f.fixed = false
	counts, err := f.take(w, 14)
	if err != nil {
		return err
	}
	lits, dists := counts&31+257, counts>>5&31+1
	if lits > 286 || dists > 30 {
		return errInflateCode
	}
	var lens [19]uint8
	for i := range counts>>10 + 4 {
		n, err := f.take(w, 3)
		if err != nil {
			return err
		}
		lens[lengthOrder[i]] = uint8(n)
	}
	var table [1 << lengthBits]uint32
	if _, ok := buildTable(table[:], lengthBits, lens[:], lengthEntries[:]); !ok {
		return errInflateCode
	}
	if err := f.lengths(w, &table, lits+dists); err != nil {
		return err
	}
	var ok bool
	if f.distMask, ok = buildTable(f.dist[:], distBits, f.lens[lits:lits+dists], distEntries[:]); !ok {
		return errInflateCode
	}
	if f.litMask, ok = buildTable(f.lit[:], litBits, f.lens[:lits], litEntries[:]); !ok {
		return errInflateCode
	}
	pairLiterals(&f.lit)
	return nil
}

// lengths reads n code lengths, which are coded themselves.
func (f *inflate) lengths(w *window, table *[1 << lengthBits]uint32, n int) error {
	for i := 0; i < n; {
		e := table[f.bits&(1<<lengthBits-1)]
		if e&entryOther != 0 {
			return errInflateSymbol
		}
		if uint(e&0xff) > f.have {
			if err := f.more(w); err != nil {
				return err
			}
			continue
		}
		f.drop(uint(e & 0xff))
		symbol := uint8(e >> 16)
		if symbol < 16 {
			f.lens[i] = symbol
			i++
			continue
		}
		var extra, least uint
		var value uint8
		switch symbol {
		case 16:
			if i == 0 {
				return errInflateCode
			}
			extra, least, value = 2, 3, f.lens[i-1]
		case 17:
			extra, least = 3, 3
		case 18:
			extra, least = 7, 11
		}
		k, err := f.take(w, extra)
		if err != nil {
			return err
		}
		k += int(least)
		if k > n-i {
			return errInflateCode
		}
		for ; k > 0; k-- {
			f.lens[i] = value
			i++
		}
	}
	return nil
}

// symbols decodes literals and copies until the block ends, or until the next
// byte has no room.
func (f *inflate) symbols(w *window) (full bool, err error) {
	for {
		if f.n > 0 {
			if w.room() <= 0 {
				return true, nil
			}
			f.n -= w.match(f.off, f.n)
			continue
		}
		if _, err := w.need(lookahead); err != nil {
			return false, err
		}
		f.fast(w)
		full, err := f.symbol(w)
		if full || err != nil || f.stage != inflateSymbols {
			return full, err
		}
	}
}

// symbol decodes one literal, or a length and a distance, a bit at a time
// where it must.
func (f *inflate) symbol(w *window) (full bool, err error) {
	e, err := f.entry(w, f.lit[:], litBits, f.litMask)
	if err != nil {
		return false, err
	}
	switch {
	case e&entryLiteral != 0:
		if w.room() <= 0 {
			return true, nil
		}
		literal := uint8(e >> 16)
		f.drop(uint(f.lens[literal]))
		w.buf[w.wr] = literal
		w.wr++
		return false, nil
	case e&entryEnd != 0:
		f.drop(uint(e & 0xff))
		f.blockEnd()
		return false, nil
	}
	n := f.value(e)
	if e, err = f.entry(w, f.dist[:], distBits, f.distMask); err != nil {
		return false, err
	}
	f.off = f.value(e)
	if f.off > w.wr-w.lo {
		return false, errInflateDistance
	}
	f.n = n
	return false, nil
}

// entry finds the entry that the next bits mean and sees that all it takes
// are there.
func (f *inflate) entry(w *window, table []uint32, primary uint, mask uint32) (uint32, error) {
	for {
		e := table[f.bits&(1<<primary-1)]
		if e&entrySecond != 0 {
			e = table[e>>16+uint32(f.bits>>primary)&mask]
		}
		n := uint(e & 0xff)
		if e&entryLiteral != 0 {
			n = uint(f.lens[uint8(e>>16)]) // of two, the second can wait
		}
		if n <= f.have {
			if e&(entryOther|entryEnd) == entryOther {
				return 0, errInflateSymbol
			}
			return e, nil
		}
		if err := f.more(w); err != nil {
			return 0, err
		}
	}
}

// value takes a length or a distance.
func (f *inflate) value(e uint32) int {
	v := int(e>>16) + int(f.bits&(1<<(e&0xff)-1)>>(e>>8&15))
	f.drop(uint(e & 0xff))
	return v
}
