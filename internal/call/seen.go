package call

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// seenParts is the number of parts of a seen: as many as a byte tells apart.
	seenParts = 256
	// keyBytes is what a key takes in its part, which tells 8 bits more of it.
	keyBytes = 12
	// chunkKeys lie in one chunk. Chunks are 63 lines of the cache, one less than a
	// page, so that those that are filled at the same pace do not fight for the same
	// lines.
	chunkKeys = 336
	// stageBytes of a part are moved at a time.
	stageBytes = 64 * keyBytes
	// stageStride is how far apart parts lie in the stage: not a multiple of a
	// power of two, so that they do not fight for lines of the cache either.
	stageStride = stageBytes + 16
	// slabBytes are mapped at a time.
	slabBytes = 256 << 10
	// seenBytes is what a seen can make use of for a few rows: a chunk for each part,
	// the stage, and what is pending.
	seenBytes = 4 << 20
)

// seen finds the first of their kind among rows that come in order. It goes by
// 103 bits of their keys and keeps 12 bytes of each that differs, and 13 of each that
// came since it last settled which those are: less than a dedup.Set, which has all keys
// until the end, and can go to disk.
type seen struct {
	share   *mem.Budget
	most    int64 // bytes that it may take of the share
	taken   int64
	window  int // rows that may be pending
	pending int
	order   []byte            // the part of each pending row
	stage   []byte            // keys on their way to parts: single ones written to so many places would wait for memory
	staged  [seenParts]uint16 // bytes of each part
	answers []uint64          // of them, each part's from a word on
	tables  []byte            // one for each that solves parts
	pool    *stream.Pool[dedup.HashScratch]
	parts   [seenParts]seenPart
	free    [][]byte // chunks
	blocks  []*mem.Block
	scratch *mem.Block // of the tables
	s0, s1  uint64     // of the hash, drawn anew for every seen, so that nobody can make data that is slow
}

// seenPart is the keys whose highest byte is the same: those that differ, and
// behind them those that are pending.
type seenPart struct {
	chunks  [][]byte
	n       int // keys
	settled int // of them
}

// newSeen expects at most about so many rows.
func newSeen(share *mem.Budget, most, expect int64, pool *stream.Pool[dedup.HashScratch]) *seen {
	window := int(min(max(expect/2, batchRows), 1<<30))
	return &seen{share: share, most: most, window: window, pool: pool, s0: rand.Uint64(), s1: rand.Uint64()}
}

// cut is the part of a key that a seen goes by; the other bits become the same for
// all keys.
func cut(k dedup.Key) dedup.Key { return dedup.Key{k[0] | 1, k[1] & (0xff<<56 | 1<<32 - 1)} }

// full says whether settle comes before so many keys more.
func (s *seen) full(keys int) bool { return s.pending+keys > s.window }

// add takes the keys of the next rows, batchRows at most. False: there is no room,
// and none was taken.
func (s *seen) add(keys []dedup.Key) bool {
	if !s.reserve(keys) {
		return false
	}
	order := s.order[s.pending : s.pending+len(keys)]
	stage := s.stage
	for i, k := range keys {
		p := byte(k[1] >> 56)
		order[i] = p
		from, n := int(p)*stageStride, int(s.staged[p])
		t := stage[from+n : from+n+keyBytes : from+n+keyBytes]
		binary.LittleEndian.PutUint64(t, k[0]|1)
		binary.LittleEndian.PutUint32(t[8:], uint32(k[1]))
		if n += keyBytes; n == stageBytes {
			s.move(&s.parts[p], stage[from:from+stageBytes])
			n = 0
		}
		s.staged[p] = uint16(n)
	}
	s.pending += len(keys)
	return true
}

// move appends keys to a part, for which there is room.
func (s *seen) move(p *seenPart, keys []byte) {
	for len(keys) > 0 {
		c := p.n / chunkKeys
		if c == len(p.chunks) {
			p.chunks = append(p.chunks, s.free[len(s.free)-1])
			s.free = s.free[:len(s.free)-1]
		}
		n := copy(p.chunks[c][p.n%chunkKeys*keyBytes:], keys)
		p.n += n / keyBytes
		keys = keys[n:]
	}
}

