package unigram

import "unicode/utf8"

// Encoder turns text into ids. It holds the memory of a call; each goroutine has its own.
type Encoder struct {
	model *Model
	nodes []node
	// run is where unknown text begins that is not yet written, -1: there is none.
	run int
}

// node is the best way to one place in the text.
type node struct {
	score float64
	link  int32 // where its last token begins; none: no way yet
	id    uint32
}

const none = -1

// window is how many bytes of text are cut at once, at least; only text that has no place for a cut takes more.
const window = 1 << 14

// NewEncoder returns an encoder of the model.
func (m *Model) NewEncoder() *Encoder { return &Encoder{model: m} }

// Bytes is the memory that the encoder holds: 16 bytes for every byte of the longest text between two places where no
// token lies across, or of 20 KiB and the longest token, whichever is more.
func (e *Encoder) Bytes() int64 { return int64(cap(e.nodes)) * 16 }

// Encode appends the ids of a piece.
func (e *Encoder) Encode(piece []byte, ids []uint32) []uint32 {
	e.run = none
	total := 0.0
	for begin := 0; begin < len(piece); {
		var length int
		length, total = e.search(piece[begin:], total)
		ids = e.write(piece, begin, begin+length, ids)
		begin += length
	}
	if e.run >= 0 {
		ids = e.writeUnknown(piece[e.run:], ids)
	}
	return ids
}

// search finds the best way through text, or through as much of it as a window has, up to a place where no token lies
// across. total is the score of all before; sums go on from it, since they are rounded.
func (e *Encoder) search(text []byte, total float64) (int, float64) {
	m := e.model
	e.reserve(min(len(text), window+window/4+m.longest+utf8.UTFMax))
	nodes := e.nodes
	nodes[0] = node{score: total}
	reach := 0 // where the farthest token so far ends
	for at := 0; at < len(text); {
		here := nodes[at].score
		if at == reach && at >= window {
			return at, here
		}
		if len(nodes) <= len(text) && at+m.longest+utf8.UTFMax >= len(nodes) {
			e.extend()
			nodes = e.nodes
		}
		size := 1
		if text[at] >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(text[at:])
		}
		last := m.match(text[at:], nodes[at:], here, int32(at), size)
		reach = max(reach, at+last)
		at += size
	}
	return len(text), nodes[len(text)].score
}

// match tries every token that text begins with, and the unknown token where no token is its first character, of the
// given size; ends[i] is the node i bytes on. It returns the length of the longest.
func (m *Model) match(text []byte, ends []node, here float64, at int32, size int) int {
	t, n, single, last := m.trie, m.trie.Root(), false, size
	for i, b := range text {
		var ok bool
		if n, ok = t.Next(n, b); !ok {
			break
		}
		id, ok := n.Value()
		if !ok {
			continue
		}
		end := &ends[i+1]
		if s := m.scores[id] + here; end.link == none || s > end.score {
			*end = node{s, at, id}
		}
		single = single || i+1 == size
		last = i + 1
	}
	if !single {
		end := &ends[size]
		if s := m.penalty + here; end.link == none || s > end.score {
			*end = node{s, at, m.unknown}
		}
	}
	return max(last, size)
}

// reserve makes n+1 nodes that no way leads to.
func (e *Encoder) reserve(n int) {
	if cap(e.nodes) <= n {
		e.nodes = make([]node, n+1)
	}
	e.nodes = e.nodes[:n+1]
	for i := range e.nodes {
		e.nodes[i].link = none
	}
}

// extend makes at least half as many nodes again, for text without a place to cut.
func (e *Encoder) extend() {
	n := len(e.nodes)
	e.nodes = append(e.nodes, make([]node, n/2+e.model.longest+utf8.UTFMax)...)
	for i := n; i < len(e.nodes); i++ {
		e.nodes[i].link = none
	}
}

// write appends the ids of the best way that search found from begin to end. Unknown tokens that follow each other are
// one, also over the borders of windows.
func (e *Encoder) write(piece []byte, begin, end int, ids []uint32) []uint32 {
	next := int32(none)
	for at := int32(end - begin); at > 0; { // turn the links around
		e.nodes[at].link, next, at = next, at, e.nodes[at].link
	}
	from := begin
	for ; next > 0; next = e.nodes[next].link {
		n := e.nodes[next]
		if n.id == e.model.unknown {
			if e.run < 0 {
				e.run = from
			}
		} else {
			if e.run >= 0 {
				ids = e.writeUnknown(piece[e.run:from], ids)
				e.run = none
			}
			ids = append(ids, n.id)
		}
		from = begin + int(next)
	}
	return ids
}

// writeUnknown appends what stands for unknown text: the token that it is as a whole, its bytes, or the unknown token.
func (e *Encoder) writeUnknown(text []byte, ids []uint32) []uint32 {
	m := e.model
	if id, ok := m.trie.Get(text); ok {
		return append(ids, id)
	}
	if m.bytes == nil {
		return append(ids, m.unknown)
	}
	begin := len(ids)
	for _, b := range text {
		id := m.bytes[b]
		if id < 0 {
			return append(ids[:begin], m.unknown)
		}
		ids = append(ids, uint32(id))
	}
	return ids
}
