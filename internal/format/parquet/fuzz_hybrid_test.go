package parquet

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"
)

// drip gives its bytes a few at a time.
type drip struct {
	data []byte
	n    int
}

func (d *drip) Read(b []byte) (int, error) {
	if len(d.data) == 0 {
		return 0, io.EOF
	}
	d.n = d.n%7 + 1
	n := copy(b, d.data[:min(d.n, len(d.data))])
	d.data = d.data[n:]
	return n, nil
}

// padded is a copy of b with slack behind it that must not matter.
func padded(b []byte) []byte {
	out := append(bytes.Clone(b), bytes.Repeat([]byte{0xa5}, slack)...)
	return out[:len(b)]
}

// wholeWindow and narrowWindow are the two ways to look at a page.
func wholeWindow(b []byte) *window { w := whole(padded(b)); return &w }

func narrowWindow(b []byte) *window {
	w := streamed(&drip{data: b}, bytes.Repeat([]byte{0x5a}, 40+slack))
	return &w
}

// plainHybrid decodes n values the plain way; fewer where data ends or is
// wrong.
func plainHybrid(data []byte, width uint, n int) []uint32 {
	var out []uint32
	for len(out) < n {
		u, k := binary.Uvarint(data)
		if k <= 0 || u > 1<<32 {
			break
		}
		data = data[k:]
		if u&1 == 0 {
			size := int(width+7) / 8
			if u == 0 && len(data) < size || len(data) < size {
				break
			}
			var v uint64
			for i := range size {
				v |= uint64(data[i]) << (8 * i)
			}
			if v>>width != 0 {
				break
			}
			data = data[size:]
			for range min(u>>1, uint64(n-len(out))) {
				out = append(out, uint32(v))
			}
			continue
		}
		for i := range min(int(u>>1)*8, n-len(out)) {
			if (i+1)*int(width) > 8*len(data) {
				return out
			}
			var v uint32
			for j := range int(width) {
				v |= uint32(bitAt(data, i*int(width)+j)) << j
			}
			out = append(out, v)
		}
		if len(out) < n {
			data = data[int(u>>1)*int(width):]
		}
	}
	return out
}

// hybridSeeds are runs and groups of all kinds.
func hybridSeeds(f *testing.F) {
	for width := range 9 {
		var b []byte
		for i := range 6 {
			b = binary.AppendUvarint(b, uint64(i*5)<<1)
			b = append(b, make([]byte, (width+7)/8)...)
			b = binary.AppendUvarint(b, uint64(i)<<1|1)
			b = append(b, bytes.Repeat([]byte{0x35}, i*width)...)
		}
		f.Add(b, uint8(width), uint16(200))
		f.Add(b[:len(b)-width/2], uint8(width), uint16(300))
	}
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x10, 1}, uint8(1), uint16(999))
	f.Add([]byte{16, 1, 16, 0, 3, 0xaa, 13, 1, 2, 3, 4, 5, 6, 200, 1, 1, 9, 9, 9, 9, 9}, uint8(1), uint16(400))
}

// FuzzHybrid: whole or through a narrow window, in steps of any size, the same
// values as the plain way.
func FuzzHybrid(f *testing.F) {
	hybridSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, width uint8, count uint16) {
		w := uint(width % 33)
		n := int(count) % 5000
		want := plainHybrid(data, w, n)
		for i, win := range []*window{wholeWindow(data), narrowWindow(data)} {
			h, err := newHybrid(win, w)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]uint32, n)
			for at, step := 0, 1; at < n && err == nil; at, step = at+step, step*3%101+1 {
				step = min(step, n-at)
				err = fillHybrid(&h, got[at:at+step])
			}
			if (err == nil) != (len(want) == n) {
				t.Fatalf("window %d: %v, but %d of %d values are there", i, err, len(want), n)
			}
			if err == nil && !slices.Equal(got, want) {
				t.Fatalf("window %d: %v, want %v", i, got, want)
			}
			gatherAgain(t, data, w, want, i == 1)
		}
	})
}

// gatherAgain looks the same values up in a dictionary.
func gatherAgain(t *testing.T, data []byte, width uint, want []uint32, narrow bool) {
	t.Helper()
	win := wholeWindow(data)
	if narrow {
		win = narrowWindow(data)
	}
	h, _ := newHybrid(win, width)
	dict := make([]uint64, 200)
	for i := range dict {
		dict[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	fits := true
	for _, x := range want {
		fits = fits && x < 200
	}
	dst := make([]uint64, len(want))
	if err := gatherHybrid(&h, dst, dict); (err == nil) != fits {
		t.Fatalf("gather: %v, all indices in range: %v", err, fits)
	}
	for i, x := range want {
		if fits && dst[i] != dict[x] {
			t.Fatalf("gather: value %d is %d, want %d", i, dst[i], dict[x])
		}
	}
}

// FuzzBitmap: one-bit levels as bits, the same as they are as bytes.
func FuzzBitmap(f *testing.F) {
	hybridSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, start uint8, count uint16) {
		n, at := int(count)%5000, int(start)%70
		levels := plainHybrid(data, 1, n)
		want := make([]byte, (at+n)/8+slack)
		setBits(want, 0, at)
		ones := 0
		for i, v := range levels {
			want[(at+i)/8] |= byte(v) << ((at + i) % 8)
			ones += int(v)
		}
		for i, win := range []*window{wholeWindow(data), narrowWindow(data)} {
			h, _ := newHybrid(win, 1)
			got := make([]byte, len(want))
			setBits(got, 0, at)
			sum, done := 0, 0
			var err error
			for step := int(start)%9 + 1; done < n && err == nil; step = step*5%997 + 1 {
				step = min(step, n-done)
				var k int
				k, err = h.bitmap(got, at+done, step)
				sum += k
				done += step
			}
			if (err == nil) != (len(levels) == n) {
				t.Fatalf("window %d: %v, but %d of %d levels are there", i, err, len(levels), n)
			}
			if err == nil && (sum != ones || !bytes.Equal(got, want)) {
				t.Fatalf("window %d, from bit %d: %d ones, want %d\n%x\n%x", i, at, sum, ones, got, want)
			}
		}
	})
}
