package codec

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
)

// guarded is a dst of n bytes between canaries; the Slack bytes behind it may
// be written.
func guarded(n int) (dst []byte, intact func() bool) {
	const guard = 64
	b := bytes.Repeat([]byte{0xA5}, n+2*guard+Slack)
	return b[guard : guard+n], func() bool {
		edge := bytes.Repeat([]byte{0xA5}, guard)
		return bytes.Equal(b[:guard], edge) && bytes.Equal(b[guard+n+Slack:], edge)
	}
}

func TestBlocksComeBackWhole(t *testing.T) {
	each(t, func(t *testing.T, d dialect) {
		var dec Decoder
		for _, n := range []int{0, 1, 5, 15, 16, 17, 100, 4096, 65537, 300_000} {
			for _, s := range samples(n) {
				dst, intact := guarded(n)
				if err := dec.Decompress(d.codec, dst, d.encode(s.data)); err != nil {
					t.Fatalf("%s, %d bytes: %v", s.name, n, err)
				}
				if !bytes.Equal(dst, s.data) {
					t.Fatalf("%s, %d bytes: different data", s.name, n)
				}
				if !intact() {
					t.Fatalf("%s, %d bytes: wrote outside dst", s.name, n)
				}
			}
		}
	})
}

func TestBlocksComeBackStreamed(t *testing.T) {
	each(t, func(t *testing.T, d dialect) {
		for _, n := range []int{0, 1, 17, 65537, 300_000} {
			for _, s := range samples(n) {
				src := bytes.NewReader(d.encode(s.data))
				got, err := readStream(d.codec, src, n, 32<<10)
				if err != nil {
					t.Fatalf("%s, %d bytes: %v", s.name, n, err)
				}
				if !bytes.Equal(got, s.data) {
					t.Fatalf("%s, %d bytes: different data", s.name, n)
				}
			}
		}
	})
}

