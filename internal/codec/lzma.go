package codec

import "errors"

var (
	errLZMAData     = errors.New("chunk is damaged")
	errLZMADistance = errors.New("distance before start")
)

const (
	lzmaStates    = 12
	lzmaPositions = 16 // the most positions that probabilities are kept apart for
	lzmaLiteral   = 0x300
	// lzmaContexts is how many sets of probabilities literals may have: LZMA2
	// uses four bits of their position and of the byte before.
	lzmaContexts = 16
	lzmaHalf     = 1 << 10 // the probability of one half
	// lzmaRead is more than a symbol takes of the input.
	lzmaRead = 32
)

type lzmaLengths struct {
	choice [2]uint16
	low    [lzmaPositions][8]uint16
	mid    [lzmaPositions][8]uint16
	high   [256]uint16
}

// lzmaModel has the probabilities of all that is coded, in 1/2048.
type lzmaModel struct {
	match, repLong        [lzmaStates][lzmaPositions]uint16
	rep, rep0, rep1, rep2 [lzmaStates]uint16
	slot                  [4][64]uint16
	special               [128]uint16
	align                 [16]uint16
	length, repLength     lzmaLengths
	literal               [lzmaContexts * lzmaLiteral]uint16
}

// lzma decodes the symbols of LZMA2 chunks.
type lzma struct {
	rangeCoder
	state          int
	reps           [4]int // distances of the last matches, less one
	n              int    // bytes still to come of the match at hand
	dict           int    // how far back a match may be
	lc             uint
	lpMask, pbMask int
	model          lzmaModel
}

// resetState begins anew with the properties that a chunk gives.
func (z *lzma) resetState(properties byte) error {
	p := int(properties)
	lc, lp, pb := p%9, p/9%5, p/45
	if pb > 4 || lc+lp > 4 {
		return errLZMAData
	}
	z.lc, z.lpMask, z.pbMask = uint(lc), 1<<lp-1, 1<<pb-1
	z.reset()
	return nil
}

func (z *lzma) reset() {
	z.state, z.reps, z.n = 0, [4]int{}, 0
	m := &z.model
	for _, p := range [][]uint16{m.rep[:], m.rep0[:], m.rep1[:], m.rep2[:], m.special[:], m.align[:], m.literal[:]} {
		halve(p)
	}
	for i := range m.match {
		halve(m.match[i][:])
		halve(m.repLong[i][:])
	}
	for i := range m.slot {
		halve(m.slot[i][:])
	}
	for _, l := range []*lzmaLengths{&m.length, &m.repLength} {
		halve(l.choice[:])
		halve(l.high[:])
		for i := range l.low {
			halve(l.low[i][:])
			halve(l.mid[i][:])
		}
	}
}

func halve(p []uint16) {
	for i := range p {
		p[i] = lzmaHalf
	}
}

// decode makes buf[pos:stop]. made is how many bytes there were before, of
// which buf, a ring, holds the last; the one before buf[0] is its last. buf is
// longer than dict by wide at least: so much behind buf[stop] is overwritten.
func (z *lzma) decode(buf []byte, pos, stop, made int) error {
	base := made - pos
	for pos < stop {
		if z.n > 0 {
			pos = z.copy(buf, pos, stop)
			continue
		}
		if z.s > z.end {
			return errLZMAData
		}
		at := base + pos
		position := at & z.pbMask
		if z.bit(&z.model.match[z.state][position]) == 0 {
			buf[pos] = z.literal(buf, pos, at)
			pos++
			continue
		}
		if err := z.match(position); err != nil {
			return err
		}
		if z.reps[0] >= min(at, z.dict) {
			return errLZMADistance
		}
	}
	return nil
}

// copy makes what it can of the match at hand.
func (z *lzma) copy(buf []byte, pos, stop int) int {
	n := min(z.n, stop-pos)
	from := pos - z.reps[0] - 1
	if from < 0 {
		from += len(buf)
		n = min(n, len(buf)-from)
		copy(buf[pos:pos+n], buf[from:])
	} else if off := pos - from; pos+n+wide <= len(buf) {
		copyWide(buf, pos, off, n)
	} else {
		copyMatch(buf, pos, off, n)
	}
	z.n -= n
	return pos + n
}

func (z *lzma) literal(buf []byte, pos, at int) byte {
	before := 0
	if at > 0 {
		last := pos - 1
		if last < 0 {
			last = len(buf) - 1
		}
		before = int(buf[last])
	}
	context := (at&z.lpMask)<<z.lc + before>>(8-z.lc)
	probs := (*[lzmaLiteral]uint16)(z.model.literal[context*lzmaLiteral:])
	if z.state < 7 {
		z.state = max(0, z.state-3)
		return byte(z.tree(probs[:256], 8))
	}
	from := pos - z.reps[0] - 1
	if from < 0 {
		from += len(buf)
	}
	z.state -= 3
	if z.state >= 7 {
		z.state -= 3
	}
	return z.matchedByte(probs, int(buf[from]))
}

// match decodes the length of a match to n and its distance to reps[0].
func (z *lzma) match(position int) error {
	m, state := &z.model, z.state
	long := 0 // added to the next state behind a match
	if state >= 7 {
		long = 3
	}
	if z.bit(&m.rep[state]) == 0 {
		z.reps[3], z.reps[2], z.reps[1] = z.reps[2], z.reps[1], z.reps[0]
		z.n = z.length(&m.length, position)
		z.state = 7 + long
		z.reps[0] = z.distance(min(z.n-2, 3))
		if z.reps[0] == 1<<32-1 {
			return errLZMAData // the mark of an end, which LZMA2 does not use
		}
		return nil
	}
	if z.bit(&m.rep0[state]) == 0 {
		if z.bit(&m.repLong[state][position]) == 0 {
			z.n = 1
			z.state = 9 + long*2/3
			return nil
		}
	} else if z.bit(&m.rep1[state]) == 0 {
		z.reps[0], z.reps[1] = z.reps[1], z.reps[0]
	} else if z.bit(&m.rep2[state]) == 0 {
		z.reps[0], z.reps[1], z.reps[2] = z.reps[2], z.reps[0], z.reps[1]
	} else {
		z.reps = [4]int{z.reps[3], z.reps[0], z.reps[1], z.reps[2]}
	}
	z.n = z.length(&m.repLength, position)
	z.state = 8 + long
	return nil
}

func (z *lzma) length(l *lzmaLengths, position int) int {
	switch {
	case z.bit(&l.choice[0]) == 0:
		return 2 + z.tree(l.low[position][:], 3)
	case z.bit(&l.choice[1]) == 0:
		return 10 + z.tree(l.mid[position][:], 3)
	}
	return 18 + z.tree(l.high[:], 8)
}

// distance decodes a distance, less one.
func (z *lzma) distance(kind int) int {
	slot := z.tree(z.model.slot[kind][:], 6)
	if slot < 4 {
		return slot
	}
	n := slot/2 - 1
	d := (2 + slot&1) << n
	if slot < 14 {
		return d + z.reverseTree(z.model.special[d-slot:], n)
	}
	d += z.direct(n-4) << 4
	return d + z.reverseTree(z.model.align[:], 4)
}
