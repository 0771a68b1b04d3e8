package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// encodeDelta writes DELTA_BINARY_PACKED: blocks of 128, miniblocks of 32.
func encodeDelta(vals []int64) []byte {
	out := binary.AppendUvarint([]byte{0x80, 1, 4}, uint64(len(vals)))
	first := int64(0)
	if len(vals) > 0 {
		first = vals[0]
	}
	out = binary.AppendVarint(out, first)
	for at := 1; at < len(vals); at += 128 {
		deltas := make([]uint64, min(128, len(vals)-at))
		least := int64(0)
		for i := range deltas {
			d := vals[at+i] - vals[at+i-1]
			deltas[i] = uint64(d)
			if i == 0 || d < least {
				least = d
			}
		}
		out = binary.AppendVarint(out, least)
		widths := len(out)
		out = append(out, 0, 0, 0, 0)
		for m := 0; m*32 < len(deltas); m++ {
			part := deltas[m*32 : min(len(deltas), m*32+32)]
			var width int
			for _, d := range part {
				width = max(width, bits.Len64(d-uint64(least)))
			}
			out[widths+m] = byte(width)
			packed := make([]byte, 4*width)
			for i, d := range part {
				for j := range width {
					packed[(i*width+j)/8] |= byte((d-uint64(least))>>j&1) << ((i*width + j) % 8)
				}
			}
			out = append(out, packed...)
		}
	}
	return out
}

// encodeDeltaBytes writes DELTA_BYTE_ARRAY.
func encodeDeltaBytes(vals [][]byte) []byte {
	var prefixes, suffixes []int64
	var data, last []byte
	for _, v := range vals {
		p := 0
		for p < min(len(v), len(last)) && v[p] == last[p] {
			p++
		}
		prefixes, suffixes = append(prefixes, int64(p)), append(suffixes, int64(len(v)-p))
		data, last = append(data, v[p:]...), v
	}
	return slices.Concat(encodeDelta(prefixes), encodeDelta(suffixes), data)
}

// randomInts are runs, steps and noise.
func randomInts(rnd *rand.Rand, n int) []int64 {
	out := make([]int64, n)
	var v int64
	for i := range out {
		switch rnd.IntN(5) {
		case 0:
			v = int64(rnd.Uint64())
		case 1:
			v += int64(rnd.IntN(1000)) - 500
		}
		out[i] = v
	}
	return out
}

func TestDeltaReadsWhatWasWritten(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	for n := range 400 {
		vals := randomInts(rnd, n)
		data := encodeDelta(vals)
		for _, w := range []*window{wholeWindow(data), narrowWindow(data)} {
			d, err := newDelta(w, true)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, 8*n)
			if n > 0 {
				err = d.fixed(dst, n)
			}
			if got := view[int64](dst); err != nil || n > 0 && !slices.Equal(got, vals) {
				t.Fatalf("%d values: %v, want %v, %v", n, got, vals, err)
			}
			if err := d.fixed(make([]byte, 8), 1); err == nil {
				t.Fatalf("%d values: one more was read", n)
			}
		}
	}
}

// TestDeltaBytesOfFixedLength: arrow-go reads this encoding, but cannot write it.
func TestDeltaBytesOfFixedLength(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 9))
	for _, n := range []int{1, 2, 127, 128, 129, 1000} {
		var vals [][]byte
		for range n {
			v := []byte("abcdefghijk")
			v[rnd.IntN(11)] = byte(rnd.IntN(256))
			vals = append(vals, v)
		}
		data := encodeDeltaBytes(vals)
		for _, open := range []func([]byte) *window{wholeWindow, narrowWindow} {
			d, err := newDeltaBytes(open(data), open(data), open(data), 11)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, 11*n)
			if err := d.fixed(dst[:11], 1); err != nil {
				t.Fatal(err)
			}
			if err := d.fixed(dst[11:], n-1); err != nil || !bytes.Equal(dst, slices.Concat(vals...)) {
				t.Fatalf("%d values: %v", n, err)
			}
		}
	}
}

