package bpe

import "unicode/utf8"

// Encoder turns pieces into ids. It is not safe for concurrent use. Beside its
// cache it holds up to 32 bytes for every byte of the longest stretch of text
// that had to be merged at once; more than 1 MiB of that is given back.
type Encoder struct {
	model *Model
	cache cache

	symbols []uint32
	rank    [few]uint32
	into    [few]uint32
	before  []int32
	behind  []int32
	queue   queue
	affix   []byte
}

// few is how many symbols are merged by looking at all of them every time,
// which is faster than a queue up to about there.
const few = 48

// keep is how many symbols' scratch memory an encoder keeps: 32 KiB of them.
const keep = 32 << 10

// NewEncoder makes an encoder that remembers the ids of short pieces in at most
// cacheBytes bytes.
func (m *Model) NewEncoder(cacheBytes int) *Encoder {
	return &Encoder{model: m, cache: newCache(cacheBytes)}
}

// Encode appends the ids of a piece.
func (e *Encoder) Encode(piece []byte, ids []uint32) []uint32 {
	m := e.model
	if len(piece) > shortest {
		if len(piece) <= m.longest {
			if id, ok := m.id(piece); ok && (m.ignore || m.isStable(id)) {
				return append(ids, id)
			}
		}
		return e.sections(piece, ids)
	}
	k := keyOf(piece, 0)
	if found, ok := e.cache.append(k, ids); ok {
		return found
	}
	begin := len(ids)
	if id, ok := m.known(piece); ok {
		ids = append(ids, id)
	} else {
		ids = e.sections(piece, ids)
	}
	e.cache.put(k, ids[begin:])
	return ids
}

// known is the id of a piece that is a token, where that decides.
func (m *Model) known(piece []byte) (uint32, bool) {
	if !m.ignore || len(piece) == 0 {
		return 0, false
	}
	return m.id(piece)
}

// sections appends the ids of a piece, cut where no merge crosses: words that
// are rare have parts that are not.
func (e *Encoder) sections(piece []byte, ids []uint32) []uint32 {
	cuts, begin := e.model.cuts, 0
	for at := 1; at < len(piece) && cuts != nil; at++ {
		if utf8.RuneStart(piece[at]) && cuts.at(piece, at) {
			ids = e.section(piece[begin:at], ids)
			begin = at
		}
	}
	if begin == 0 {
		return e.merge(piece, ids)
	}
	return e.section(piece[begin:], ids)
}

// section appends the ids of a part of a piece, which merges alone decide.
func (e *Encoder) section(part []byte, ids []uint32) []uint32 {
	m := e.model
	if len(part) > shortest {
		if len(part) <= m.longest {
			if id, ok := m.id(part); ok && m.isStable(id) {
				return append(ids, id)
			}
		}
		return e.merge(part, ids)
	}
	place := uint64(0)
	if m.ignore {
		place = inside
	}
	k := keyOf(part, place)
	if found, ok := e.cache.append(k, ids); ok {
		return found
	}
	begin := len(ids)
	ids = e.merge(part, ids)
	e.cache.put(k, ids[begin:])
	return ids
}

// merge appends the ids of a piece by merging its symbols.
func (e *Encoder) merge(piece []byte, ids []uint32) []uint32 {
	switch {
	case e.model.affixed:
		e.symbols = e.affixedSymbols(piece, e.symbols[:0])
	case e.model.table != nil:
		e.symbols = e.byteSymbols(piece, e.symbols[:0])
	default:
		e.symbols = e.textSymbols(piece, e.symbols[:0])
	}
	switch n := len(e.symbols); {
	case n < 2:
		ids = append(ids, e.symbols...)
	case n <= few:
		ids = append(ids, e.mergeFew(e.symbols)...)
	default:
		ids = e.mergeMany(e.symbols, ids)
	}
	if cap(e.symbols) > keep {
		e.symbols, e.before, e.behind, e.queue = nil, nil, nil, nil
	}
	return ids
}

// mergeFew merges the pair of the lowest rank, the first of several, until no
// pair is left that merges. It works in place and returns what is left.
func (e *Encoder) mergeFew(symbols []uint32) []uint32 {
	pairs := e.model.pairs
	rank, into := e.rank[:len(symbols)-1], e.into[:len(symbols)-1]
	for i := range rank {
		rank[i], into[i] = pairs.find(symbols[i], symbols[i+1])
	}
	for {
		least, at := uint32(none), -1
		for i, r := range rank {
			if r < least {
				least, at = r, i
			}
		}
		if at < 0 {
			return symbols
		}
		symbols[at] = into[at]
		symbols = append(symbols[:at+1], symbols[at+2:]...)
		rank = append(rank[:at], rank[at+1:]...)
		into = append(into[:at], into[at+1:]...)
		if at < len(rank) {
			rank[at], into[at] = pairs.find(symbols[at], symbols[at+1])
		}
		if at > 0 {
			rank[at-1], into[at-1] = pairs.find(symbols[at-1], symbols[at])
		}
	}
}

// mergeMany does what mergeFew does, in time n log n.
func (e *Encoder) mergeMany(symbols, ids []uint32) []uint32 {
	n := len(symbols)
	if cap(e.before) < n {
		e.before, e.behind = make([]int32, n), make([]int32, n)
	}
	before, behind, q := e.before[:n], e.behind[:n], e.queue[:0]
	pairs := e.model.pairs
	for i := range symbols {
		before[i], behind[i] = int32(i-1), int32(i+1)
		if i+1 < n {
			if rank, _ := pairs.find(symbols[i], symbols[i+1]); rank != none {
				q = append(q, uint64(rank)<<32|uint64(i))
			}
		}
	}
	q.order()
	for len(q) > 0 {
		var least uint64
		least, q = q.pop()
		at := int32(uint32(least))
		right := behind[at]
		if symbols[at] == none || int(right) >= n {
			continue
		}
		rank, into := pairs.find(symbols[at], symbols[right])
		if rank != uint32(least>>32) {
			continue // one of the two has changed since
		}
		symbols[at], symbols[right] = into, none
		next := behind[right]
		behind[at] = next
		if int(next) < n {
			before[next] = at
			if rank, _ := pairs.find(into, symbols[next]); rank != none {
				q = q.push(uint64(rank)<<32 | uint64(at))
			}
		}
		if left := before[at]; left >= 0 {
			if rank, _ := pairs.find(symbols[left], into); rank != none {
				q = q.push(uint64(rank)<<32 | uint64(left))
			}
		}
	}
	e.queue = q
	for _, s := range symbols {
		if s != none {
			ids = append(ids, s)
		}
	}
	return ids
}
