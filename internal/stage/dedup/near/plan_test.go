package near

import (
	"math/rand/v2"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// TestNoLayoutNeedsMoreThanItsShare adds the blocks of both phases up.
func TestNoLayoutNeedsMoreThanItsShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	refused := 0
	for range 20000 {
		limit := Floor << rng.IntN(12) * (64 + rng.Int64N(64)) / 64
		rows := rng.Int64N(1 << (rng.IntN(36) + 1))
		threads, o := 1+rng.IntN(64), []Options{{}, {Check: true}, {Exact: true}}[rng.IntN(3)]
		most := rows * 13 / parts * rng.Int64N(3)
		l, ok := divide(limit, rows, most, threads, o)
		if !ok {
			refused++
			continue
		}
		block := func(n int64) int64 { return int64(mem.BlockSize(int(n))) }
		find := accounts + int64(l.threads)*block(int64(leastHeld+l.buffer+l.table))
		join := accounts + 4*block(bitsBuffer)
		if l.direct {
			find += block(4 * l.window)
			join += block(4 * l.window)
		} else {
			row, each := int64(windowRow), int64(0)
			switch {
			case o.Check:
				row, each = row+sketchBytes, block(int64(l.chunk+checkBuffer))
			case o.Exact:
				each = block(int64(judgeBytes(l.chunk, l.arena)))
			}
			fans := int64(l.windows)*2*fanAccount + block(int64(l.region*l.windows))
			find += fans
			join += fans + block(row*l.window) + int64(l.checkers)*each
		}
		if find > limit || join > limit || l.table < 256*slotBytes || l.window*int64(l.windows) < rows || l.window > 1<<windowBits && !l.direct {
			t.Fatalf("%d rows, %d threads, %+v: %d and %d of %d bytes: %+v", rows, threads, o, find, join, limit, l)
		}
	}
	if refused > 10000 {
		t.Errorf("%d of 20000 refused", refused)
	}
}

// TestLeastShareGrowsSlowly has the figures of Floor's comment.
func TestLeastShareGrowsSlowly(t *testing.T) {
	for _, c := range []struct {
		rows int64
		o    Options
		mib  int64
	}{
		{0, Options{Check: true}, 4}, {130e6, Options{}, 4}, {14e6, Options{Check: true}, 4}, {64e6, Options{Exact: true}, 4},
		{1e9, Options{}, 11}, {1e9, Options{Check: true}, 30}, {1e9, Options{Exact: true}, 15}, {mostRows, Options{Check: true}, 300},
	} {
		if got := Least(c.rows, c.o, 2); got > c.mib<<20 {
			t.Errorf("%d rows, %+v: %d KiB", c.rows, c.o, got>>10)
		}
	}
}

func FuzzKeysAndSlots(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint64(3))
	f.Add(^uint64(0), uint64(mostRows-1), uint64(mostRows-1))
	f.Fuzz(func(t *testing.T, hash, row, last uint64) {
		hash, row, last = hash&hashMask, row%mostRows, last%mostRows
		var b [keyBytes]byte
		packKey(b[:], hash|row<<hashBits, row)
		if h, r := unpackKey(b[:]); h != hash || r != row {
			t.Fatalf("key of %x and %d is %x and %d", hash, row, h, r)
		}
		s := slot(hash, row, last)
		if x, y := rowsOf(s); x != row || y != last || s[0]&hashMask != hash || s[1] == 0 {
			t.Fatalf("slot of %x, %d and %d: %x, %d and %d", hash, row, last, s, x, y)
		}
	})
}

func FuzzEqual(f *testing.F) {
	f.Add(make([]byte, 2*sketchBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p [2 * sketchBytes]byte
		copy(p[:], b)
		want := 0
		for i := range sketchBytes {
			if x := p[i] ^ p[i+sketchBytes]; x&15 == 0 {
				want++
			}
			if x := p[i] ^ p[i+sketchBytes]; x>>4 == 0 {
				want++
			}
		}
		if got := equal(p[:sketchBytes], p[sketchBytes:]); got != want {
			t.Fatalf("%d, not %d: %v", got, want, p)
		}
	})
}
