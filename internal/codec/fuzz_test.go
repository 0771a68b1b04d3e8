package codec

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/snappy"
)

// fuzzSize keeps a fuzzer from spending its time on memory.
const fuzzSize = 1 << 20

func addSeeds(f *testing.F) {
	data := append(patterns(2000), text(2000)...)
	for _, d := range dialects {
		for _, n := range []int{0, 1, 60, 4000} {
			f.Add(uint8(d.codec), uint32(n), d.encode(data[:n]))
		}
	}
	_, far := snappyFar(70_000, 65_537)
	f.Add(uint8(Snappy), uint32(70_020), far)
}

// FuzzDecompress holds Decompress to dst, and snappy to a plain decoder.
func FuzzDecompress(f *testing.F) {
	addSeeds(f)
	var dec Decoder
	f.Fuzz(func(t *testing.T, c uint8, n uint32, src []byte) {
		codec, size := Codec(c%7), int(n%fuzzSize)
		dst, intact := guarded(size)
		before := bytes.Clone(src)
		err := dec.Decompress(codec, dst, src)
		if !intact() {
			t.Fatal("wrote outside dst")
		}
		if !bytes.Equal(src, before) {
			t.Fatal("wrote to src")
		}
		if codec != Snappy || len(src) == 0 {
			return
		}
		if k, e := snappy.DecodedLen(src); e == nil && k > fuzzSize {
			return
		}
		want, strict := snappy.DecodeStrict(nil, src)
		if right := strict == nil && len(want) == size; right != (err == nil) {
			t.Fatalf("%v, where the plain decoder has %d bytes, %v", err, len(want), strict)
		}
		if err == nil && !bytes.Equal(dst, want) {
			t.Fatal("different data")
		}
	})
}

// FuzzStream holds a stream to what decompressing whole gives.
func FuzzStream(f *testing.F) {
	addSeeds(f)
	var dec Decoder
	f.Fuzz(func(t *testing.T, c uint8, n uint32, src []byte) {
		codec, size := Codec(c%7), int(n%fuzzSize)
		if cost, err := codec.StreamCost(src[:min(len(src), headSize)], int64(size)); err == nil && cost > 64<<20 {
			return
		}
		dst := make([]byte, size)
		err := dec.Decompress(codec, dst, src)
		piece := 1 + int(n>>20)
		got, serr := readStream(codec, bytes.NewReader(src), size, piece)
		switch {
		case errors.Is(serr, ErrWindow):
		case (err == nil) != (serr == nil):
			t.Fatalf("%s: whole: %v; stream: %v", codec, err, serr)
		case err == nil && !bytes.Equal(got, dst):
			t.Fatalf("%s: different data", codec)
		}
	})
}

// FuzzCopy holds the wide copies to the plain meaning of a match.
func FuzzCopy(f *testing.F) {
	for off := 1; off < 20; off++ {
		f.Add(uint16(off), uint16(off*7))
	}
	f.Fuzz(func(t *testing.T, off, n uint16) {
		const d = 1 << 16
		if off == 0 {
			return
		}
		var bufs [3][]byte
		for i := range bufs {
			bufs[i] = append(bytes.Clone(noise(d)), make([]byte, int(n)+wide)...)
		}
		for i := range int(n) {
			bufs[0][d+i] = bufs[0][d+i-int(off)]
		}
		copyMatch(bufs[1], d, int(off), int(n))
		copyWide(bufs[2], d, int(off), int(n))
		if !bytes.Equal(bufs[0], bufs[1]) {
			t.Error("copyMatch differs")
		}
		if !bytes.Equal(bufs[0][:d+int(n)], bufs[2][:d+int(n)]) {
			t.Error("copyWide differs")
		}
	})
}
