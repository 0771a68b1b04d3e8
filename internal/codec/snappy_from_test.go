package codec

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/s2"
)

// fromBlocks are blocks with long literals, short elements, and both.
func fromBlocks() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	text := bytes.Repeat([]byte("however much water arrives the level stays "), 5000)
	return [][]byte{nil, {7}, noise[:100], noise, text, append(bytes.Clone(noise[:70_000]), text...), append(bytes.Clone(text), noise...)}
}

func TestBlocksAreDecodedWhileTheyAreRead(t *testing.T) {
	var d Decoder
	for _, data := range fromBlocks() {
		src := s2.EncodeSnappy(nil, data)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
			"bytes": iotest.OneByteReader, "data with EOF": iotest.DataErrReader,
		} {
			dst, intact := guarded(len(data))
			if err := d.DecompressFrom(dst, wrap(bytes.NewReader(src))); err != nil {
				t.Fatalf("%s, %d bytes: %v", name, len(data), err)
			}
			if !bytes.Equal(dst, data) || !intact() {
				t.Fatalf("%s, %d bytes: not what was written", name, len(data))
			}
		}
		for cut := 0; cut < len(src); cut += 1 + len(src)/97 {
			if err := d.DecompressFrom(make([]byte, len(data)), bytes.NewReader(src[:cut])); err == nil && len(data) > 0 {
				t.Fatalf("%d of %d bytes are enough", cut, len(src))
			}
		}
	}
}

// FuzzDecompressFrom holds decoding in pieces to decoding whole.
func FuzzDecompressFrom(f *testing.F) {
	for _, data := range fromBlocks() {
		f.Add(s2.EncodeSnappy(nil, data[:min(len(data), 2000)]), uint16(min(len(data), 2000)))
	}
	f.Fuzz(func(t *testing.T, src []byte, size uint16) {
		var d Decoder
		want, got := make([]byte, size), make([]byte, size)
		whole := d.Decompress(Snappy, want, src)
		pieces := d.DecompressFrom(got, iotest.HalfReader(bytes.NewReader(src)))
		if (whole == nil) != (pieces == nil) {
			t.Fatalf("whole: %v, in pieces: %v", whole, pieces)
		}
		if whole == nil && !bytes.Equal(want, got) {
			t.Fatal("whole and in pieces differ")
		}
	})
}
