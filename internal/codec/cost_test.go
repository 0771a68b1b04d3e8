package codec

import (
	"bytes"
	"io"
	"runtime"
	"testing"
)

// live is the Go heap in use once garbage and pools, which last one
// collection, are gone.
func live() int64 {
	for range 2 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// held is the most a stream holds while it is read.
func held(t *testing.T, c Codec, src []byte, size int) int64 {
	buf := make([]byte, 50_000)
	r := bytes.NewReader(src)
	before, most := live(), int64(0)
	s, err := c.NewStream(r, int64(size))
	for i := 0; err == nil; i++ {
		if i%16 == 15 {
			most = max(most, live()-before)
		}
		_, err = s.Read(buf)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	most = max(most, live()-before)
	s.Close()
	return most
}

func TestStreamCostIsHonest(t *testing.T) {
	if raced {
		t.Skip("memory is not measured under the race detector")
	}
	each(t, func(t *testing.T, d dialect) {
		for _, s := range samples(2 << 20)[:3] {
			src := d.encode(s.data)
			cost, err := d.codec.StreamCost(src[:headSize], int64(len(s.data)))
			if err != nil {
				t.Fatal(err)
			}
			used := held(t, d.codec, src, len(s.data))
			if used > cost {
				t.Errorf("%s: holds %d, cost is %d", s.name, used, cost)
			}
			if s.name == "text" && d.codec != Brotli && cost > used*3/2+(128<<10) {
				t.Errorf("%s: holds %d, cost is as much as %d", s.name, used, cost)
			}
			t.Logf("%s: holds %d of %d", s.name, used, cost)
		}
	})
}

func TestHeapIsHonest(t *testing.T) {
	if raced {
		t.Skip("memory is not measured under the race detector")
	}
	each(t, func(t *testing.T, d dialect) {
		for _, s := range samples(2 << 20)[:3] {
			src := d.encode(s.data)
			dst := make([]byte, len(s.data))
			before := live()
			dec := new(Decoder)
			for range 2 {
				if err := dec.Decompress(d.codec, dst, src); err != nil {
					t.Fatal(err)
				}
			}
			used := live() - before
			if limit := d.codec.Heap() + 16<<10; used > limit {
				t.Errorf("%s: holds %d, bound is %d", s.name, used, limit)
			}
			t.Logf("%s: holds %d of %d", s.name, used, d.codec.Heap())
			runtime.KeepAlive(dec)
			runtime.KeepAlive(s.data)
			runtime.KeepAlive(src)
			runtime.KeepAlive(dst)
		}
	})
}

// A frame that promises much must not make a Decoder allocate it.
func TestLyingSizesDoNotAllocate(t *testing.T) {
	data := text(100_000)
	dst := make([]byte, len(data))
	huge := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0} // 256 GiB in one segment
	for _, src := range [][]byte{huge, zstdFrame(make([]byte, 64<<20), true), zstdFrame(make([]byte, 64<<20), false)} {
		var d Decoder
		d.Decompress(Zstd, dst, zstdFrame(data, true))
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		if err := d.Decompress(Zstd, dst, src); err == nil {
			t.Fatal("no error")
		}
		runtime.ReadMemStats(&b)
		if n := b.TotalAlloc - a.TotalAlloc; n > 512<<10 {
			t.Errorf("allocated %d bytes", n)
		}
	}
	if _, err := Zstd.NewStream(bytes.NewReader(huge), 1<<38); err == nil {
		t.Error("a stream with a window of 256 GiB")
	}
	if cost, err := Zstd.StreamCost(huge, 1<<38); err != nil || cost < 1<<38 {
		t.Errorf("cost %d, %v", cost, err)
	}
}

func TestStreamsStartNoGoroutines(t *testing.T) {
	data := text(600_000)
	var blocks [][]byte
	for _, d := range dialects {
		blocks = append(blocks, d.encode(data))
	}
	before := runtime.NumGoroutine()
	for i, d := range dialects {
		s, err := d.codec.NewStream(bytes.NewReader(blocks[i]), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := io.ReadFull(s, make([]byte, 500_000)); err != nil {
			t.Fatal(err)
		}
		var dec Decoder
		if err := dec.Decompress(d.codec, make([]byte, len(data)), blocks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
