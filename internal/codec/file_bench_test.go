//go:build unix

package codec

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// peers are what others would read the same files with.
var peers = map[File]map[string]func(io.Reader) (io.Reader, error){
	GzipFile: {
		"klauspost": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"stdlib":    func(r io.Reader) (io.Reader, error) { return stdgzip.NewReader(r) },
	},
	ZstdFile: {
		"klauspost": func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		},
	},
}

func BenchmarkFile(b *testing.B) {
	buf := make([]byte, 64<<10)
	for _, s := range []sample{{"json", records(8 << 20)}, {"text", text(8 << 20)}, {"floats", floats(8 << 20)}} {
		for _, d := range fileDialects {
			if d.plain == "" {
				continue
			}
			src := d.encode(s.data)
			read := func(b *testing.B, open func(io.Reader) (io.Reader, error)) {
				b.SetBytes(int64(len(s.data)))
				b.ReportAllocs()
				defer perCPU(b, len(s.data))()
				for b.Loop() {
					r, err := open(bytes.NewReader(src))
					for err == nil {
						_, err = r.Read(buf)
					}
					if err != io.EOF {
						b.Fatal(err)
					}
					if c, ok := r.(FileReader); ok {
						c.Close()
					}
				}
			}
			b.Run(d.plain+"/"+s.name+"/weir", func(b *testing.B) {
				read(b, func(r io.Reader) (io.Reader, error) { return d.file.NewReader(r) })
			})
			for name, open := range peers[d.file] {
				b.Run(d.plain+"/"+s.name+"/"+name, func(b *testing.B) { read(b, open) })
			}
		}
	}
}
