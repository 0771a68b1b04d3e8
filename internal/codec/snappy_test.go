package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
)

// snappyFar is n bytes of noise and a copy of 20 from off back.
func snappyFar(n, off int) (data, block []byte) {
	data = noise(n)
	block = binary.AppendUvarint(nil, uint64(n+20))
	block = append(block, 63<<2, byte(n-1), byte((n-1)>>8), byte((n-1)>>16), 0)
	block = append(block, data...)
	block = append(block, 19<<2|tagCopy4)
	block = binary.LittleEndian.AppendUint32(block, uint32(off))
	if off > 0 && off <= n {
		data = append(data, data[n-off:n-off+20]...)
	}
	return data, block
}

func TestSnappyWindow(t *testing.T) {
	for _, c := range []struct {
		n, off int
		far    bool
		cause  string
	}{
		{70_000, 65_535, false, ""},
		{70_000, 65_536, false, ""},
		{65_536, 65_536, false, ""},
		{400_000, 65_536, false, ""},
		{70_000, 65_537, true, ""},
		{400_000, 399_999, true, ""},
		{60_000, 60_001, false, "snappy: offset 60001 before start"},
		{60_000, 70_000, false, "snappy: offset 70000 before start"},
		{400_000, 400_001, false, "snappy: offset 400001 before start"},
		{400_000, 1 << 31, false, "snappy: offset 2147483648 before start"},
	} {
		data, block := snappyFar(c.n, c.off)
		var d Decoder
		dst := make([]byte, c.n+20)
		err := d.Decompress(Snappy, dst, block)
		if c.cause != "" {
			if err == nil || err.Error() != c.cause {
				t.Errorf("%+v: whole: %v", c, err)
			}
		} else if err != nil || !bytes.Equal(dst, data) {
			t.Errorf("%+v: whole: %v", c, err)
		}
		got, err := readStream(Snappy, bytes.NewReader(block), c.n+20, 5000)
		switch {
		case c.cause != "":
			if err == nil || err.Error() != c.cause {
				t.Errorf("%+v: %v", c, err)
			}
		case c.far != errors.Is(err, ErrWindow):
			t.Errorf("%+v: %v", c, err)
		case !c.far && (err != nil || !bytes.Equal(got, data)):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSnappyTakesLongerDistancesWhole(t *testing.T) {
	data := text(3 << 20)
	block := snappy.Encode(nil, data)
	var d Decoder
	dst := make([]byte, len(data))
	if err := d.Decompress(Snappy, dst, block); err != nil || !bytes.Equal(dst, data) {
		t.Fatal(err)
	}
	if _, err := readStream(Snappy, bytes.NewReader(block), len(data), 5000); !errors.Is(err, ErrWindow) {
		t.Fatal(err)
	}
}

func TestSnappySaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		block string
		size  int
		whole string
	}{
		{"\x80", 1, "snappy: length: unexpected EOF"},
		{"\xff\xff\xff\xff\xff\xff", 1, "snappy: length: unexpected EOF"},
		{"\x05\x00a", 6, "snappy: 5 bytes, want 6"},
		{"\x05\x00a", 5, "snappy: 1 bytes, want 5: unexpected EOF"},
		{"\x05\x10ab", 5, "snappy: unexpected EOF"},
		{"\x05\xf4", 5, "snappy: unexpected EOF"},
		{"\x05\x00a\x15", 5, "snappy: unexpected EOF"},
		{"\x05\x00a\x01\x05", 5, "snappy: offset 5 before start"},
		{"\x05\x00a\x15\x01", 5, "snappy: more than 5 bytes"},
	} {
		var d Decoder
		err := d.Decompress(Snappy, make([]byte, c.size), []byte(c.block))
		if err == nil || err.Error() != c.whole {
			t.Errorf("%q: whole: %v, want %s", c.block, err, c.whole)
		}
		_, err = readStream(Snappy, bytes.NewReader([]byte(c.block)), c.size, 10)
		if err == nil || err.Error() != c.whole {
			t.Errorf("%q: stream: %v, want %s", c.block, err, c.whole)
		}
		if errors.Is(err, io.EOF) {
			t.Errorf("%q: the stream's error is io.EOF", c.block)
		}
	}
}

func TestSnappyDoesNotAllocate(t *testing.T) {
	data := text(1 << 20)
	block := snappyEncode(data)
	var d Decoder
	dst := make([]byte, len(data))
	n := testing.AllocsPerRun(10, func() {
		if err := d.Decompress(Snappy, dst, block); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestSnappyWritersAreReadByOthers(t *testing.T) {
	for _, n := range []int{0, 1, 65536, 300_000} {
		for _, s := range samples(n) {
			got, err := io.ReadAll(snappy.NewReader(bytes.NewReader(written(SnappyFile, 0)(s.data))))
			if err != nil || !bytes.Equal(got, s.data) {
				t.Errorf("frames: %s, %d bytes: %v", s.name, n, err)
			}
			var out bytes.Buffer
			w := must(NewSnappyBlockWriter(&out, int64(n)))
			for b := s.data; len(b) > 0; b = b[min(len(b), 70_001):] {
				must(w.Write(b[:min(len(b), 70_001)]))
			}
			must(0, w.Close())
			if got, err = snappy.DecodeStrict(nil, out.Bytes()); err != nil || !bytes.Equal(got, s.data) {
				t.Errorf("block: %s, %d bytes: %v", s.name, n, err)
			}
		}
	}
}

func TestSnappyFramesOfOthers(t *testing.T) {
	data := append(text(150_000), noise(150_000)...)
	var out bytes.Buffer
	w := snappy.NewBufferedWriter(&out)
	must(w.Write(data))
	must(0, w.Close())
	out.WriteString("\xfe\x03\x00\x00abc\x80\x01\x00\x00x") // padding, and a chunk to be skipped
	if got, err := readFile(SnappyFile, &out, 10_000); err != nil || !bytes.Equal(got, data) {
		t.Error(err)
	}
}

func TestSnappyBlockWriterHoldsToItsSize(t *testing.T) {
	w := must(NewSnappyBlockWriter(io.Discard, 10))
	if _, err := w.Write(make([]byte, 11)); err == nil {
		t.Error("more than its size: no error")
	}
	w = must(NewSnappyBlockWriter(io.Discard, 10))
	must(w.Write(make([]byte, 9)))
	if w.Close() == nil {
		t.Error("less than its size: no error")
	}
	if _, err := NewSnappyBlockWriter(io.Discard, 1<<32); err == nil {
		t.Error("4 GiB: no error")
	}
}

// TestSnappyElementsInAnyOrder makes blocks that no encoder makes, some of
// them with a distance that is wrong.
func TestSnappyElementsInAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		body, size := randomElements(rnd, 1+rnd.IntN(400))
		block := append(binary.AppendUvarint(nil, uint64(size)), body...)
		want, wrong := snappy.DecodeStrict(nil, block)
		dst, intact := guarded(size)
		var d Decoder
		if err := d.Decompress(Snappy, dst, block); (err == nil) != (wrong == nil) {
			t.Fatalf("%x: whole: %v, want %v", block, err, wrong)
		}
		if !intact() {
			t.Fatalf("%x: wrote outside dst", block)
		}
		if wrong == nil && !bytes.Equal(dst, want) {
			t.Fatalf("%x: whole: different data", block)
		}
		if got, err := readStream(Snappy, bytes.NewReader(block), size, 100); (err == nil) != (wrong == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%x: stream: %v, want %v", block, err, wrong)
		}
	}
}

// randomElements is n elements that make size bytes, if they are right.
func randomElements(rnd *rand.Rand, n int) (body []byte, size int) {
	for i := range n {
		off := 1 + rnd.IntN(min(1<<rnd.IntN(16), size+1))
		if rnd.IntN(n*20) == 0 {
			off = size + 1
		}
		switch kind := rnd.IntN(4); {
		case kind == tagLiteral || i == 0:
			m := 1 + rnd.IntN(1<<(1+rnd.IntN(7)))
			if m > 60 {
				body = append(body, 60<<2, byte(m-1))
			} else {
				body = append(body, byte(m-1)<<2)
			}
			body = append(body, noise(m)...)
			size += m
		case kind == tagCopy1 && off < 1<<11:
			m := 4 + rnd.IntN(8)
			body = append(body, byte(off>>8<<5|(m-4)<<2|tagCopy1), byte(off))
			size += m
		case kind == tagCopy2 && off < 1<<16:
			m := 1 + rnd.IntN(64)
			body = append(body, byte((m-1)<<2|tagCopy2), byte(off), byte(off>>8))
			size += m
		default:
			m := 1 + rnd.IntN(64)
			body = binary.LittleEndian.AppendUint32(append(body, byte((m-1)<<2|tagCopy4)), uint32(off))
			size += m
		}
	}
	return body, size
}
