package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/faultproxy"
	"github.com/weir-data/weir/internal/store/storetest"
)

func TestS3ObjectAppearsWholeByCommit(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	st := store.New(store.Options{})
	const part = 5 << 20
	for _, size := range []int{0, 1, 4096, part - 1, part, part + 1, 2*part + 7, 23 << 20} {
		for _, share := range []int64{10 << 20, 13<<20 + 4096, 69 << 20} {
			if size < 2*part && share > 10<<20 {
				continue
			}
			key := fmt.Sprintf("out/%d-%d", size, share)
			data := noise(size, uint64(size))
			b := mem.New(share)
			o, err := st.Create(t.Context(), "s3://lake/"+key, b)
			if err != nil {
				t.Fatal(err)
			}
			if err := put(o, data); err != nil {
				t.Fatal(err)
			}
			if size >= 4096 {
				if err := o.Patch([]byte("patched"), 4089); err != nil {
					t.Fatal(err)
				}
				copy(data[4089:], "patched")
			}
			if srv.Get(t, "lake", key) != nil {
				t.Errorf("%s is there before Commit", key)
			}
			if err := o.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			o.Abort()
			if got := srv.Get(t, "lake", key); !bytes.Equal(got, data) {
				t.Errorf("%s: %d other bytes", key, len(got))
			}
			if b.Leased() != 0 || b.Peak() > share {
				t.Errorf("%s: %d bytes leased, %d at most", key, b.Leased(), b.Peak())
			}
			if err := st.Remove(t.Context(), "s3://lake/"+key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if left := srv.Keys(t, "lake"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := st.Remove(t.Context(), "s3://lake/none"); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
}

func TestS3AbortLeavesNoParts(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", []byte("before"))
	st := store.New(store.Options{})
	for _, how := range []string{"abort", "cancel and abort", "cancel and commit"} {
		for _, size := range []int{100, 11 << 20} {
			ctx, cancel := context.WithCancel(t.Context())
			o, share := begin(t, ctx, st, "s3://lake/k")
			if err := put(o, noise(size, 1)); err != nil {
				t.Fatal(err)
			}
			if how != "abort" {
				cancel()
			}
			if how == "cancel and commit" {
				if err := o.Commit(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("commit after the end: %v", err)
				}
			}
			o.Abort()
			cancel()
			if left := srv.Keys(t, "lake"); len(left) != 1 || string(srv.Get(t, "lake", "k")) != "before" {
				t.Errorf("%s after %d bytes: left %v", how, size, left)
			}
			if share.Leased() != 0 {
				t.Errorf("%s: %d bytes leased", how, share.Leased())
			}
		}
	}
}

func TestS3WritesSurviveEachFault(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(12<<20, 3)
	for _, kind := range faultproxy.WriteKinds {
		t.Run(kind.String(), func(t *testing.T) {
			opts := store.Options{Stats: new(store.Stats), IdleTimeout: 10 * time.Second}
			if kind == faultproxy.SilentHeaders {
				opts.IdleTimeout = 250 * time.Millisecond
			}
			// Three parts make five requests, a small object one.
			st, proxy := behind(t, srv, faultproxy.Config{Seed: 4, Writes: true, Kinds: []faultproxy.Kind{kind}, Rate: 0.6, Limit: 6}, opts)
			for i, size := range []int{12 << 20, 1000} {
				key := fmt.Sprintf("%s-%d", strings.ReplaceAll(kind.String(), " ", "-"), i)
				o, share := begin(t, t.Context(), st.(store.Creator), "s3://lake/"+key)
				if err := put(o, data[:size]); err != nil {
					t.Fatal(err)
				}
				if err := o.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(srv.Get(t, "lake", key), data[:size]) {
					t.Errorf("%s: other bytes", key)
				}
				if share.Leased() != 0 {
					t.Errorf("%s: %d bytes leased", key, share.Leased())
				}
			}
			if proxy.Count(kind) == 0 {
				t.Error("no fault")
			}
		})
	}
}

// TestS3WriteGivesUpAtEveryRequest lets the service fail for good from the n-th
// request of an upload on, but for the last, which takes the parts back.
func TestS3WriteGivesUpAtEveryRequest(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(11<<20, 5)
	for n := range 5 {
		var requests atomic.Int64
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodDelete && requests.Add(1) > int64(n) {
				http.Error(w, "no", http.StatusInternalServerError)
				return
			}
			to, _ := url.Parse(srv.Endpoint)
			(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to); p.Out.Host = r.Host }}).ServeHTTP(w, r)
		}))
		st := store.New(store.Options{Endpoint: front.URL, MaxRetries: 1, BackoffBase: time.Millisecond})
		o, share := begin(t, t.Context(), st, "s3://lake/k")
		err := put(o, data)
		if err == nil {
			err = o.Commit(t.Context())
		}
		o.Abort()
		if !errors.Is(err, store.ErrStore) || !strings.HasPrefix(err.Error(), "s3://lake/k: ") || !strings.Contains(err.Error(), "gave up after 2 tries") {
			t.Errorf("from request %d on: %v", n, err)
		}
		if left := srv.Keys(t, "lake"); len(left) != 0 || share.Leased() != 0 {
			t.Errorf("from request %d on: left %v, %d bytes leased", n, left, share.Leased())
		}
		st.Close()
		front.Close()
	}
}

func TestS3WriteErrorsNameTheObject(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	st := store.New(store.Options{MaxRetries: 1, BackoffBase: time.Millisecond})
	for url, want := range map[string]string{
		"s3://none/k": "s3://none/k: not found (NoSuchBucket)",
	} {
		for _, size := range []int{10, 6 << 20} {
			o, share := begin(t, t.Context(), st, url)
			err := put(o, make([]byte, size))
			if err == nil {
				err = o.Commit(t.Context())
			}
			o.Abort()
			if err == nil || err.Error() != want || !errors.Is(err, store.ErrNotFound) || share.Leased() != 0 {
				t.Errorf("%s, %d bytes: %v", url, size, err)
			}
		}
	}
	for _, url := range []string{"s3://lake", "s3://lake/", "s3://lake/dir/", "s3:///k"} {
		if _, err := st.Create(t.Context(), url, mem.New(1<<30)); err == nil {
			t.Errorf("%s was created", url)
		}
	}
	if _, err := st.Create(t.Context(), "s3://lake/k", mem.New(9<<20)); !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("a small share: %v", err)
	}
}
