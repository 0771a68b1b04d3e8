package write

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// storedNumbers are numbers as plain values of width bytes.
func storedNumbers(v []uint64, width int) (out []byte) {
	for _, x := range v {
		out = append(out, binary.LittleEndian.AppendUint64(nil, x)[:width]...)
	}
	return out
}

func TestDictionariesOfNumbersFindThemAll(t *testing.T) {
	for _, width := range []int{4, 8, 6} { // 6: any other width
		share := mem.New(8 << 20)
		room := dictRoom{share: share, limit: mostDict, width: width}
		r := rand.New(rand.NewPCG(2, uint64(width)))
		var d dict
		for range 4 {
			v := make([]uint64, 20_000)
			for i := range v {
				v[i] = uint64(int64(r.IntN(9000)-100)) << 16 >> 16 // 6 bytes of it
				if i%3 == 0 && i > 0 {
					v[i] = v[i-1]
				}
			}
			values, idx := storedNumbers(v, width), make([]uint32, len(v))
			if !d.add(&room, values, idx, width) {
				t.Fatal("no room for 9000 numbers")
			}
			for i, k := range idx {
				at := int(k) * width
				if string(d.stored()[at:at+width]) != string(values[i*width:(i+1)*width]) {
					t.Fatalf("width %d: value %d has another's index", width, i)
				}
			}
		}
		if d.n > 9000 || d.used != d.n*width {
			t.Errorf("width %d: %d entries in %d bytes", width, d.n, d.used)
		}
		d.free()
		if share.Used() != 0 {
			t.Errorf("%d bytes are still leased", share.Used())
		}
	}
}

func TestDictionariesStopAtTheirLimits(t *testing.T) {
	all := make([]uint64, mostEntries+1)
	for i := range all {
		all[i] = uint64(i)
	}
	idx := make([]uint32, len(all))
	for _, c := range []struct {
		share int64
		limit int
		n     int
		ok    bool
	}{
		{8 << 20, mostDict, mostEntries, true},
		{8 << 20, mostDict, mostEntries + 1, false}, // entries
		{8 << 20, 4 * 100, 100, true},
		{8 << 20, 4 * 100, 101, false},      // bytes
		{64 << 10, mostDict, 50_000, false}, // memory
	} {
		share := mem.New(c.share)
		room := dictRoom{share: share, limit: c.limit, width: 4}
		var d dict
		if ok := d.add(&room, storedNumbers(all[:1], 4), idx[:1], 4); !ok {
			t.Fatal("no room for a number")
		}
		ok := d.add(&room, storedNumbers(all[:c.n], 4), idx[:c.n], 4)
		if n := map[bool]int{true: c.n, false: 1}[c.ok]; ok != c.ok || d.n != n || len(d.stored()) != 4*n {
			t.Errorf("%+v: %v, %d entries", c, ok, d.n)
		}
		d.free()
		if share.Used() != 0 {
			t.Errorf("%d bytes are still leased", share.Used())
		}
	}
}
