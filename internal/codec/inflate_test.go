package codec

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"math/bits"
	"testing"
	"testing/iotest"
)

// rawInflate reads DEFLATE without anything around it.
type rawInflate struct{ inflate }

func (r *rawInflate) decode(w *window) error {
	ended, err := r.inflate.decode(w)
	if err == nil && ended {
		err = io.EOF
	}
	return err
}

// inflated reads the stream that src begins with through a window.
func inflated(src io.Reader) ([]byte, error) {
	var f feed
	if err := f.src.open(src, fileHead); err != nil {
		return nil, err
	}
	openWindow(&f, &rawInflate{})
	defer f.close()
	return io.ReadAll(f.r)
}

func deflated(b []byte, level int) []byte {
	var out bytes.Buffer
	w := must(flate.NewWriter(&out, level))
	must(w.Write(b))
	must(0, w.Close())
	return out.Bytes()
}

func TestInflateReadsEveryLevel(t *testing.T) {
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		for _, s := range samples(150_000) {
			src := deflated(s.data, level)
			got, err := inflated(bytes.NewReader(src))
			if err != nil || !bytes.Equal(got, s.data) {
				t.Errorf("level %d, %s: %v", level, s.name, err)
			}
		}
	}
}

// FuzzInflate holds inflate to the standard library: streamed, a byte at a
// time, and whole into memory with canaries around it.
func FuzzInflate(f *testing.F) {
	for _, s := range samples(3000) {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 9} {
			f.Add(deflated(s.data, level))
		}
	}
	// Fixed codes, codes longer than a table's first bits, and the far end
	// of a window.
	f.Add(deflated([]byte("aaaaaaaaaaaab"), 9))
	f.Add(deflated(append(skewed(60_000), skewed(40_000)...), 6))
	dec := new(rawInflate)
	f.Fuzz(func(t *testing.T, src []byte) {
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(src)), fuzzSize))
		if len(want) == fuzzSize {
			return
		}
		for name, in := range map[string]io.Reader{
			"stream": bytes.NewReader(src),
			"bytes":  iotest.OneByteReader(bytes.NewReader(src)),
		} {
			got, err := inflated(in)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: %v, the standard library: %v", name, err, wantErr)
			}
			if err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%s: different data", name)
			}
		}
		before := bytes.Clone(src)
		dst, intact := guarded(len(want))
		dec.reset()
		w := window{in: src, n: len(src), err: io.EOF, buf: dst[:len(dst)+Slack], limit: len(dst)}
		err := dec.decode(&w)
		if !intact() || !bytes.Equal(src, before) {
			t.Fatal("whole: wrote outside dst")
		}
		if wantErr == nil && (err != io.EOF || !bytes.Equal(dst, want)) {
			t.Fatalf("whole: %v, or different data", err)
		}
		if wantErr != nil && err == io.EOF {
			t.Fatalf("whole: no error, the standard library: %v", wantErr)
		}
	})
}

// skewed is bytes each half as frequent as the one before: their codes become
// as long as codes can be.
func skewed(n int) []byte {
	b, random := make([]byte, n), noise(2*n)
	for i := range b {
		b[i] = byte('a' + bits.TrailingZeros16(binary.LittleEndian.Uint16(random[2*i:])))
	}
	return b
}

func TestInflateReadsLongCodes(t *testing.T) {
	data := append(skewed(60_000), skewed(40_000)...)
	src := deflated(data, flate.HuffmanOnly)
	dec := new(rawInflate)
	dst := make([]byte, len(data))
	w := window{in: src, n: len(src), err: io.EOF, buf: dst, limit: len(dst)}
	if err := dec.decode(&w); err != io.EOF || !bytes.Equal(dst, data) {
		t.Error(err)
	}
	if dec.litMask == 0 {
		t.Error("no code was longer than a table's first bits: the test tests nothing")
	}
}