// moveAll empties the stage.
func (s *seen) moveAll() {
	for p := range s.parts {
		s.move(&s.parts[p], s.stage[p*stageStride:p*stageStride+int(s.staged[p])])
		s.staged[p] = 0
	}
}

// reserve finds the memory for keys.
func (s *seen) reserve(keys []dedup.Key) bool {
	if s.order == nil {
		words := s.window/64 + seenParts
		block, ok := s.take(8*words + seenParts*stageStride + s.window)
		if !ok {
			return false
		}
		s.blocks = append(s.blocks, block)
		b := block.Bytes()
		s.answers, b = arrow.Uint64Traits.CastFromBytes(b[:8*words]), b[8*words:]
		s.stage, s.order = b[:seenParts*stageStride], b[seenParts*stageStride:]
	}
	var more [seenParts]int
	for _, k := range keys {
		more[k[1]>>56]++
	}
	need := 0
	for i := range s.parts {
		p := &s.parts[i]
		need += max(0, (p.n+int(s.staged[i])/keyBytes+more[i]+chunkKeys-1)/chunkKeys-len(p.chunks))
	}
	for len(s.free) < need {
		block, ok := s.take(slabBytes)
		if !ok {
			return false
		}
		s.blocks = append(s.blocks, block)
		for b := block.Bytes(); len(b) >= chunkKeys*keyBytes; b = b[chunkKeys*keyBytes:] {
			s.free = append(s.free, b[:chunkKeys*keyBytes])
		}
	}
	return true
}

func (s *seen) take(size int) (*mem.Block, bool) {
	cost := int64(mem.BlockSize(size))
	if s.taken+cost > s.most {
		return nil, false
	}
	block, ok := s.share.TryMap(size)
	if ok {
		s.taken += cost
	}
	return block, ok
}

// settle calls tell with the answers of all pending rows, 64 at a time and the rest: the
// bits of those that are the first of their kind. False: there is no room, and
// nothing was told.
func (s *seen) settle(tell func(first uint64, n int) error) (bool, error) {
	if s.pending == 0 {
		return true, nil
	}
	s.moveAll()
	size, ok := s.makeTables()
	if !ok {
		return false, nil
	}
	var from [seenParts]int // of each part's answers, in bits
	at := 0
	for i := range s.parts {
		from[i] = at
		at += (s.parts[i].n - s.parts[i].settled + 63) &^ 63
	}
	err := s.pool.Each(s.pool.Threads(), func(worker int, _ *dedup.HashScratch) error {
		for i := worker; i < seenParts; i += s.pool.Threads() {
			s.solve(&s.parts[i], s.answers[from[i]/64:], s.tables[worker*size:])
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	s.collect()
	rows := s.order[:s.pending]
	s.pending = 0
	for len(rows) > 0 {
		some := rows[:min(64, len(rows))]
		var first uint64
		for i, p := range some {
			bit := from[p]
			from[p]++
			first |= s.answers[bit/64] >> (bit % 64) & 1 << i
		}
		if err := tell(first, len(some)); err != nil {
			return true, err
		}
		rows = rows[len(some):]
	}
	return true, nil
}

// makeTables makes a table for each worker, of so many bytes.
func (s *seen) makeTables() (size int, ok bool) {
	largest := 0
	for i := range s.parts {
		largest = max(largest, s.parts[i].n)
	}
	size = tableBytes(largest)
	all := size * s.pool.Threads()
	if all <= len(s.tables) {
		return size, true
	}
	s.drop()
	if s.scratch, ok = s.take(all); ok {
		s.tables = s.scratch.Bytes()
	}
	return size, ok
}

// tableBytes is the size of a table for n keys.
func tableBytes(n int) int { return (n + n/2 + 1) * keyBytes }

// collect takes back the chunks that parts have no more use for.
func (s *seen) collect() {
	for i := range s.parts {
		p := &s.parts[i]
		used := (p.n + chunkKeys - 1) / chunkKeys
		s.free = append(s.free, p.chunks[used:]...)
		p.chunks = p.chunks[:used]
	}
}

// solve sets the bits of the pending keys of a part that are the first of their kind,
// and leaves out the others.
func (s *seen) solve(p *seenPart, first []uint64, table []byte) {
	if p.n == p.settled {
		return
	}
	clear(first[:(p.n-p.settled+63)/64])
	table = table[:tableBytes(p.n)]
	clear(table)
	var at [chunkKeys]int
	n := 0 // keys that differ
	for c := range (p.n + chunkKeys - 1) / chunkKeys {
		chunk := p.chunks[c][:min(p.n-c*chunkKeys, chunkKeys)*keyBytes]
		for i, slot := range s.slots(table, chunk, &at) {
			t := chunk[i*keyBytes : i*keyBytes+keyBytes : i*keyBytes+keyBytes]
			low, high := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:])
			isNew := put(table, slot, low, high)
			if row := c*chunkKeys + i - p.settled; row >= 0 {
				first[row/64] |= isNew << (row % 64)
				to := p.chunks[n/chunkKeys][n%chunkKeys*keyBytes:]
				binary.LittleEndian.PutUint64(to, low)
				binary.LittleEndian.PutUint32(to[8:], high)
			}
			n += int(isNew)
		}
	}
	p.n, p.settled = n, n
}

// slots is where the keys of a chunk lie in a table. They are asked for before they
// are needed, many at a time.
func (s *seen) slots(table, chunk []byte, at *[chunkKeys]int) []int {
	n := len(chunk) / keyBytes
	for i := range n {
		t := chunk[i*keyBytes : i*keyBytes+keyBytes : i*keyBytes+keyBytes]
		at[i] = s.slot(table, binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:]))
	}
	return at[:n]
}

