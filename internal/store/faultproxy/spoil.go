package faultproxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// ServeHTTP spoils some of the ranged reads, or writes, and forwards everything
// else.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	read := r.Method == http.MethodGet && r.Header.Get("Range") != ""
	write := r.Method != http.MethodGet && r.Method != http.MethodHead
	if p.cfg.Writes && !write || !p.cfg.Writes && !read {
		p.relay(w, r)
		return
	}
	n := p.reads.Add(1)
	if p.cfg.Before != nil {
		p.cfg.Before(n)
	}
	kind, spoil := p.choose()
	if !spoil {
		p.relay(w, r)
		return
	}
	switch kind {
	case Late:
		p.silence(r, time.Millisecond*time.Duration(1+p.part(5)))
		p.relay(w, r)
	case Busy:
		busy(w)
	case SilentHeaders:
		p.silence(r, p.cfg.MaxSilence)
		panic(http.ErrAbortHandler)
	case WholeObject:
		p.whole(w, r)
	case Lost:
		if resp, err := p.forward(r); err == nil {
			resp.Body.Close()
		}
		panic(http.ErrAbortHandler)
	default:
		if write {
			io.CopyN(io.Discard, r.Body, p.part(r.ContentLength))
			reset(http.NewResponseController(w))
		}
		p.spoilBody(w, r, kind)
	}
}

// busy is S3's way to ask for patience.
func busy(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusServiceUnavailable)
	io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
}

// whole answers 200 with as many bytes as the object has. The signature covers
// the range, so upstream cannot be asked for more than it; unless the range is
// the whole object, the bytes are zeros, which no reader may take for data.
func (p *Proxy) whole(w http.ResponseWriter, r *http.Request) {
	resp, err := p.forward(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	copyHeader(w, resp)
	first, last, total, ok := span(resp)
	if !ok {
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
		return
	}
	w.Header().Del("Content-Range")
	w.Header().Set("Content-Length", strconv.FormatInt(total, 10))
	w.WriteHeader(http.StatusOK)
	if first == 0 && last == total-1 {
		io.Copy(w, resp.Body)
		return
	}
	zeros := make([]byte, 32<<10)
	for total > 0 {
		n, err := w.Write(zeros[:min(total, int64(len(zeros)))])
		if err != nil {
			return
		}
		total -= int64(n)
	}
}

// span reads Content-Range.
func span(resp *http.Response) (first, last, total int64, ok bool) {
	_, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
	return first, last, total, err == nil
}

// spoilBody relays an answer with something missing.
func (p *Proxy) spoilBody(w http.ResponseWriter, r *http.Request, kind Kind) {
	resp, err := p.forward(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	copyHeader(w, resp)
	part := p.part(resp.ContentLength)
	switch kind {
	case ShortRange:
		if first, _, total, ok := span(resp); ok {
			part = max(part, 1) // a range has at least one byte
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, first+part-1, total))
		}
		w.Header().Set("Content-Length", strconv.FormatInt(part, 10))
	case ShortLength:
		w.Header().Set("Content-Length", strconv.FormatInt(part, 10))
	}
	w.WriteHeader(resp.StatusCode)
	io.CopyN(w, resp.Body, part)
	if kind == ShortRange || kind == ShortLength {
		return
	}
	control := http.NewResponseController(w)
	control.Flush()
	switch kind {
	case SilentBody:
		p.silence(r, p.cfg.MaxSilence)
	case Reset:
		reset(control)
	}
	panic(http.ErrAbortHandler)
}

// reset ends the connection as a crashed peer does, and the handler with it.
func reset(control *http.ResponseController) {
	if conn, _, err := control.Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}
