package pack

import "math/bits"

// bins are rows that documents are put in: the room that each has left.
type bins struct {
	room []int32
	next []int32 // the bin below in the pile of the same room; -1: none
}

func (b *bins) reset() { b.room, b.next = b.room[:0], b.next[:0] }

// open begins a bin of a room.
func (b *bins) open(room int) int32 {
	b.room = append(b.room, int32(room))
	b.next = append(b.next, -1)
	return int32(len(b.room) - 1)
}

// rooms finds the bin with the least room that suffices, in three steps for any
// length: bits say which rooms have a bin, and bits above them which words have a
// bit.
type rooms struct {
	pile   []int32 // of each room, the bin on top; valid where its bit is set
	levels [][]uint64
}

// newRooms is for rooms up to a length.
func newRooms(length int) *rooms {
	r := &rooms{pile: make([]int32, length+1)}
	for n := length + 1; ; n = (n + 63) / 64 {
		r.levels = append(r.levels, make([]uint64, (n+63)/64))
		if n <= 64 {
			return r
		}
	}
}

// roomsBytes is what newRooms has on the Go heap.
func roomsBytes(length int) int64 { return 4*int64(length+1) + int64(length)/4 + 256 }

// put adds a bin by its room.
func (r *rooms) put(b *bins, bin int32) {
	room := int(b.room[bin])
	if r.levels[0][room>>6]>>(room&63)&1 == 0 {
		b.next[bin] = -1
		for l, at := 0, room; l < len(r.levels); l, at = l+1, at>>6 {
			r.levels[l][at>>6] |= 1 << (at & 63)
		}
	} else {
		b.next[bin] = r.pile[room]
	}
	r.pile[room] = bin
}

// take removes the bin with the least room of at least n; -1: there is none.
func (r *rooms) take(b *bins, n int) int32 {
	room := r.find(n)
	if room < 0 {
		return -1
	}
	bin := r.pile[room]
	if r.pile[room] = b.next[bin]; b.next[bin] < 0 {
		for l, at := 0, room; l < len(r.levels); l, at = l+1, at>>6 {
			r.levels[l][at>>6] &^= 1 << (at & 63)
			if r.levels[l][at>>6] != 0 {
				break
			}
		}
	}
	return bin
}

// find is the least room of at least n that has a bin.
func (r *rooms) find(n int) int {
	at := n
	for l := 0; l < len(r.levels); l++ {
		if at>>6 >= len(r.levels[l]) {
			return -1
		}
		if word := r.levels[l][at>>6] >> (at & 63) << (at & 63); word != 0 {
			at = at&^63 | bits.TrailingZeros64(word)
			for ; l > 0; l-- {
				at = at<<6 | bits.TrailingZeros64(r.levels[l-1][at])
			}
			return at
		}
		at = at>>6 + 1
	}
	return -1
}

// clear takes all bins out.
func (r *rooms) clear() {
	for _, l := range r.levels {
		clear(l)
	}
}

// bestFit gives every document the bin that it fills most, longest first. Of
// documents of one length, the first comes first.
func bestFit(docs []doc, order []int32, b *bins, r *rooms, length int) {
	r.clear()
	byLength(docs, order, length)
	for _, i := range order {
		n := int(docs[i].n)
		bin := r.take(b, n)
		if bin < 0 {
			bin = b.open(length)
		}
		docs[i].bin = bin
		if b.room[bin] -= int32(n); b.room[bin] > 0 {
			r.put(b, bin)
		}
	}
}

// byLength sets order to the documents, longest first.
func byLength(docs []doc, order []int32, length int) {
	next := make([]int32, length+2)
	for i := range docs {
		next[length-int(docs[i].n)+1]++
	}
	for i := range length + 1 {
		next[i+1] += next[i]
	}
	for i := range docs {
		k := &next[length-int(docs[i].n)]
		order[*k] = int32(i)
		*k++
	}
}

// firstFit gives every document the first bin that has room for it, in order.
// tree has the most room of the bins below each of its nodes, the root at 1.
func firstFit(docs []doc, tree []int32, b *bins, length int) {
	leaves := len(tree) / 2
	for i := leaves; i < len(tree); i++ {
		tree[i] = int32(length)
	}
	for i := leaves - 1; i > 0; i-- {
		tree[i] = int32(length)
	}
	for i := range docs {
		n, at := docs[i].n, 1
		for at < leaves {
			if at *= 2; tree[at] < n {
				at++
			}
		}
		bin := at - leaves
		for len(b.room) <= bin {
			b.open(length)
		}
		docs[i].bin = int32(bin)
		b.room[bin] -= n
		tree[at] = b.room[bin]
		for at /= 2; at > 0; at /= 2 {
			tree[at] = max(tree[2*at], tree[2*at+1])
		}
	}
}
