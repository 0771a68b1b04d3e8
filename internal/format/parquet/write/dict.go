package write

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/mem"
)

// dict is the dictionary of a chunk: its values as they are stored, and a hash
// table over them.
type dict struct {
	values *mem.Block
	used   int // bytes
	n      int // entries
	table  *mem.Block
	slots  []uint64 // a power of two of them
}

// A slot of the table: zero, or part of the hash, the value's offset, and its
// index plus one.
const (
	indexBits  = 18
	offsetBits = 21
	indexMask  = 1<<indexBits - 1
	offsetMask = 1<<offsetBits - 1
	tagShift   = indexBits + offsetBits

	mostEntries = 1 << 16
	mostDict    = 1 << 20 // bytes of values
	leastSlots  = 1 << 9
	leastValues = 4 << 10
)

// free gives the memory back.
func (d *dict) free() {
	d.values.Free()
	d.table.Free()
	*d = dict{}
}

// stored is the values as they are stored.
func (d *dict) stored() []byte {
	if d.values == nil {
		return nil
	}
	return d.values.Bytes()[:d.used]
}

// add finds the indices of plain values, adding those that are new. False:
// there is no room for all of them, and the dictionary is as it was, but takes
// no more.
func (d *dict) add(room *dictRoom, values []byte, idx []uint32, width int) bool {
	n, used := d.n, d.used
	ok := true
	switch width {
	case 8:
		ok = addNumbers(d, room, values, idx, arrow.Uint64Traits.CastFromBytes)
	case 4:
		ok = addNumbers(d, room, values, idx, arrow.Uint32Traits.CastFromBytes)
	case 0:
		for i := range idx {
			size := 4 + int(binary.LittleEndian.Uint32(values))
			if idx[i], ok = d.find(room, xxh3.Hash(values[4:size]), values[:size]); !ok {
				break
			}
			values = values[size:]
		}
	default:
		for i := range idx {
			v := values[i*width : (i+1)*width]
			if idx[i], ok = d.find(room, hashFixed(v), v); !ok {
				break
			}
		}
	}
	if !ok {
		d.n, d.used = n, used
	}
	return ok
}

// addNumbers is add for values of 4 or 8 bytes, which cast views as numbers.
func addNumbers[T uint32 | uint64](d *dict, room *dictRoom, values []byte, idx []uint32, cast func([]byte) []T) bool {
	v := cast(values)[:len(idx)]
	have := cast(d.stored())
	last, code := ^v[0], uint32(0)
	for i, x := range v {
		if x != last {
			var ok bool
			hash := hash64(uint64(x))
			if code, ok = look(d.slots, have, hash, x); !ok {
				if code, ok = d.insert(room, hash, values[i*room.width:(i+1)*room.width]); !ok {
					return false
				}
				have = cast(d.stored())
			}
			last = x
		}
		idx[i] = code
	}
	return true
}

