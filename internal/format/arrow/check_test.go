package arrow

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// offsetsOf reads numbers of a type out of bytes.
func offsetsOf[T offset](b []byte) []T {
	var out []T
	for ; len(b) >= 8; b = b[8:] {
		out = append(out, T(binary.LittleEndian.Uint64(b)))
	}
	return out
}

func plainAscending[T offset](o []T) bool {
	return o[0] >= 0 && slices.IsSorted(o)
}

// FuzzOffsets compares the sum without branches with the plain question.
func FuzzOffsets(f *testing.F) {
	add := func(v ...uint64) {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		f.Add(b)
	}
	add(0, 1, 1, 5)
	add(0, math.MaxInt32, 1<<32-2, math.MaxInt32)
	add(math.MaxInt64, 1<<63)
	add(5, 4)
	add(1<<63, 0)
	f.Fuzz(func(t *testing.T, b []byte) {
		if small := offsetsOf[int32](b); len(small) > 0 && ascending(small) != plainAscending(small) {
			t.Errorf("%v: %v", small, ascending(small))
		}
		if large := offsetsOf[int64](b); len(large) > 0 && ascending(large) != plainAscending(large) {
			t.Errorf("%v: %v", large, ascending(large))
		}
	})
}

// FuzzShiftBits compares the moving of words with that of single bits.
func FuzzShiftBits(f *testing.F) {
	f.Add([]byte{0x5a, 0xa5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, byte(3))
	f.Add(slices.Repeat([]byte{0xc3, 0x81}, 20), byte(7))
	f.Fuzz(func(t *testing.T, b []byte, by byte) {
		by = by%7 + 1
		got := slices.Clone(b)
		shiftBits(got, uint(by))
		for i := range 8*len(b) - int(by) {
			if bitutil.BitIsSet(got, i) != bitutil.BitIsSet(b, i+int(by)) {
				t.Fatalf("%x moved by %d: bit %d of %x", b, by, i, got)
			}
		}
	})
}

// FuzzSchema: a message of any bytes gives a schema or damage.
func FuzzSchema(f *testing.F) {
	d := newDice(1)
	for _, typ := range everyType {
		f.Add(write(f, true, []arrow.RecordBatch{d.table(0, typ)})[8:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m message
		if m.parse(b) != nil {
			return
		}
		if s, err := parseSchema(m.head); err == nil && len(s.fields) > 0 {
			_ = s.fields[0].Type.String()
		}
	})
}

var sink bool

// BenchmarkOffsets is the one pass over data that is not read as it is.
func BenchmarkOffsets(b *testing.B) {
	o := make([]int32, 64<<10)
	for i := range o {
		o[i] = int32(i * 100)
	}
	b.SetBytes(int64(4 * len(o)))
	for b.Loop() {
		sink = ascending(o)
	}
}

// BenchmarkIndices is what dictionaries cost.
func BenchmarkIndices(b *testing.B) {
	idx := make([]byte, 256<<10)
	b.SetBytes(int64(len(idx)))
	for b.Loop() {
		sink = inside(idx, 4, nil, 100)
	}
}
