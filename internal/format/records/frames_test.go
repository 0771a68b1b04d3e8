package records

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// framed compresses text in frames of the given sizes, in turn, with bytes to
// be skipped among them.
func framed(t *testing.T, text []byte, sizes ...int) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var out []byte
	for i := 0; len(text) > 0; i++ {
		n := min(sizes[i%len(sizes)], len(text))
		if n%2 == 0 {
			out = binary.LittleEndian.AppendUint32(out, 0x184D2A50)
			out = binary.LittleEndian.AppendUint32(out, 100)
			out = append(out, make([]byte, 100)...)
		}
		out = e.EncodeAll(text[:n], out)
		text = text[n:]
	}
	return out
}

// planZstd plans a compressed file as one that needs a window.
func planZstd(t *testing.T, threads int, file []byte) format.Dataset {
	t.Helper()
	d := planned(t, format.Options{Threads: threads}, file)
	d.(*dataset).Window = 12 << 20
	return d
}

func TestFramesAreReadAlike(t *testing.T) {
	text, want := lines(8_000)
	for _, sizes := range [][]int{{100_000}, {300_001, 50, 99_999}, {50_000, len(text) / 2}, {1}} {
		if sizes[0] == 1 {
			text, want = lines(30)
		}
		file := framed(t, text, sizes...)
		for _, threads := range []int{1, 2, 4} {
			for _, share := range []int64{40 << 20, 160 << 20} {
				got, err := read(t, planZstd(t, threads, file), share)
				if err != nil {
					t.Fatal(sizes, threads, share, err)
				}
				equal(t, got, want)
			}
		}
	}
}

func TestDamagedFramesAreErrors(t *testing.T) {
	text, _ := lines(3_000)
	file := framed(t, text, 40_000)
	for _, n := range []int{len(file) - 1, len(file) / 2, len(file) - 5, 120} {
		if _, err := read(t, planZstd(t, 3, file[:n]), 160<<20); !errors.Is(err, format.ErrData) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d of %d: %v", n, len(file), err)
		}
	}
	for i := 120; i < len(file); i += 4999 {
		spoilt := append([]byte(nil), file...)
		spoilt[i] ^= 0x55
		if _, err := read(t, planZstd(t, 3, spoilt), 160<<20); err != nil && !errors.Is(err, format.ErrData) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

// TestFramesAreDecompressedSideBySide: where there is memory for it, blocks are
// taken from the share that is set aside for frames.
func TestFramesAreDecompressedSideBySide(t *testing.T) {
	text, _ := lines(8_000)
	d := planZstd(t, 3, framed(t, text, 100_000))
	budget := mem.New(160 << 20)
	s, err := d.Open(t.Context(), budget, stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	if frames := s.(*reading).feeder.frames; frames == nil || frames.Peak() <= 3*codec.Zstd.Heap() {
		t.Error("no frame was decompressed on its own")
	}
}