// slot is where a key lies in a table, if no other does.
func (s *seen) slot(table []byte, low uint64, high uint32) int {
	a, b := bits.Mul64(low^s.s0, uint64(high)^s.s1)
	at, _ := bits.Mul64(bits.RotateLeft64(a^b, 32), uint64(len(table)/keyBytes))
	return int(at) * keyBytes
}

// put adds a key to a table that is not full, and is 1 when it was not there.
// Whether a slot is free or has the key already is no branch: the key is written in
// both cases, because which one it is cannot be foretold.
func put(table []byte, at int, low uint64, high uint32) uint64 {
	for {
		t := table[at : at+keyBytes : at+keyBytes]
		l, h := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:])
		other := (l ^ low) | uint64(h^high)
		used := (l | -l) >> 63
		if (other|-other)>>63&used == 0 {
			binary.LittleEndian.PutUint64(t, low)
			binary.LittleEndian.PutUint32(t[8:], high)
			return used ^ 1
		}
		if at += keyBytes; at == len(table) {
			at = 0
		}
	}
}

// drain calls f with all keys, cut: those that are settled, in any order, and then
// the pending ones in that of the rows.
func (s *seen) drain(f func(keys []dedup.Key, pending bool) error) error {
	if s.pending > 0 {
		s.moveAll()
	}
	s.drop()
	keys := make([]dedup.Key, 0, 1024)
	pass := func(p, n int, pending bool) (err error) {
		t := s.parts[p].chunks[n/chunkKeys][n%chunkKeys*keyBytes:]
		keys = append(keys, dedup.Key{binary.LittleEndian.Uint64(t), uint64(p)<<56 | uint64(binary.LittleEndian.Uint32(t[8:]))})
		if len(keys) == cap(keys) {
			err, keys = f(keys, pending), keys[:0]
		}
		return err
	}
	for p := range s.parts {
		for n := range s.parts[p].settled {
			if err := pass(p, n, false); err != nil {
				return err
			}
		}
	}
	if err := f(keys, false); err != nil {
		return err
	}
	keys = keys[:0]
	for _, p := range s.order[:s.pending] {
		if err := pass(int(p), s.parts[p].settled, true); err != nil {
			return err
		}
		s.parts[p].settled++
	}
	return f(keys, true)
}

// drop gives back the memory of the tables.
func (s *seen) drop() {
	if s.scratch != nil {
		s.taken -= int64(s.scratch.Cap())
		s.scratch.Free()
		s.share.Trim() // the next one is of another size
	}
	s.scratch, s.tables = nil, nil
}

// close gives all memory back. Of nil it does nothing.
func (s *seen) close() {
	if s == nil {
		return
	}
	s.drop()
	for _, b := range s.blocks {
		b.Free()
	}
	*s = seen{}
}
