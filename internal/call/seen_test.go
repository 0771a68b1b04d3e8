package call

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stream"
)

// repeated makes keys, of which about a third was there before.
func repeated(n int) []dedup.Key {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]dedup.Key, n)
	for i := range keys {
		keys[i] = dedup.Key{rng.Uint64(), rng.Uint64()}
		if rng.IntN(100) >= 55 {
			keys[i] = keys[rng.IntN(i+1)]
		}
	}
	return keys
}

// bitsOf are the bits of the keys that are the first of their kind.
func bitsOf(keys []dedup.Key) []byte {
	there := map[dedup.Key]bool{}
	want := make([]byte, (len(keys)+63)/64*8)
	for i, k := range keys {
		if !there[cut(k)] {
			there[cut(k)] = true
			want[i/8] |= 1 << (i % 8)
		}
	}
	return want
}

// memoryFile is a file in memory.
type memoryFile struct{ bytes []byte }

func (m *memoryFile) WriteAt(p []byte, at int64) (int, error) {
	m.bytes = append(m.bytes[:at], p...)
	return len(p), nil
}

func TestFirstsOfShortKeysAreTheSameInAnyMemory(t *testing.T) {
	several := map[string][]dedup.Key{"none": nil, "one": repeated(1), "many": repeated(300_001), "the same": make([]dedup.Key, 100_000)}
	uneven := repeated(120_000) // all in one part
	for i := range uneven {
		uneven[i][1] &= 1<<56 - 1
	}
	several["uneven"] = uneven
	for name, keys := range several {
		want := bitsOf(keys)
		for _, limit := range []int64{6 << 20, 9 << 20, 64 << 20} {
			for _, expect := range []int64{0, int64(len(keys))} {
				if got := firstsOf(t, keys, limit, expect); !bytes.Equal(got, want) {
					t.Errorf("%s: with %s, %d expected, the bits are others than those of a map", name, mem.Format(limit), expect)
				}
			}
		}
	}
}

// firstsOf runs firsts over keys, a few at a time, and holds that all memory came
// back.
func firstsOf(t *testing.T, keys []dedup.Key, limit, expect int64) []byte {
	t.Helper()
	dir, err := spill.OpenWith(t.TempDir(), spill.Options{System: passing{spill.Host()}})
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(limit)
	pool := stream.NewPool(2, func() *dedup.HashScratch { return new(dedup.HashScratch) })
	defer pool.Close()
	var file memoryFile
	out := bitWriter{out: &file}
	f, err := openFirsts(dedup.Config{Share: share, Scratch: dir, Threads: 2}, expect, true, pool)
	if err != nil {
		t.Fatal(err)
	}
	for from, n := 0, 1; from < len(keys); from, n = from+n, n%50_000*3+1 {
		n = min(n, len(keys)-from, batchRows)
		if err := f.add(t.Context(), append([]dedup.Key(nil), keys[from:from+n]...), &out); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.finish(t.Context(), dir, &out); err != nil {
		t.Fatal(err)
	}
	f.close()
	if share.Leased() != 0 {
		t.Errorf("%d bytes are leased at the end", share.Leased())
	}
	return file.bytes
}

func BenchmarkSeen(b *testing.B) {
	keys := repeated(4_000_000)
	share := mem.New(1 << 30)
	pool := stream.NewPool(2, func() *dedup.HashScratch { return nil })
	defer pool.Close()
	none := func(uint64, int) error { return nil }
	for b.Loop() {
		s := newSeen(share, 1<<30, int64(len(keys)), pool)
		for at := 0; at < len(keys); at += batchRows {
			some := keys[at:min(len(keys), at+batchRows)]
			if s.full(len(some)) {
				s.settle(none)
			}
			s.add(some)
		}
		s.settle(none)
		b.ReportMetric(float64(s.taken)/float64(len(keys)), "B/row")
		s.close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/row")
}
