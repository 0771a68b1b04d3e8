package dedup

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// disk is scratch space as users have it.
func disk(t testing.TB) *spill.Dir {
	t.Helper()
	d, err := spill.Open(filepath.Join(t.TempDir(), "scratch"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// cpu is what the process has used, of both kinds.
func cpu() time.Duration {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkSet is 20 million keys, of which 13.8 million are distinct.
func BenchmarkSet(b *testing.B) {
	const rows = 20_000_000
	keys := make([]Key, rows)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		if i > 0 && rng.IntN(1000) < 310 {
			keys[i] = keys[rng.IntN(i)]
		} else {
			keys[i] = Key{rng.Uint64(), rng.Uint64()}
		}
	}
	for _, size := range []int64{512 << 20, 128 << 20, 32 << 20, Floor} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dMiB/%d", size>>20, threads), func(b *testing.B) {
				for b.Loop() {
					share := mem.New(size)
					s, err := Open(Config{Share: share, Scratch: disk(b), Threads: threads})
					if err != nil {
						b.Fatal(err)
					}
					start := cpu()
					for at := 0; at < rows; at += 16384 {
						if err := s.Add(b.Context(), keys[at:min(at+16384, rows)]); err != nil {
							b.Fatal(err)
						}
					}
					added := cpu() - start
					k, err := s.Finish(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(added.Seconds(), "add-cpu-s")
					b.ReportMetric((cpu() - start).Seconds(), "cpu-s")
					b.ReportMetric(float64(k.Distinct), "distinct")
					b.ReportMetric(float64(share.Peak())/(1<<20), "peak-MiB")
					s.Remove()
					share.Trim()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}

// BenchmarkCheckpoint is what a checkpoint costs behind each 4 million keys.
func BenchmarkCheckpoint(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]Key, 4_000_000)
	for i := range keys {
		keys[i] = Key{rng.Uint64(), rng.Uint64()}
	}
	s, err := Open(Config{Share: mem.New(128 << 20), Scratch: disk(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var wall time.Duration
	for b.Loop() {
		if err := s.Add(b.Context(), keys); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := s.Checkpoint(b.Context()); err != nil {
			b.Fatal(err)
		}
		wall += time.Since(start)
	}
	b.ReportMetric(wall.Seconds()/float64(b.N), "checkpoint-s")
}
