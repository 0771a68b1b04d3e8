package store

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weir-data/weir/internal/mem"
)

// Options say how to reach the bytes. The zero value serves: S3's endpoint,
// region and credentials are what the AWS tools would use (environment,
// profiles, web identity, instance roles). A number that is zero or negative
// means its default.
type Options struct {
	// Endpoint is the S3 service's URL; empty: AWS_ENDPOINT_URL_S3,
	// AWS_ENDPOINT_URL, the profile's, or AWS itself.
	Endpoint string
	// PathStyle puts the bucket into the path instead of the host name, as it
	// always is when an endpoint URL is set. WEIR_S3_PATH_STYLE=true or =false
	// in the environment decides over both.
	PathStyle bool
	// Anonymous sends unsigned requests, for public buckets; so does
	// WEIR_S3_ANONYMOUS=true.
	Anonymous bool

	// DropCache lets Reader.Drop take local data out of the page cache.
	DropCache bool

	// NoReadAhead keeps the system from reading local files ahead by itself:
	// where its steps are large (8 MiB are met on servers), they throw a small
	// container's other pages out.
	NoReadAhead bool

	// WriteCache is how many bytes of local output may be in the page cache:
	// from there on what was written is taken out of it, which in a container
	// leaves its memory to others; 0: any number.
	WriteCache int64

	// MaxRequests is how many S3 requests run at once; default 32.
	MaxRequests int
	// MaxRetries is how many failures in a row without one byte received end
	// a read; default 12.
	MaxRetries int
	// IdleTimeout is how long a request may bring nothing, before its headers
	// or within its body, until it is abandoned and asked again; default 20 s.
	IdleTimeout time.Duration
	// BackoffBase and BackoffMax bound the pause before a retry: a random
	// time up to BackoffBase, doubled with each failure in a row, never over
	// BackoffMax; defaults 100 ms and 10 s.
	BackoffBase, BackoffMax time.Duration

	// Stats, if not nil, is counted up.
	Stats *Stats
}

// Stats counts what a Store did. Its fields may be read at any time.
type Stats struct {
	Requests atomic.Int64 // S3 requests sent, local reads made
	Retries  atomic.Int64 // requests that had to be sent again, whole or in part
	Bytes    atomic.Int64 // bytes of objects received, those of broken responses too
	Written  atomic.Int64 // bytes of objects written, those of requests that had to be repeated again
}

func (o Options) withDefaults() Options {
	orInt := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	orTime := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	orInt(&o.MaxRequests, 32)
	orInt(&o.MaxRetries, 12)
	orTime(&o.IdleTimeout, 20*time.Second)
	orTime(&o.BackoffBase, 100*time.Millisecond)
	orTime(&o.BackoffMax, 10*time.Second)
	if o.Stats == nil {
		o.Stats = new(Stats)
	}
	return o
}

// New returns a Store that finds s3://bucket/key on S3, and file:// and
// everything else on local disk. Nothing is contacted before the first s3://
// URL is used.
func New(opts Options) ReadWriter {
	opts = opts.withDefaults()
	return &router{
		local: local{opts: opts},
		s3:    &s3Store{opts: opts, slots: make(chan struct{}, opts.MaxRequests)},
	}
}

// router picks the store by the URL's scheme.
type router struct {
	local local
	s3    *s3Store
}

func (r *router) pick(url string) interface {
	Store
	Creator
} {
	if strings.HasPrefix(url, s3Scheme) {
		return r.s3
	}
	return r.local
}

func (r *router) List(ctx context.Context, pattern string) ([]Object, error) {
	return r.pick(pattern).List(ctx, pattern)
}

func (r *router) Open(ctx context.Context, o Object) (Reader, error) {
	return r.pick(o.URL).Open(ctx, o)
}

func (r *router) Create(ctx context.Context, url string, share *mem.Budget) (Output, error) {
	return r.pick(url).Create(ctx, url, share)
}

func (r *router) Remove(ctx context.Context, url string) error {
	return r.pick(url).Remove(ctx, url)
}

// WriteCost is the share that Create needs for url: the least that works, and
// the most that makes it faster.
func WriteCost(url string) (least, most int64) {
	if strings.HasPrefix(url, s3Scheme) {
		return s3WriteLeast, s3WriteMost
	}
	return localBuffer, localBuffer
}

func (r *router) Close() error {
	r.s3.closeIdle()
	return nil
}
