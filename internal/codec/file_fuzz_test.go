package codec

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzFile holds readers to one answer however the source gives its bytes,
// and to the end of their memory.
func FuzzFile(f *testing.F) {
	data := append(patterns(2000), text(2000)...)
	for _, d := range fileDialects {
		for _, n := range []int{0, 1, 60, 4000} {
			f.Add(uint8(d.file), d.encode(data[:n]))
		}
	}
	for _, v := range smallVectors(f) {
		f.Add(uint8(v.file), v.src)
	}
	f.Fuzz(func(t *testing.T, c uint8, src []byte) {
		file := File(c % (uint8(SnappyBlockFile) + 1))
		cost, err := file.Cost(src)
		if cost > 16<<20 {
			return
		}
		got, gotErr := readLimited(file, bytes.NewReader(src))
		if len(got) >= fuzzSize {
			return
		}
		if err != nil && gotErr == nil {
			t.Fatalf("%s: read without an error, cost has: %v", file, err)
		}
		again, againErr := readLimited(file, iotest.OneByteReader(bytes.NewReader(src)))
		if (gotErr == nil) != (againErr == nil) || errors.Is(gotErr, io.ErrUnexpectedEOF) != errors.Is(againErr, io.ErrUnexpectedEOF) {
			t.Fatalf("%s: %v; by the byte: %v", file, gotErr, againErr)
		}
		if gotErr == nil && !bytes.Equal(got, again) {
			t.Fatalf("%s: different data by the byte", file)
		}
	})
}

func readLimited(f File, src io.Reader) ([]byte, error) {
	r, err := f.NewReader(src)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, fuzzSize))
}

// FuzzXZ changes only the coded data of a block: sums keep a fuzzer out of
// everything else.
func FuzzXZ(f *testing.F) {
	whole := vector(f, "small.xz")
	const first, last = 24, 40 // the data of the block lies between its header and what ends a file
	f.Add(whole[first : len(whole)-last])
	f.Fuzz(func(t *testing.T, body []byte) {
		src := append(append(bytes.Clone(whole[:first]), body...), whole[len(whole)-last:]...)
		got, err := readLimited(XZFile, bytes.NewReader(src))
		if err == nil && !bytes.Equal(got, smallData()) {
			t.Fatal("other data without an error")
		}
	})
}
