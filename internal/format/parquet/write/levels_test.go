package write

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// unpack is a plain decoder of Parquet's hybrid of runs and packed bits.
func unpack(t testing.TB, b []byte, width uint8, n int) []uint32 {
	t.Helper()
	var out []uint32
	for len(out) < n {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			t.Fatalf("%d of %d values, then %x", len(out), n, b)
		}
		b = b[k:]
		if head&1 == 0 {
			v := uint32(0)
			for i := range (int(width) + 7) / 8 {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[(int(width)+7)/8:]
			out = append(out, slices.Repeat([]uint32{v}, int(head>>1))...)
			continue
		}
		for i := range int(head>>1) * 8 {
			v := uint32(0)
			for j := range int(width) {
				bit := i*int(width) + j
				v |= uint32(b[bit>>3]>>(bit&7)&1) << j
			}
			out = append(out, v)
		}
		b = b[int(head>>1)*int(width):]
	}
	if len(b) > 0 {
		t.Fatalf("%d bytes too many", len(b))
	}
	return out[:n]
}

// runs makes levels out of fuzzed bytes: a value and how often.
func runs(data []byte, most uint8) []uint8 {
	var out []uint8
	for ; len(data) >= 2; data = data[2:] {
		n := int(data[1]) % 40
		if data[1] > 200 {
			n = int(data[1]) * 8
		}
		out = append(out, slices.Repeat([]uint8{uint8(int(data[0]) % (int(most) + 1))}, n)...)
	}
	return out
}

func FuzzLevels(f *testing.F) {
	f.Add([]byte{1, 7, 0, 1, 1, 250, 0, 39}, uint8(1))
	f.Add([]byte{3, 1, 2, 9, 1, 8, 0, 31, 7, 255}, uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, most uint8) {
		most = max(most, 1)
		want := runs(data, most)
		// Exactly what levelBytes promises.
		e := levels{width: uint8(bits.Len8(most))}
		e.reset(make([]byte, levelBytes(len(want), e.width)))
		for i := 0; i < len(want); {
			n := 1
			for i+n < len(want) && want[i+n] == want[i] && (i+n)%17 != 0 {
				n++
			}
			e.repeat(want[i], n)
			i += n
		}
		for i, v := range unpack(t, e.end(), e.width, len(want)) {
			if v != uint32(want[i]) {
				t.Fatalf("level %d is %d, want %d", i, v, want[i])
			}
		}
	})
}

func FuzzBitmapLevels(f *testing.F) {
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xff, 0x0f}, uint8(3), uint8(90))
	f.Fuzz(func(t *testing.T, valid []byte, at, first uint8) {
		n := len(valid)*8 - int(at)
		if n <= 0 {
			return
		}
		split := min(n, int(first))
		e := levels{width: 1}
		e.reset(make([]byte, levelBytes(n, 1)+levelBytes(1, 1)))
		e.bitmap(valid, int(at), split)
		e.bitmap(valid, int(at)+split, n-split)
		for i, v := range unpack(t, e.end(), 1, n) {
			bit := int(at) + i
			if v != uint32(valid[bit>>3]>>(bit&7)&1) {
				t.Fatalf("bit %d is %d", bit, v)
			}
		}
	})
}

func TestBitRunsCoverTheBitmap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, 1+r.IntN(40))
		for i := range b {
			b[i] = []byte{0, 0xff, byte(r.Uint32())}[r.IntN(3)]
		}
		at := r.IntN(len(b) * 8)
		end := at + 1 + r.IntN(len(b)*8-at)
		for at < end {
			bit, next := bitRun(b, at, end)
			if next <= at || next > end {
				t.Fatalf("from %d to %d of %d", at, next, end)
			}
			for ; at < next; at++ {
				if b[at>>3]>>(at&7)&1 != bit {
					t.Fatalf("bit %d is not %d", at, bit)
				}
			}
			if next < end && b[next>>3]>>(next&7)&1 == bit {
				t.Fatalf("the run goes on at %d", next)
			}
		}
	}
}

func FuzzIndices(f *testing.F) {
	f.Add([]byte{1, 7, 0, 1, 1, 250, 0, 39}, uint8(1))
	f.Add([]byte{3, 1, 2, 9, 1, 8, 0, 31, 7, 255}, uint8(17))
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		width = 1 + width%20
		var idx []uint32
		for i, v := range runs(data, 255) {
			idx = append(idx, uint32(v)*uint32(1+i/100*997)&(1<<width-1))
		}
		got := packIndices(nil, idx, width)
		if most := levelBytes(len(idx), width) + 16; len(got) > most {
			t.Errorf("%d bytes, promised %d", len(got), most)
		}
		if !slices.Equal(unpack(t, got, width, len(idx)), idx) {
			t.Error("other indices come back")
		}
	})
}

func FuzzPick(f *testing.F) {
	f.Add([]byte{0xff, 0, 0xf0, 1, 2, 3, 0xff, 0xff, 0xff, 0xef, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint8(3))
	f.Fuzz(func(t *testing.T, valid []byte, at uint8) {
		n := len(valid)*8 - int(at)
		if n <= 0 {
			return
		}
		src, dst := make([]uint64, n), make([]uint64, n)
		var want []uint64
		for i := range src {
			src[i] = uint64(i) * 7
			if bit := int(at) + i; valid[bit>>3]>>(bit&7)&1 == 1 {
				want = append(want, src[i])
			}
		}
		if got := dst[:pick(dst, src, valid, int(at))]; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
