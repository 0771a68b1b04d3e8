// Package faultproxy stands between a client and an S3 service and does to
// ranged reads, or to writes, what networks and services do on bad days. What it does is
// seeded, counted and bounded; it is for tests.
package faultproxy

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is one way to spoil an answer.
type Kind int

// The kinds. All but Busy and Late spoil the one answer they are chosen for.
const (
	CutBody       Kind = iota // all headers, part of the body, then the connection ends
	ShortRange                // fewer bytes, and headers that say so
	ShortLength               // fewer bytes by Content-Length; Content-Range as asked
	WholeObject               // 200 and the object from its beginning
	Reset                     // part of the body, then a TCP reset
	SilentHeaders             // nothing at all
	SilentBody                // part of the body, then nothing
	Busy                      // 503 SlowDown, to this request and to the next three to six
	Late                      // the right answer after a few milliseconds
	Lost                      // the service did what it was asked to; its answer never comes
)

// WriteKinds are those that writes know; Reset then ends the connection after a
// part of the request.
var WriteKinds = []Kind{Reset, SilentHeaders, Busy, Late, Lost}

// Kinds are those that ranged reads know.
var Kinds = []Kind{CutBody, ShortRange, ShortLength, WholeObject, Reset, SilentHeaders, SilentBody, Busy, Late}

func (k Kind) String() string {
	return [...]string{"cut body", "short range", "short length", "whole object", "reset",
		"silent headers", "silent body", "busy", "late", "lost"}[k]
}

// Config says what to do. The zero value forwards everything as it is.
type Config struct {
	Seed  uint64
	Kinds []Kind  // chosen from evenly
	Rate  float64 // part of the ranged reads that are spoiled, 0 to 1
	// Writes spoils PUT, POST and DELETE instead of ranged reads; Kinds are
	// then some of WriteKinds.
	Writes bool
	Limit  int64 // faults in all, after which everything is forwarded as it is; 0: 1000
	// MaxSilence is the longest that a silent answer keeps its connection;
	// 0: 10 s. It ends earlier when the client goes away.
	MaxSilence time.Duration
	// MaxLife is when the proxy closes by itself; 0: 10 minutes.
	MaxLife time.Duration
	// Before, if not nil, is called before the n-th of them (from 1) is
	// forwarded, for instance to replace the object at that moment.
	Before func(n int64)
}

// Proxy is a running proxy.
type Proxy struct {
	cfg      Config
	upstream *url.URL
	listener net.Listener
	server   *http.Server
	client   *http.Transport
	closing  chan struct{}
	close    sync.Once
	life     *time.Timer

	reads  atomic.Int64
	counts [Lost + 1]atomic.Int64

	mu    sync.Mutex
	rng   *rand.Rand
	left  int64 // faults still to come
	burst int   // Busy answers still to come
}

// Start listens on a free port of 127.0.0.1 and forwards to upstream, the URL
// of an S3 service. The Host header stays the client's, since signatures
// cover it.
func Start(upstream string, cfg Config) (*Proxy, error) {
	to, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("faultproxy: %w", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("faultproxy: %w", err)
	}
	orTime := func(d *time.Duration, other time.Duration) {
		if *d <= 0 {
			*d = other
		}
	}
	orTime(&cfg.MaxSilence, 10*time.Second)
	orTime(&cfg.MaxLife, 10*time.Minute)
	if cfg.Limit <= 0 {
		cfg.Limit = 1000
	}
	p := &Proxy{
		cfg: cfg, upstream: to, listener: ln, closing: make(chan struct{}), left: cfg.Limit,
		client: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, ReadBufferSize: 64 << 10},
		rng:    rand.New(rand.NewPCG(cfg.Seed, 0)),
	}
	p.server = &http.Server{Handler: p}
	p.life = time.AfterFunc(cfg.MaxLife, p.Close)
	go p.server.Serve(ln) // ends by Close
	return p, nil
}

// URL is the endpoint that clients use.
func (p *Proxy) URL() string { return "http://" + p.listener.Addr().String() }

// Count is how often a kind was injected; each 503 of a burst counts.
func (p *Proxy) Count(k Kind) int64 { return p.counts[k].Load() }

// Faults is how many answers were spoiled; late ones do not count.
func (p *Proxy) Faults() int64 {
	var n int64
	for k := range p.counts {
		n += p.counts[k].Load()
	}
	return n - p.Count(Late)
}

// Close ends the proxy and all its connections. It may be called again.
func (p *Proxy) Close() {
	p.close.Do(func() {
		p.life.Stop()
		close(p.closing)
		p.server.Close()
		p.client.CloseIdleConnections()
	})
}

// choose decides on one ranged read.
func (p *Proxy) choose() (k Kind, spoil bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left <= 0 || len(p.cfg.Kinds) == 0 {
		return 0, false
	}
	switch {
	case p.burst > 0:
		p.burst--
		k = Busy
	case p.rng.Float64() >= p.cfg.Rate:
		return 0, false
	default:
		k = p.cfg.Kinds[p.rng.IntN(len(p.cfg.Kinds))]
		if k == Busy {
			p.burst = 3 + p.rng.IntN(4)
		}
	}
	p.left--
	p.counts[k].Add(1)
	return k, true
}

// part is how many of n bytes a spoiled answer has.
func (p *Proxy) part(n int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n < 2 {
		return 0
	}
	return p.rng.Int64N(n)
}

// silence waits for the client, the proxy or patience to end.
func (p *Proxy) silence(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-p.closing:
	}
}

// forward sends the request on.
func (p *Proxy) forward(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = p.upstream.Scheme, p.upstream.Host
	out.RequestURI = ""
	out.Host = r.Host
	if r.ContentLength == 0 {
		out.Body = nil
	}
	return p.client.RoundTrip(out)
}

// relay answers with what upstream said.
func (p *Proxy) relay(w http.ResponseWriter, r *http.Request) {
	resp, err := p.forward(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	copyHeader(w, resp)
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		panic(http.ErrAbortHandler) // the length was promised
	}
}

func copyHeader(w http.ResponseWriter, resp *http.Response) {
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
}