// look is the index of a number among those of a dictionary, if it is there.
func look[T uint32 | uint64](slots []uint64, have []T, hash uint64, v T) (uint32, bool) {
	if len(slots) == 0 {
		return 0, false
	}
	mask := uint64(len(slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := slots[at]
		if s == 0 {
			return 0, false
		}
		if i := s&indexMask - 1; have[i] == v {
			return uint32(i), true
		}
	}
}

// hash64 spreads the bits of a number.
func hash64(v uint64) uint64 {
	hi, lo := bits.Mul64(v^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// hashFixed is the hash of a value whose length all values have.
func hashFixed(v []byte) uint64 {
	switch len(v) {
	case 4:
		return hash64(uint64(binary.LittleEndian.Uint32(v)))
	case 8:
		return hash64(binary.LittleEndian.Uint64(v))
	}
	return xxh3.Hash(v)
}

// find is the index of v, as it is stored, which is added if it is not there.
func (d *dict) find(room *dictRoom, hash uint64, v []byte) (uint32, bool) {
	if len(d.slots) > 0 {
		buf := d.values.Bytes()
		mask := uint64(len(d.slots) - 1)
		for at := hash & mask; d.slots[at] != 0; at = (at + 1) & mask {
			s := d.slots[at]
			off := int(s >> indexBits & offsetMask)
			if s>>tagShift == hash>>tagShift && off+len(v) <= d.used && string(buf[off:off+len(v)]) == string(v) {
				return uint32(s&indexMask) - 1, true
			}
		}
	}
	return d.insert(room, hash, v)
}

// insert adds v, which is not there.
func (d *dict) insert(room *dictRoom, hash uint64, v []byte) (uint32, bool) {
	if d.n >= mostEntries || d.used+len(v) > room.limit || !d.reserve(room, len(v)) {
		return 0, false
	}
	copy(d.values.Bytes()[d.used:], v)
	d.place(hash, d.used, d.n)
	d.used += len(v)
	d.n++
	return uint32(d.n - 1), true
}

// place enters a value into the table.
func (d *dict) place(hash uint64, off, index int) {
	mask := uint64(len(d.slots) - 1)
	at := hash & mask
	for d.slots[at] != 0 {
		at = (at + 1) & mask
	}
	d.slots[at] = hash>>tagShift<<tagShift | uint64(off)<<indexBits | uint64(index+1)
}

// reserve makes room for one more value of n bytes.
func (d *dict) reserve(room *dictRoom, n int) bool {
	if d.values == nil || d.used+n > len(d.values.Bytes()) {
		size := leastValues
		for size < d.used+n {
			size *= 2
		}
		b, ok := room.share.TryMap(size)
		if !ok {
			return false
		}
		if d.values != nil {
			copy(b.Bytes(), d.values.Bytes()[:d.used])
			d.values.Free()
		}
		d.values = b
	}
	return 2*d.n < len(d.slots) || d.rehash(room)
}

// rehash makes a table of four times the slots.
func (d *dict) rehash(room *dictRoom) bool {
	size := max(leastSlots, 4*len(d.slots))
	b, ok := room.share.TryMap(8 * size)
	if !ok {
		return false
	}
	old := d.table
	d.table, d.slots = b, arrow.Uint64Traits.CastFromBytes(b.Bytes())
	clear(d.slots)
	values, at := d.values.Bytes()[:d.used], 0
	for i := range d.n {
		v, hash := room.value(values[at:])
		d.place(hash, at, i)
		at += len(v)
	}
	old.Free()
	return true
}

// dictRoom is what dictionaries may take, and how their values are stored.
type dictRoom struct {
	share *mem.Budget
	limit int // bytes of one dictionary's values
	width int // of its values; 0: with their lengths before them
}

// value is the stored value that b begins with, and its hash.
func (r *dictRoom) value(b []byte) ([]byte, uint64) {
	if r.width > 0 {
		return b[:r.width], hashFixed(b[:r.width])
	}
	size := 4 + int(binary.LittleEndian.Uint32(b))
	return b[:size], xxh3.Hash(b[4:size])
}

// Samples of a page that are looked at before a dictionary is tried.
const (
	mostSamples = 1 << 10
	sampleSlots = 4 * mostSamples
)

// repeats says whether a sample of n plain values has enough of the same value
// to try a dictionary: one in 32. Columns of random numbers are found out here
// for the price of a thousand hashes.
func repeats(values []byte, n, width int) bool {
	r := dictRoom{width: width}
	var seen [sampleSlots]uint32 // the high half of a hash, never zero
	samples := min(n, mostSamples)
	same := 0
	for i := range samples {
		b := values
		if width > 0 {
			b = values[i*(n/samples)*width:]
		}
		v, hash := r.value(b)
		if width == 0 {
			values = values[len(v):]
		}
		mark := uint32(hash>>32) | 1
		at := hash % sampleSlots
		for seen[at] != 0 && seen[at] != mark {
			at = (at + 1) % sampleSlots
		}
		if seen[at] == mark {
			same++
		}
		seen[at] = mark
	}
	return same*32 >= samples
}
