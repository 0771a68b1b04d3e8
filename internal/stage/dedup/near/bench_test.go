package near

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"golang.org/x/sys/unix"
)

// cpu is what the process has used, of both kinds.
func cpu() time.Duration {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkSign is texts of about 150 bytes.
func BenchmarkSign(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all [][]byte
	for range 1000 {
		var words []string
		for n := 0; n < 150; {
			w := "abcdefghijkl"[rng.IntN(6):][:2+rng.IntN(5)] + fmt.Sprint(rng.IntN(10))
			words, n = append(words, w), n+len(w)+1
		}
		all = append(all, []byte(strings.Join(words, " ")))
	}
	for _, g := range []Gram{{N: 5}, {N: 1}, {N: 5, Bytes: true}} {
		b.Run(fmt.Sprintf("%d-bytes=%v", g.N, g.Bytes), func(b *testing.B) {
			s := NewSigner(g)
			var sig Signature
			i := 0
			start := cpu()
			for b.Loop() {
				s.Sign(&sig, all[i%len(all)])
				i++
			}
			b.ReportMetric(float64(b.N)/(cpu()-start).Seconds(), "texts/cpu-s")
		})
	}
}

// synthetic sets dst to the signatures of rows from from: three of ten are
// copies of earlier rows, in which up to a third of the places differ.
func synthetic(dst []Signature, from int) {
	for i := range dst {
		row := from + i
		rng := rand.New(rand.NewPCG(uint64(row), 1))
		of, edits := row, uint32(0)
		if row > 0 && rng.IntN(10) < 3 {
			of, edits = rng.IntN(row), rng.Uint32N(1<<32/3)
		}
		base := rand.New(rand.NewPCG(uint64(of), 2))
		for p := 0; p < Places; p += 2 {
			x := base.Uint64()
			dst[i][p], dst[i][p+1] = uint32(x), uint32(x>>32)
		}
		for p := 0; edits > 0 && p < Places; p++ {
			if rng.Uint32() < edits {
				dst[i][p] = rng.Uint32()
			}
		}
	}
}

// BenchmarkSet is a million rows, or as many as WEIR_NEAR_ROWS says, in 400 MiB
// or WEIR_NEAR_MIB.
func BenchmarkSet(b *testing.B) {
	number := func(name string, n int) int {
		if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
			n = v
		}
		return n
	}
	rows, size := number("WEIR_NEAR_ROWS", 1_000_000), number("WEIR_NEAR_MIB", 400)
	for _, check := range []bool{false, true} {
		b.Run(fmt.Sprintf("check=%v", check), func(b *testing.B) {
			for b.Loop() {
				measure(b, rows, int64(size)<<20, check)
			}
		})
	}
}

func measure(b *testing.B, rows int, size int64, check bool) {
	dir, err := spill.Open(b.TempDir() + "/scratch")
	if err != nil {
		b.Fatal(err)
	}
	share := mem.New(size)
	s, err := Open(b.Context(), Config{Options: Options{Threshold: 0.8, Check: check}, Share: share, Scratch: dir, Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	batch := make([]Signature, 4096)
	var adding, wall time.Duration
	for at := 0; at < rows; at += len(batch) {
		batch = batch[:min(len(batch), rows-at)]
		synthetic(batch, at)
		start, clock := cpu(), time.Now()
		if err := s.Add(b.Context(), batch, nil); err != nil {
			b.Fatal(err)
		}
		adding, wall = adding+cpu()-start, wall+time.Since(clock)
	}
	start, clock := cpu(), time.Now()
	k, err := s.Finish(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(adding.Seconds(), "add-cpu-s")
	b.ReportMetric(wall.Seconds(), "add-s")
	b.ReportMetric((cpu() - start).Seconds(), "finish-cpu-s")
	b.ReportMetric(time.Since(clock).Seconds(), "finish-s")
	b.ReportMetric(float64(share.Peak())/(1<<20), "peak-MiB")
	b.ReportMetric(float64(k.Distinct)/float64(k.Rows), "kept")
	if err := s.Remove(); err != nil {
		b.Fatal(err)
	}
	share.Trim()
}
