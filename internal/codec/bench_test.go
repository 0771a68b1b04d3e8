//go:build unix

package codec

import (
	"bytes"
	"io"
	"testing"
)

// benchmarks are the dialects that real files mostly have.
var benchmarks = map[string]bool{
	"snappy": true, "gzip": true, "brotli": true, "lz4_raw": true,
	"lz4 hadoop": true, "lz4 frame sums": true, "zstd": true, "zstd unsized": true,
}

func benchmark(b *testing.B, f func(b *testing.B, c Codec, dst, src []byte)) {
	data := []sample{{"text", text(8 << 20)}, {"floats", floats(8 << 20)}}
	for _, d := range dialects {
		if !benchmarks[d.name] {
			continue
		}
		for _, s := range data {
			src := d.encode(s.data)
			b.Run(d.name+"/"+s.name, func(b *testing.B) {
				b.SetBytes(int64(len(s.data)))
				b.ReportAllocs()
				defer perCPU(b, len(s.data))()
				f(b, d.codec, make([]byte, len(s.data)), src)
			})
		}
	}
}

func BenchmarkWhole(b *testing.B) {
	benchmark(b, func(b *testing.B, c Codec, dst, src []byte) {
		var d Decoder
		for b.Loop() {
			if err := d.Decompress(c, dst, src); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	benchmark(b, func(b *testing.B, c Codec, dst, src []byte) {
		buf := dst[:64<<10]
		for b.Loop() {
			s, err := c.NewStream(bytes.NewReader(src), int64(len(dst)))
			for err == nil {
				_, err = s.Read(buf)
			}
			if err != io.EOF {
				b.Fatal(err)
			}
			s.Close()
		}
	})
}
