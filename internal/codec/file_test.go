package codec

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"testing/iotest"
)

// readFile reads a file in pieces of the given size, to the end.
func readFile(f File, src io.Reader, piece int) ([]byte, error) {
	r, err := f.NewReader(src)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []byte
	for buf := make([]byte, piece); ; {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

func TestFilesComeBack(t *testing.T) {
	eachFile(t, func(t *testing.T, d fileDialect) {
		sizes := []int{0, 1, 17, 65537, 300_000}
		if raced {
			sizes = sizes[:4]
		}
		for _, n := range sizes {
			for _, s := range samples(n) {
				src := d.encode(s.data)
				got, err := readFile(d.file, bytes.NewReader(src), 32<<10)
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

func TestFileReadFillsItsBuffer(t *testing.T) {
	data := append(patterns(100_000), text(60_000)...)
	eachFile(t, func(t *testing.T, d fileDialect) {
		src := d.encode(data)
		for name, in := range map[string]io.Reader{
			"whole":            bytes.NewReader(src),
			"a byte at a time": iotest.OneByteReader(bytes.NewReader(src)),
			"halves":           iotest.HalfReader(bytes.NewReader(src)),
			"data with EOF":    iotest.DataErrReader(bytes.NewReader(src)),
		} {
			for _, piece := range []int{777, 150_000} {
				if s, ok := in.(io.Seeker); ok {
					must(s.Seek(0, io.SeekStart))
				} else if piece == 777 {
					continue
				}
				r := must(d.file.NewReader(in))
				buf := make([]byte, piece)
				for at := 0; at < len(data); at += piece {
					want := data[at:min(len(data), at+piece)]
					if n, err := r.Read(buf); err != nil || !bytes.Equal(buf[:n], want) {
						t.Fatalf("%s: byte %d: %d bytes, %v", name, at, n, err)
					}
				}
				if n, err := r.Read(buf); n != 0 || err != io.EOF {
					t.Fatalf("%s: at the end: %d, %v", name, n, err)
				}
				r.Close()
			}
		}
	})
}

func TestEveryTruncationOfAFileIsAnError(t *testing.T) {
	data := smallData()
	check := func(t *testing.T, d fileDialect, src []byte) {
		ends := 0
		for n := range src {
			got, err := readFile(d.file, bytes.NewReader(src[:n]), 100)
			if !bytes.HasPrefix(data, got) {
				t.Fatalf("%d of %d bytes: other data", n, len(src))
			}
			if err == nil {
				ends++
			} else if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%d of %d bytes: %v", n, len(src), err)
			}
		}
		if ends != d.ends {
			t.Fatalf("%d truncations without an error, want %d", ends, d.ends)
		}
	}
	eachFile(t, func(t *testing.T, d fileDialect) {
		if d.file != PlainFile {
			check(t, d, d.encode(data))
		}
	})
	for _, v := range smallVectors(t) {
		t.Run(v.name, func(t *testing.T) { check(t, v.fileDialect, v.src) })
	}
}

func TestDamageOfAFileIsFound(t *testing.T) {
	data := append(patterns(3000), text(3000)...)
	rounds := 500
	if testing.Short() || raced {
		rounds = 60
	}
	check := func(t *testing.T, d fileDialect, src, data []byte) {
		r := rand.New(rand.NewPCG(7, 8))
		for range rounds {
			bad := bytes.Clone(src)
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			if cost, err := d.file.Cost(bad); err == nil && cost > 64<<20 {
				continue
			}
			got, err := readFile(d.file, bytes.NewReader(bad), 1000)
			if err == nil && d.sums() && !bytes.Equal(got, data) {
				t.Fatalf("%d bytes of other data, no error", len(got))
			}
			if err != nil && !strings.HasPrefix(err.Error(), d.file.String()+": ") {
				t.Fatalf("error does not name the compression: %v", err)
			}
		}
	}
	eachFile(t, func(t *testing.T, d fileDialect) { check(t, d, d.encode(data), data) })
	for _, v := range smallVectors(t) {
		t.Run(v.name, func(t *testing.T) { check(t, v.fileDialect, v.src, smallData()) })
	}
}

func TestFileSourceErrorsComeBackUnchanged(t *testing.T) {
	cause := errors.New("the disk is gone")
	data := text(100_000)
	eachFile(t, func(t *testing.T, d fileDialect) {
		src := d.encode(data)
		for _, n := range []int{0, 5, 40, 100, len(src) / 2, len(src)} {
			r := io.MultiReader(bytes.NewReader(src[:n]), iotest.ErrReader(cause))
			if _, err := readFile(d.file, r, 1000); err != cause {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	})
}

func TestFileReaderCloses(t *testing.T) {
	data := text(60_000)
	eachFile(t, func(t *testing.T, d fileDialect) {
		src := d.encode(data)
		for range 3 {
			r := must(d.file.NewReader(bytes.NewReader(src)))
			must(io.ReadFull(r, make([]byte, 1000)))
			for range 2 {
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Read(make([]byte, 10)); err == nil || err == io.EOF {
				t.Fatalf("Read after Close: %v", err)
			}
		}
	})
}

func TestFilesShareNothing(t *testing.T) {
	eachFile(t, func(t *testing.T, d fileDialect) {
		var wg sync.WaitGroup
		for i := range 3 {
			data := text(60_000)[i*1000:]
			src := d.encode(data)
			wg.Go(func() {
				for range 3 {
					got, err := readFile(d.file, bytes.NewReader(src), 9000)
					if err != nil || !bytes.Equal(got, data) {
						t.Errorf("file %d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestFilesStartNoGoroutines(t *testing.T) {
	data := text(200_000)
	before := runtime.NumGoroutine()
	for _, d := range fileDialects {
		var out bytes.Buffer
		if w, err := d.file.NewWriter(&out, 0); err == nil {
			must(w.Write(data))
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%s: %d goroutines while writing, %d before", d.name, n, before)
			}
			must(0, w.Close())
		}
		r := must(d.file.NewReader(bytes.NewReader(d.encode(data))))
		must(io.ReadFull(r, make([]byte, 150_000)))
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%s: %d goroutines while reading, %d before", d.name, n, before)
		}
		r.Close()
	}
}

func TestLaterFramesWithLargerWindowsAreRefused(t *testing.T) {
	var far bytes.Buffer
	far.Write(zstdFrame(text(100), true))
	// A window larger than the one that every file gets.
	w := must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*zstdFileWindow)))
	far.Write(w.EncodeAll(bytes.Repeat(noise(4<<20), 5), nil))
	w.Close()
	_, copies := snappyFar(70_000, 65_537)
	for _, c := range []struct {
		name string
		file File
		src  []byte
	}{
		{"zstd", ZstdFile, far.Bytes()},
		{"xz", XZFile, append(vector(t, "small.xz"), vector(t, "large-default.xz")...)},
		{"snappy", SnappyBlockFile, copies},
	} {
		if _, err := readFile(c.file, bytes.NewReader(c.src), 10_000); !errors.Is(err, ErrWindow) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUnknownCompressionIsAnError(t *testing.T) {
	f := File(200)
	if _, err := f.NewReader(bytes.NewReader([]byte{1})); err == nil {
		t.Error("NewReader: no error")
	}
	if _, err := f.NewWriter(io.Discard, 0); err == nil {
		t.Error("NewWriter: no error")
	}
	if _, err := f.Cost(nil); err == nil {
		t.Error("Cost: no error")
	}
	if got := f.String() + f.Trim("a.gz"); got != "compression 200a.gz" {
		t.Error(got)
	}
	for _, f := range []File{XZFile, SnappyBlockFile} {
		if _, err := f.NewWriter(io.Discard, 0); err == nil {
			t.Errorf("%s: NewWriter: no error", f)
		}
	}
}
