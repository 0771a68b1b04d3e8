package write

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/mem"
)

var decoders = map[string]codec.Codec{"none": codec.None, "snappy": codec.Snappy, "gzip": codec.Gzip,
	"brotli": codec.Brotli, "zstd": codec.Zstd, "lz4": codec.LZ4Raw}

// samples are of sizes around what the codecs do differently, random and not.
func samples() [][]byte {
	r := rand.New(rand.NewPCG(1, 1))
	var out [][]byte
	for _, n := range []int{0, 1, 59, 60, 61, 256, 4000, 70_000, 1 << 20, 1<<20 + 100_000} {
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		text := bytes.Repeat([]byte("the quick brown fox, "), n/20+1)[:n]
		out = append(out, noise, text)
	}
	return out
}

func TestPagesDecompressToWhatTheyWere(t *testing.T) {
	levels := []byte{2, 0, 0, 0, 200, 1, 1}
	for name, id := range decoders {
		c, err := parseCodec(name)
		if err != nil {
			t.Fatal(err)
		}
		comp, err := newCompressor(c, 64<<10)
		if err != nil {
			t.Fatal(err)
		}
		var d codec.Decoder
		for _, data := range samples() {
			for _, before := range [][]byte{nil, levels, bytes.Repeat(levels, 20)} {
				if comp.whole() && before != nil {
					continue
				}
				want := append(bytes.Clone(before), data...)
				dst := make([]byte, comp.bound(len(want)))
				n, err := comp.pack(dst, before, data)
				if err != nil {
					t.Fatalf("%s: %d bytes: %v", name, len(want), err)
				}
				if len(want) == 0 {
					continue // readers never decompress nothing
				}
				got := make([]byte, len(want))
				if err := d.Decompress(id, got, dst[:n]); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: %d bytes: %v", name, len(want), err)
				}
			}
		}
	}
}

// TestCompressorsHeapIsPaidFor: what a compressor holds after large pages.
func TestCompressorsHeapIsPaidFor(t *testing.T) {
	data := samples()[17]
	dst := make([]byte, 2*len(data))
	for _, name := range []string{"gzip:1", "gzip:9", "brotli:1", "brotli:4", "brotli:5", "brotli:9", "zstd:1", "zstd:3", "zstd:8", "lz4", "snappy"} {
		for _, page := range []int{512, 64 << 10, 1 << 20} {
			c, err := parseCodec(name)
			if err != nil {
				t.Fatal(err)
			}
			before := heapNow()
			comp, err := newCompressor(c, page)
			if err == nil {
				_, err = comp.pack(dst, nil, data)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := heapNow() - before
			runtime.KeepAlive(comp)
			if most := c.heap(page) + 16<<10; got > most {
				t.Errorf("%s, pages of %d: %s on the heap, paid for %s", name, page, mem.Format(got), mem.Format(most))
			}
		}
	}
	runtime.KeepAlive(data)
}

func heapNow() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTapeKeepsAndTakesBack(t *testing.T) {
	b := mem.New(1 << 20)
	tp := tape{share: b}
	var want []byte
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 500 {
		p := bytes.Repeat([]byte{byte(i)}, r.IntN(400))
		if _, err := tp.Write(p); err != nil {
			t.Fatal(err)
		}
		want = append(want, p...)
		if i%50 == 49 {
			want = want[:r.IntN(len(want)+1)]
			tp.cut(int64(len(want)))
		}
	}
	var out bytes.Buffer
	if n, err := tp.WriteTo(&out); err != nil || n != tp.total || !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("%d bytes of %d come back, %v", n, len(want), err)
	}
	out.Reset()
	if _, err := out.ReadFrom(tp.reader()); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Fatal("the reader reads something else")
	}
	tp.free()
	if _, err := b.Acquire(context.Background(), 1<<20); err != nil || b.Leased() != 1<<20 {
		t.Error("memory is missing")
	}
}