// readStream reads a block in pieces of the given size, to the end.
func readStream(c Codec, src io.Reader, size, piece int) ([]byte, error) {
	s, err := c.NewStream(src, int64(size))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out []byte
	for buf := make([]byte, piece); ; {
		n, err := s.Read(buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

func TestStreamDoesNotDependOnReadSizes(t *testing.T) {
	data := append(patterns(150_000), text(150_000)...)
	each(t, func(t *testing.T, d dialect) {
		src := d.encode(data)
		for _, piece := range []int{1, 2, 3, 7, 61, 1000, 4096, 65536, 131072, 1 << 20} {
			got, err := readStream(d.codec, bytes.NewReader(src), len(data), piece)
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("pieces of %d: %v", piece, err)
			}
		}
		for name, r := range map[string]io.Reader{
			"a byte at a time": iotest.OneByteReader(bytes.NewReader(src)),
			"halves":           iotest.HalfReader(bytes.NewReader(src)),
			"data with EOF":    iotest.DataErrReader(bytes.NewReader(src)),
			"buffer":           bytes.NewBuffer(bytes.Clone(src)),
		} {
			got, err := readStream(d.codec, r, len(data), 10_000)
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

func TestEveryTruncationIsAnError(t *testing.T) {
	data := append(patterns(300), text(400)...)
	each(t, func(t *testing.T, d dialect) {
		var dec Decoder
		src := d.encode(data)
		for n := range src {
			dst, intact := guarded(len(data))
			if dec.Decompress(d.codec, dst, src[:n]) == nil {
				t.Fatalf("%d of %d bytes: no error", n, len(src))
			}
			if !intact() {
				t.Fatalf("%d of %d bytes: wrote outside dst", n, len(src))
			}
			got, err := readStream(d.codec, bytes.NewReader(src[:n]), len(data), 100)
			if err == nil {
				t.Fatalf("%d of %d bytes: no error from the stream", n, len(src))
			}
			if len(got) == len(data) {
				t.Fatalf("%d of %d bytes: the stream gave all before it failed", n, len(src))
			}
		}
	})
}

func TestWrongSizeIsAnError(t *testing.T) {
	data := text(5000)
	each(t, func(t *testing.T, d dialect) {
		var dec Decoder
		src := d.encode(data)
		for _, n := range []int{0, 1, 4999, 5001, 10_000} {
			dst, intact := guarded(n)
			if err := dec.Decompress(d.codec, dst, src); err == nil || !intact() {
				t.Fatalf("%d bytes: error %v, intact %v", n, err, intact())
			}
			if _, err := readStream(d.codec, bytes.NewReader(src), n, 100); err == nil {
				t.Fatalf("%d bytes: no error from the stream", n)
			}
		}
		tail := append(bytes.Clone(src), 0x77)
		if dec.Decompress(d.codec, make([]byte, len(data)), tail) == nil {
			t.Fatal("a byte after the block: no error")
		}
		if _, err := readStream(d.codec, bytes.NewReader(tail), len(data), 100); err == nil {
			t.Fatal("a byte after the block: no error from the stream")
		}
	})
}

func TestDamageNeverEscapes(t *testing.T) {
	data := append(patterns(3000), text(3000)...)
	rounds := 1000
	if testing.Short() || raced {
		rounds = 100
	}
	each(t, func(t *testing.T, d dialect) {
		r := rand.New(rand.NewPCG(7, 8))
		var dec Decoder
		src := d.encode(data)
		for range rounds {
			bad := bytes.Clone(src)
			for range 1 + r.IntN(4) {
				bad[r.IntN(len(bad))] = byte(r.Uint32())
			}
			dst, intact := guarded(len(data))
			err := dec.Decompress(d.codec, dst, bad)
			if !intact() {
				t.Fatal("wrote outside dst")
			}
			got, serr := readStream(d.codec, bytes.NewReader(bad), len(data), 1000)
			if serr == nil && (err != nil || !bytes.Equal(got, dst)) {
				t.Fatalf("stream gave other data; whole: %v", err)
			}
			if err == nil && serr != nil && !errors.Is(serr, ErrWindow) {
				t.Fatalf("only the stream failed: %v", serr)
			}
		}
	})
}

func TestSourceErrorsComeBackUnchanged(t *testing.T) {
	cause := errors.New("the disk is gone")
	data := text(500_000)
	each(t, func(t *testing.T, d dialect) {
		src := d.encode(data)
		for _, n := range []int{0, 5, 40, len(src) / 2, len(src)} {
			r := io.MultiReader(bytes.NewReader(src[:n]), iotest.ErrReader(cause))
			if _, err := readStream(d.codec, r, len(data), 1000); err != cause {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	})
}

func TestStreamCloses(t *testing.T) {
	data := text(300_000)
	each(t, func(t *testing.T, d dialect) {
		src := d.encode(data)
		for range 3 {
			s, err := d.codec.NewStream(bytes.NewReader(src), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			io.ReadFull(s, make([]byte, 1000))
			for range 2 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Read(make([]byte, 10)); err == nil || err == io.EOF {
				t.Fatalf("Read after Close: %v", err)
			}
		}
	})
}

func TestStreamsShareNothing(t *testing.T) {
	each(t, func(t *testing.T, d dialect) {
		var wg sync.WaitGroup
		for i := range 4 {
			data := text(200_000)[i*1000:]
			src := d.encode(data)
			wg.Go(func() {
				for range 5 {
					got, err := readStream(d.codec, bytes.NewReader(src), len(data), 9000)
					if err != nil || !bytes.Equal(got, data) {
						t.Errorf("stream %d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestUnknownCodecIsAnError(t *testing.T) {
	c := Codec(200)
	var dec Decoder
	if err := dec.Decompress(c, make([]byte, 1), []byte{1}); err == nil {
		t.Error("Decompress: no error")
	}
	if _, err := c.NewStream(bytes.NewReader(nil), 1); err == nil {
		t.Error("NewStream: no error")
	}
	if _, err := c.StreamCost(nil, 1); err == nil {
		t.Error("StreamCost: no error")
	}
	if got := c.String(); got != "codec 200" {
		t.Error(got)
	}
}
