package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/storetest"
)

// noise is n bytes that no compression, filling or shifting leaves the same.
func noise(n int, seed uint64) []byte {
	data := make([]byte, n)
	var s [32]byte
	s[0] = byte(seed)
	rand.NewChaCha8(s).Read(data)
	return data
}

// open lists one object and opens it.
func open(t *testing.T, st store.Store, url string) (store.Object, store.Reader) {
	t.Helper()
	list, err := st.List(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%s: %d objects, want 1", url, len(list))
	}
	r, err := st.Open(t.Context(), list[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return list[0], r
}

func urls(list []store.Object) []string {
	var out []string
	for _, o := range list {
		out = append(out, o.URL)
	}
	return out
}

func TestS3ListsWhatAPatternNames(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	for _, key := range []string{"raw/a.csv", "raw/b.csv", "raw/c.json", "raw/sub/d.csv", "raw/_SUCCESS", "raw/.tmp/e.csv",
		"raw2/x.csv", "top.csv", "part-000.bin", "part-001.bin", "part-010.bin", "odd name+&=é.csv"} {
		srv.Put(t, "lake", key, []byte(key))
	}
	srv.Put(t, "lake", "raw/empty/", nil)
	st := store.New(store.Options{})
	tests := []struct{ pattern, want string }{
		{"raw", "raw/a.csv raw/b.csv raw/c.json raw/sub/d.csv"},
		{"raw/", "raw/a.csv raw/b.csv raw/c.json raw/sub/d.csv"},
		{"top.csv", "top.csv"},
		{"raw/_SUCCESS", "raw/_SUCCESS"},
		{"raw/*.csv", "raw/a.csv raw/b.csv"},
		{"raw/**/*.csv", "raw/a.csv raw/b.csv raw/sub/d.csv"},
		{"raw/[ab].{csv,json}", "raw/a.csv raw/b.csv"},
		{"raw*/?.csv", "raw/a.csv raw/b.csv raw2/x.csv"},
		{"part-{000..001}.bin", "part-000.bin part-001.bin"},
		{"{raw/sub,raw2}", "raw/sub/d.csv raw2/x.csv"},
		{"odd*", "odd name+&=é.csv"},
		{"raw/empty", "error: s3://lake/raw/empty: not found"},
		{"ra", "error: s3://lake/ra: not found"},
		{"none*", "error: s3://lake/none*: no object matches"},
		{"part-{000..003}.bin", "error: s3://lake/part-002.bin: not found"},
		{"raw/[", `error: s3://lake/raw/[: "[" is not a pattern`},
	}
	for _, test := range tests {
		list, err := st.List(t.Context(), "s3://lake/"+test.pattern)
		got := strings.ReplaceAll(strings.Join(urls(list), " "), "s3://lake/", "")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.pattern, got, test.want)
		}
	}
}

func TestS3ListsMoreThanAPage(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	var want []string
	for i := range 1100 {
		key := fmt.Sprintf("many/%04d", i)
		srv.Put(t, "lake", key, []byte{byte(i)})
		want = append(want, "s3://lake/"+key)
	}
	var stats store.Stats
	list, err := store.New(store.Options{Stats: &stats}).List(t.Context(), "s3://lake/many/")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(urls(list), want) {
		t.Errorf("%d objects, want %d in order", len(list), len(want))
	}
	if n := stats.Requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestS3ReadsRanges(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	data := noise(3<<20+17, 1)
	srv.Put(t, "lake", "dir/k", data)
	srv.Put(t, "lake", "empty", nil)
	st := store.New(store.Options{})
	o, r := open(t, st, "s3://lake/dir/k")
	if o.Size != int64(len(data)) || r.Size() != o.Size || !r.Remote() || o.ETag == "" {
		t.Errorf("%+v, size %d, remote %v", o, r.Size(), r.Remote())
	}
	for _, span := range [][2]int{{0, 1}, {0, len(data)}, {len(data) - 1, 1}, {5, 0}, {len(data), 0}, {1 << 20, 1 << 20}, {12345, 678}} {
		p := make([]byte, span[1])
		if err := r.ReadAt(t.Context(), p, int64(span[0])); err != nil || !bytes.Equal(p, data[span[0]:span[0]+span[1]]) {
			t.Errorf("%v: wrong bytes or %v", span, err)
		}
	}
	for _, off := range []int64{int64(len(data)) - 9, int64(len(data)), 1 << 40} {
		if err := r.ReadAt(t.Context(), make([]byte, 10), off); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("offset %d: %v", off, err)
		}
	}
	if err := r.ReadAt(t.Context(), make([]byte, 10), -1); err == nil {
		t.Error("a negative offset is read")
	}
	_, empty := open(t, st, "s3://lake/empty")
	if err := empty.ReadAt(t.Context(), nil, 0); err != nil {
		t.Error(err)
	}
}

