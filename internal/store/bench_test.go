package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/storetest"
)

// cpuSeconds is what this process has used; the S3 service is another one.
func cpuSeconds() float64 {
	var ru syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9
}

func benchmarkRead(b *testing.B, url string, step int) {
	st := store.New(store.Options{})
	list, err := st.List(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	r, err := st.Open(b.Context(), list[0])
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	p := make([]byte, step)
	b.SetBytes(int64(step))
	b.ReportAllocs()
	start, off := cpuSeconds(), int64(0)
	for b.Loop() {
		if err := r.ReadAt(context.Background(), p, off); err != nil {
			b.Fatal(err)
		}
		if off += int64(step); off+int64(step) > r.Size() {
			off = 0
		}
	}
	b.ReportMetric(float64(step)*float64(b.N)/1e6/(cpuSeconds()-start), "MB/cpu-s")
}

func BenchmarkReadAt(b *testing.B) {
	data := noise(64<<20, 1)
	srv := storetest.S3(b)
	srv.Bucket(b, "lake")
	srv.Put(b, "lake", "k", data)
	name := filepath.Join(b.TempDir(), "k")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		b.Fatal(err)
	}
	for _, mib := range []int{1, 8} {
		b.Run(fmt.Sprintf("s3/%dMiB", mib), func(b *testing.B) { benchmarkRead(b, "s3://lake/k", mib<<20) })
		b.Run(fmt.Sprintf("local/%dMiB", mib), func(b *testing.B) { benchmarkRead(b, name, mib<<20) })
	}
}
