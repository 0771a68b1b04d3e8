package tokenizer

import "bytes"

// trie finds the leftmost of many texts in a text, of several that begin at
// the same place the longest.
type trie struct {
	child map[uint64]uint32 // node<<8 | byte
	value []int32           // by node; -1: nothing ends here
	heads [256]bool         // the bytes with which texts begin
	only  int               // the byte with which all of them begin, or -1
}

func newTrie() *trie { return &trie{child: map[uint64]uint32{}, value: []int32{-1}, only: -1} }

func (t *trie) empty() bool { return len(t.value) == 1 }

// add enters a text that is not empty. It is false if the text is there.
func (t *trie) add(text []byte, value int32) bool {
	if t.empty() {
		t.only = int(text[0])
	} else if t.only != int(text[0]) {
		t.only = -1
	}
	t.heads[text[0]] = true
	node := uint32(0)
	for _, b := range text {
		edge := uint64(node)<<8 | uint64(b)
		next, ok := t.child[edge]
		if !ok {
			next = uint32(len(t.value))
			t.child[edge] = next
			t.value = append(t.value, -1)
		}
		node = next
	}
	if t.value[node] >= 0 {
		return false
	}
	t.value[node] = value
	return true
}

// find is the first text at or behind a place: where it begins, where it ends
// and its value; value -1: there is none.
func (t *trie) find(text []byte, at int) (begin, end int, value int32) {
	for at < len(text) {
		if t.only >= 0 {
			skip := bytes.IndexByte(text[at:], byte(t.only))
			if skip < 0 {
				break
			}
			at += skip
		} else if !t.heads[text[at]] {
			at++
			continue
		}
		if end, value = t.longest(text, at); value >= 0 {
			return at, end, value
		}
		at++
	}
	return len(text), len(text), -1
}

// longest is the end and the value of the longest text that begins at at.
func (t *trie) longest(text []byte, at int) (end int, value int32) {
	node, value := uint32(0), int32(-1)
	for i := at; i < len(text); i++ {
		next, ok := t.child[uint64(node)<<8|uint64(text[i])]
		if !ok {
			break
		}
		if node = next; t.value[node] >= 0 {
			end, value = i+1, t.value[node]
		}
	}
	return end, value
}

// bytes is about what the trie holds of memory: a map's entry is 12 bytes,
// filled to a half.
func (t *trie) bytes() int64 { return int64(len(t.value)) * 32 }