func TestS3StopsAtAReplacedObject(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", noise(1000, 1))
	var stats store.Stats
	st := store.New(store.Options{Stats: &stats})
	_, r := open(t, st, "s3://lake/k")
	for _, size := range []int{1000, 10} { // of the same size; too short for the range
		srv.Put(t, "lake", "k", noise(size, 2))
		err := r.ReadAt(t.Context(), make([]byte, 100), 500)
		if !errors.Is(err, store.ErrChanged) || !strings.HasPrefix(err.Error(), "s3://lake/k: bytes 500-599: object changed while it was read: ") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if n := stats.Retries.Load(); n != 0 {
		t.Errorf("%d retries, want none", n)
	}
}

func TestS3ErrorsThatStay(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", noise(100, 1))
	var stats store.Stats
	st := store.New(store.Options{Stats: &stats})
	list := func(st store.Store, url string) error { _, err := st.List(t.Context(), url); return err }
	read := func(st store.Store, o store.Object) error {
		r, err := st.Open(t.Context(), o)
		if err != nil {
			return err
		}
		return r.ReadAt(t.Context(), make([]byte, 10), 0)
	}
	check := func(err, kind error, text string) {
		t.Helper()
		if err == nil || !errors.Is(err, kind) || err.Error() != text {
			t.Errorf("got  %v\nwant %s", err, text)
		}
	}
	check(list(st, "s3://none/x"), store.ErrNotFound, "s3://none/x: not found (NoSuchBucket)")
	check(read(st, store.Object{URL: "s3://lake/gone", Size: 10}), store.ErrNotFound, "s3://lake/gone: bytes 0-9: not found")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	bad := store.New(store.Options{Stats: &stats})
	check(list(bad, "s3://lake/k"), store.ErrStore, "s3://lake/k: access denied (SignatureDoesNotMatch)")
	check(read(bad, store.Object{URL: "s3://lake/k", Size: 100}), store.ErrStore, "s3://lake/k: bytes 0-9: access denied (SignatureDoesNotMatch)")
	if n := stats.Retries.Load(); n != 0 {
		t.Errorf("%d retries, want none", n)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	err := list(store.New(store.Options{}), "s3://lake/k")
	if err == nil || !strings.HasPrefix(err.Error(), "s3://lake/k: AWS credentials: none found; set AWS_PROFILE, or ") {
		t.Error(err)
	}
	check(list(store.New(store.Options{Anonymous: true}), "s3://lake/k"), store.ErrStore, "s3://lake/k: access denied")
	t.Setenv("WEIR_S3_ANONYMOUS", "perhaps")
	if err := list(store.New(store.Options{}), "s3://lake/k"); err == nil || err.Error() != "s3://lake/k: WEIR_S3_ANONYMOUS=perhaps: neither true nor false" {
		t.Error(err)
	}
	if err := list(st, "s3:///k"); err == nil || err.Error() != "s3:///k: no bucket; write s3://bucket/key" {
		t.Error(err)
	}
}

func TestS3GivesUp(t *testing.T) {
	storetest.S3(t)
	var stats store.Stats
	st := store.New(store.Options{Stats: &stats, Endpoint: "http://127.0.0.1:1", MaxRetries: 3, BackoffBase: time.Millisecond})
	r, err := st.Open(t.Context(), store.Object{URL: "s3://lake/k", Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	err = r.ReadAt(t.Context(), make([]byte, 100), 0)
	want := "s3://lake/k: bytes 0-99: gave up after 4 tries: dial tcp 127.0.0.1:1: connect: connection refused"
	if !errors.Is(err, store.ErrStore) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if n := stats.Retries.Load(); n != 3 {
		t.Errorf("%d retries, want 3", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.ReadAt(ctx, make([]byte, 100), 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