// drain reads up to n values of varying length with columns of the given room,
// a new one whenever the last is full.
func drain(v values, n, room int) (out [][]byte, err error) {
	for len(out) < n {
		c := byteColumn{offsets: make([]int32, 11), data: make([]byte, room+slack)[:room]}
		k, err := v.bytes(&c, min(n-len(out), 10))
		for i := range k {
			out = append(out, bytes.Clone(c.data[c.offsets[i]:c.offsets[i+1]]))
		}
		if err != nil {
			return out, err
		}
		if k == 0 {
			// Too large for a fresh column: make room, as enlarge does.
			if c.wants <= room || c.wants > 1<<22 {
				return out, errShort
			}
			room = c.wants
		}
	}
	return out, nil
}

// FuzzDelta: whole or through narrow windows, with any room, the same values.
func FuzzDelta(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 9))
	for _, n := range []int{0, 1, 33, 300} {
		f.Add(encodeDelta(randomInts(rnd, n)), uint8(0), uint16(n))
		var vals [][]byte
		for i := range n {
			vals = append(vals, bytes.Repeat([]byte("ab"), i%7))
		}
		f.Add(encodeDeltaBytes(vals), uint8(2), uint16(n))
		lengths := make([]int64, n)
		f.Add(encodeDelta(lengths), uint8(1), uint16(n))
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8, count uint16) {
		n := int(count) % 3000
		if mode%3 == 0 {
			fuzzDeltaInts(t, data, n)
			return
		}
		open := func(win func([]byte) *window) (values, error) {
			if mode%3 == 1 {
				return newDeltaLength(win(data), win(data))
			}
			return newDeltaBytes(win(data), win(data), win(data), 0)
		}
		a, errA := open(wholeWindow)
		b, errB := open(narrowWindow)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("whole: %v, narrow: %v", errA, errB)
		}
		if errA != nil {
			return
		}
		x, errA := drain(a, n, 1000)
		y, errB := drain(b, n, 3)
		if (errA == nil) != (errB == nil) || errA == nil && !slices.EqualFunc(x, y, bytes.Equal) {
			t.Fatalf("whole: %q %v, narrow: %q %v", x, errA, y, errB)
		}
	})
}

func fuzzDeltaInts(t *testing.T, data []byte, n int) {
	t.Helper()
	var got [2][]uint64
	var errs [2]error
	for i, w := range []*window{wholeWindow(data), narrowWindow(data)} {
		var d *delta
		if d, errs[i] = newDelta(w, true); errs[i] != nil {
			continue
		}
		got[i] = make([]uint64, n)
		for at, step := 0, 1+i; at < n && errs[i] == nil; at, step = at+step, step*3%77+1 {
			step = min(step, n-at)
			errs[i] = d.fill(got[i][at : at+step])
		}
	}
	if (errs[0] == nil) != (errs[1] == nil) || errs[0] == nil && !slices.Equal(got[0], got[1]) {
		t.Fatalf("whole: %v %v, narrow: %v %v", got[0], errs[0], got[1], errs[1])
	}
}

// FuzzPlainBytes: lengths and bytes, against the plain way.
func FuzzPlainBytes(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0, 1, 0, 0, 0, 'x'}, uint8(3))
	long := binary.LittleEndian.AppendUint32(nil, 500)
	f.Add(append(long, bytes.Repeat([]byte("z"), 500)...), uint8(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, count uint8) {
		n := int(count)
		var want [][]byte
		for rest := data; len(want) < n && len(rest) >= 4; {
			size := binary.LittleEndian.Uint32(rest)
			if uint64(size) > uint64(len(rest)-4) {
				break
			}
			want = append(want, rest[4:4+size])
			rest = rest[4+size:]
		}
		for i, w := range []*window{wholeWindow(data), narrowWindow(data)} {
			for _, room := range []int{2, 5000} {
				if room == 5000 {
					w = []func([]byte) *window{wholeWindow, narrowWindow}[i](data)
				}
				got, err := drain(plainBytes{w: w}, n, room)
				if (err == nil) != (len(want) == n) {
					t.Fatalf("window %d, room %d: %v, %d of %d values are there", i, room, err, len(want), n)
				}
				if err == nil && !slices.EqualFunc(got, want, bytes.Equal) {
					t.Fatalf("window %d, room %d: %q, want %q", i, room, got, want)
				}
			}
		}
	})
}
