package codec

import (
	"bufio"
	"sync"

	"github.com/klauspost/compress/gzip"
)

const (
	// gzipState covers the 32 KiB window, the code tables (which damaged
	// input can grow) and a header's extra field of up to 64 KiB.
	gzipState = 176 << 10
	gzipInput = 32 << 10
)

func (d *Decoder) gunzip(dst, src []byte) error {
	d.in.Reset(src)
	defer d.in.Reset(nil)
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	if err := d.gzip.Reset(&d.in); err != nil {
		return Gzip.damage(err)
	}
	return d.readWhole(Gzip, dst, d.gzip)
}

type gzipStream struct {
	in *bufio.Reader
	gzip.Reader
}

var gzipPool = sync.Pool{New: func() any {
	return &gzipStream{in: bufio.NewReaderSize(nil, gzipInput)}
}}

// openGzip reads members one after another until the source ends.
func openGzip(s *stream) error {
	g := gzipPool.Get().(*gzipStream)
	s.free = func() {
		g.in.Reset(nil)
		gzipPool.Put(g)
	}
	g.in.Reset(&s.src)
	s.r = &g.Reader
	return g.Reset(g.in)
}
