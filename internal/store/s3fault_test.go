package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/faultproxy"
	"github.com/weir-data/weir/internal/store/storetest"
)

// behind starts a proxy before srv and a store that goes through it. When the
// test ends, no goroutine of either is left.
func behind(t *testing.T, srv *storetest.Server, cfg faultproxy.Config, opts store.Options) (store.Store, *faultproxy.Proxy) {
	t.Helper()
	before := runtime.NumGoroutine()
	proxy, err := faultproxy.Start(srv.Endpoint, cfg)
	if err != nil {
		t.Fatal(err)
	}
	opts.Endpoint = proxy.URL()
	opts.BackoffBase = time.Millisecond
	opts.BackoffMax = 5 * time.Millisecond
	if opts.IdleTimeout == 0 {
		opts.IdleTimeout = 150 * time.Millisecond
	}
	st := store.New(opts)
	t.Cleanup(func() {
		st.(interface{ Close() error }).Close()
		proxy.Close()
		for range 500 { // connections end a moment after they are closed
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines left of %d\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	})
	return st, proxy
}

func TestS3SurvivesEachFault(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(2<<20, 3)
	srv.Put(t, "lake", "k", data)
	for _, kind := range faultproxy.Kinds {
		t.Run(kind.String(), func(t *testing.T) {
			var stats store.Stats
			opts := store.Options{Stats: &stats, IdleTimeout: 10 * time.Second}
			if kind == faultproxy.SilentHeaders || kind == faultproxy.SilentBody {
				opts.IdleTimeout = 150 * time.Millisecond
			}
			st, proxy := behind(t, srv, faultproxy.Config{Seed: 1, Kinds: []faultproxy.Kind{kind}, Rate: 1, Limit: 5}, opts)
			_, r := open(t, st, "s3://lake/k")
			for _, off := range []int64{0, 1000, 1<<20 + 1} {
				p := make([]byte, 1<<20-1)
				if err := r.ReadAt(t.Context(), p, off); err != nil || !bytes.Equal(p, data[off:off+int64(len(p))]) {
					t.Fatalf("offset %d: wrong bytes or %v", off, err)
				}
			}
			if n := proxy.Count(kind); n != 5 && kind != faultproxy.Late {
				t.Errorf("%d faults, want 5", n)
			}
			if stats.Retries.Load() < proxy.Faults() {
				t.Errorf("%d retries for %d faults", stats.Retries.Load(), proxy.Faults())
			}
		})
	}
}

func TestS3ResumesAtTheReceivedOffset(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(8<<20, 4)
	srv.Put(t, "lake", "k", data)
	var stats store.Stats
	cuts := []faultproxy.Kind{faultproxy.CutBody, faultproxy.SilentBody}
	st, proxy := behind(t, srv, faultproxy.Config{Seed: 2, Kinds: cuts, Rate: 1, Limit: 8}, store.Options{Stats: &stats})
	_, r := open(t, st, "s3://lake/k")
	p := make([]byte, len(data))
	if err := r.ReadAt(t.Context(), p, 0); err != nil || !bytes.Equal(p, data) {
		t.Fatalf("wrong bytes or %v", err)
	}
	if got := stats.Bytes.Load(); got != int64(len(data)) {
		t.Errorf("%d bytes received for %d: some twice", got, len(data))
	}
	if proxy.Faults() != 8 {
		t.Errorf("%d faults, want 8", proxy.Faults())
	}
}

func TestS3TakesAWholeObjectForItsRange(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(100<<10, 5)
	srv.Put(t, "lake", "k", data)
	var stats store.Stats
	st, proxy := behind(t, srv, faultproxy.Config{Kinds: []faultproxy.Kind{faultproxy.WholeObject}, Rate: 1}, store.Options{Stats: &stats, MaxRetries: 3, IdleTimeout: 10 * time.Second})
	_, r := open(t, st, "s3://lake/k")
	p := make([]byte, len(data))
	if err := r.ReadAt(t.Context(), p, 0); err != nil || !bytes.Equal(p, data) {
		t.Fatalf("wrong bytes or %v", err)
	}
	if proxy.Faults() != 1 || stats.Retries.Load() != 0 {
		t.Errorf("%d faults, %d retries", proxy.Faults(), stats.Retries.Load())
	}
	err := r.ReadAt(t.Context(), p[:10], 5)
	want := "s3://lake/k: bytes 5-14: gave up after 4 tries: the whole object came instead of the range"
	if !errors.Is(err, store.ErrStore) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestS3StopsWhenReplacedWhileReading(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", noise(1<<20, 6))
	cfg := faultproxy.Config{Kinds: []faultproxy.Kind{faultproxy.CutBody}, Rate: 1, Limit: 1}
	cfg.Before = func(n int64) {
		if n == 2 { // the second request resumes the first
			srv.Put(t, "lake", "k", noise(1<<20, 7))
		}
	}
	st, _ := behind(t, srv, cfg, store.Options{IdleTimeout: 5 * time.Second})
	_, r := open(t, st, "s3://lake/k")
	err := r.ReadAt(t.Context(), make([]byte, 1<<20), 0)
	if !errors.Is(err, store.ErrChanged) || !strings.HasPrefix(err.Error(), "s3://lake/k: bytes 0-1048575: object changed") {
		t.Error(err)
	}
}

func TestS3CancelEndsASilentRead(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", noise(1<<20, 8))
	ctx, cancel := context.WithCancel(t.Context())
	cfg := faultproxy.Config{Kinds: []faultproxy.Kind{faultproxy.SilentHeaders}, Rate: 1, Before: func(int64) { cancel() }}
	st, _ := behind(t, srv, cfg, store.Options{IdleTimeout: time.Hour})
	_, r := open(t, st, "s3://lake/k")
	err := r.ReadAt(ctx, make([]byte, 10), 0)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "s3://lake/k: bytes 0-9: ") {
		t.Error(err)
	}
}

func TestS3SilenceIsAnErrorInTheEnd(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", noise(1000, 9))
	cfg := faultproxy.Config{Kinds: []faultproxy.Kind{faultproxy.SilentHeaders}, Rate: 1}
	st, _ := behind(t, srv, cfg, store.Options{IdleTimeout: 50 * time.Millisecond, MaxRetries: 2})
	r, err := st.Open(t.Context(), store.Object{URL: "s3://lake/k", Size: 1000})
	if err != nil {
		t.Fatal(err)
	}
	err = r.ReadAt(t.Context(), make([]byte, 10), 0)
	if want := "s3://lake/k: bytes 0-9: gave up after 3 tries: no data for 50ms"; !errors.Is(err, store.ErrStore) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestS3SurvivesAStorm moves 64 MiB through more than 250 faults per GiB, by
// four readers at once.
func TestS3SurvivesAStorm(t *testing.T) {
	const size, step = 64 << 20, 1 << 20
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(size, 10)
	srv.Put(t, "lake", "k", data)
	var stats store.Stats
	st, proxy := behind(t, srv, faultproxy.Config{Seed: 3, Kinds: faultproxy.Kinds, Rate: 0.4}, store.Options{Stats: &stats, MaxRequests: 3})
	_, r := open(t, st, "s3://lake/k")
	got := make([]byte, size)
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for off := i * step; off < size && errs[i] == nil; off += step * len(errs) {
				errs[i] = r.ReadAt(t.Context(), got[off:off+step], int64(off))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(got) != sha256.Sum256(data) {
		t.Error("the digest is another")
	}
	if perGiB := proxy.Faults() << 30 / size; perGiB < 250 {
		t.Errorf("%d faults per GiB only", perGiB)
	}
	var counts []string
	for _, k := range faultproxy.Kinds {
		counts = append(counts, fmt.Sprintf("%v %d", k, proxy.Count(k)))
	}
	t.Logf("%d retries; %s", stats.Retries.Load(), strings.Join(counts, ", "))
}
