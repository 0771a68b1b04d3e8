package store_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/faultproxy"
	"github.com/weir-data/weir/internal/store/storetest"
)

// answer is what a made-up service says to everything.
type answer struct {
	status int
	header string // name: value
	body   string
}

func (a answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for line := range bytes.SplitSeq([]byte(a.header), []byte("\n")) {
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok {
			w.Header().Set(string(name), string(value))
		}
	}
	w.WriteHeader(a.status)
	fmt.Fprint(w, a.body)
}

// fake is a store whose service is h.
func fake(t *testing.T, h http.Handler, stats *store.Stats) store.Store {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	t.Setenv("AWS_REGION", "us-east-1")
	return store.New(store.Options{Endpoint: srv.URL, Stats: stats, MaxRetries: 2, BackoffBase: time.Millisecond})
}

func TestS3JudgesEachAnswer(t *testing.T) {
	const gaveUp = "gave up after 3 tries: "
	tests := []struct {
		name string
		answer
		kind error
		want string
	}{
		{"other region", answer{301, "X-Amz-Bucket-Region: eu-west-1", ""}, store.ErrStore, "the bucket is in region eu-west-1, not us-east-1; set AWS_REGION=eu-west-1"},
		{"busy gateway", answer{503, "Content-Type: text/html", "<html>busy"}, store.ErrStore, gaveUp + "503 Service Unavailable"},
		{"internal error", answer{500, "", "<Error><Code>InternalError</Code><Message>Again.</Message></Error>"}, store.ErrStore, gaveUp + "500 InternalError: Again."},
		{"too many", answer{429, "", ""}, store.ErrStore, gaveUp + "429 TooManyRequests"},
		{"bad request", answer{400, "", "<Error><Code>InvalidArgument</Code><Message>No.</Message></Error>"}, store.ErrStore, "400 InvalidArgument: No."},
		{"no range header", answer{206, "", "0123456789"}, store.ErrStore, gaveUp + "no Content-Range in the answer"},
		{"other range", answer{206, "Content-Range: bytes 0-9/100", "0123456789"}, store.ErrStore, gaveUp + "Content-Range is bytes 0-9/100"},
		{"other size", answer{206, "Content-Range: bytes 10-19/99", "0123456789"}, store.ErrChanged, "object changed while it was read: 100 bytes when listed, 99 now"},
		{"other version", answer{206, "Content-Range: bytes 10-19/100\nETag: \"new\"", "0123456789"}, store.ErrChanged, `object changed while it was read: ETag "old" when listed, "new" now`},
		{"too long", answer{206, "Content-Range: bytes 10-19/100", "0123456789A"}, store.ErrStore, gaveUp + "11 bytes announced, 10 asked for"},
		{"nothing", answer{204, "", ""}, store.ErrStore, gaveUp + "status 204 instead of 206"},
		{"range beyond", answer{416, "", "<Error><Code>InvalidRange</Code></Error>"}, store.ErrChanged, "object changed while it was read: 416 InvalidRange"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			st := fake(t, test.answer, nil)
			r, err := st.Open(t.Context(), store.Object{URL: "s3://lake/k", Size: 100, ETag: `"old"`})
			if err != nil {
				t.Fatal(err)
			}
			err = r.ReadAt(t.Context(), make([]byte, 10), 10)
			if want := "s3://lake/k: bytes 10-19: " + test.want; !errors.Is(err, test.kind) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// Where the listing gave no ETag, the first answer's holds for the rest.
func TestS3HoldsToTheFirstVersionItSaw(t *testing.T) {
	n := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answer{206, fmt.Sprintf("Content-Range: bytes 0-1/2\nETag: \"v%d\"", n), "ab"}.ServeHTTP(w, r)
	})
	st := fake(t, h, nil)
	r, err := st.Open(t.Context(), store.Object{URL: "s3://lake/k", Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 2)
	if err := r.ReadAt(t.Context(), p, 0); err != nil || string(p) != "ab" {
		t.Fatalf("%q, %v", p, err)
	}
	if err := r.ReadAt(t.Context(), p, 0); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
}

func TestS3DistrustsADamagedListPage(t *testing.T) {
	const key = `<Contents><Key>d/k</Key><Size>1</Size></Contents>`
	tests := []struct{ name, body, want string }{
		{"cut off", `<ListBucketResult><KeyCount>1</KeyCount><Contents><Key>d/`, "gave up after 3 tries: the answer is damaged"},
		{"a key lost", `<ListBucketResult><KeyCount>2</KeyCount>` + key + `</ListBucketResult>`, "gave up after 3 tries: a list page announced 2 keys and had 1"},
		{"no way on", `<ListBucketResult><IsTruncated>true</IsTruncated>` + key + `</ListBucketResult>`, "gave up after 3 tries: a list page says that more follow, and not where"},
		{"whole", `<ListBucketResult><KeyCount>1</KeyCount>` + key + `</ListBucketResult>`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list, err := fake(t, answer{200, "", test.body}, nil).List(t.Context(), "s3://lake/d/")
			if test.want == "" {
				if err != nil || len(list) != 1 || list[0].URL != "s3://lake/d/k" {
					t.Errorf("%v, %v", list, err)
				}
				return
			}
			if want := "s3://lake/d/: " + test.want; !errors.Is(err, store.ErrStore) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// The certificates of AWS_CA_BUNDLE are believed.
func TestS3BelievesTheCABundle(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	srv.Put(t, "lake", "k", []byte("secret"))
	proxy, err := faultproxy.Start(srv.Endpoint, faultproxy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	front := httptest.NewTLSServer(proxy)
	defer front.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	if err := os.WriteFile(bundle, cert, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	_, r := open(t, store.New(store.Options{Endpoint: front.URL}), "s3://lake/k")
	p := make([]byte, 6)
	if err := r.ReadAt(t.Context(), p, 0); err != nil || string(p) != "secret" {
		t.Errorf("%q, %v", p, err)
	}
}
