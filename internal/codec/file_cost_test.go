package codec

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"
)

// fileHeld is the most a reader holds while a file is read.
func fileHeld(t *testing.T, f File, src []byte) int64 {
	buf := make([]byte, 300_000)
	in := bytes.NewReader(src)
	before, most := live(), int64(0)
	r, err := f.NewReader(in)
	for i := 0; err == nil; i++ {
		if i%3 == 1 {
			most = max(most, live()-before)
		}
		_, err = r.Read(buf)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	most = max(most, live()-before)
	r.Close()
	runtime.KeepAlive(src)
	return most
}

func TestFileCostIsHonest(t *testing.T) {
	if raced {
		t.Skip("memory is not measured under the race detector")
	}
	check := func(t *testing.T, f File, src []byte) {
		cost, err := f.Cost(src[:min(len(src), fileHead)])
		if err != nil {
			t.Fatal(err)
		}
		used := fileHeld(t, f, src)
		if used > cost {
			t.Errorf("holds %d, cost is %d", used, cost)
		}
		if f != BrotliFile && f != Bzip2File && cost > used*3/2+(zstdFileWindow+256<<10) {
			t.Errorf("holds %d, cost is as much as %d", used, cost)
		}
		t.Logf("holds %d of %d", used, cost)
	}
	data := append(append(text(1<<20), floats(1<<20)...), noise(1<<20)...)
	eachFile(t, func(t *testing.T, d fileDialect) { check(t, d.file, d.encode(data)) })
	for _, name := range []string{"large-default.xz", "large-blocks.xz", "large.bz2", "large.zst"} {
		t.Run(name, func(t *testing.T) {
			src := vector(t, name)
			check(t, Recognise(name, src), src)
		})
	}
}

func TestWriteCostIsHonest(t *testing.T) {
	if raced {
		t.Skip("memory is not measured under the race detector")
	}
	all := append(append(text(1<<20), floats(1<<20)...), noise(1<<20)...)
	for _, c := range []struct {
		file   File
		levels []int
	}{
		{PlainFile, []int{0}}, {GzipFile, []int{Lowest, 0, 1, 3, 6, 9}}, {ZstdFile, []int{0, 1, 6, 9, 22}},
		{Bzip2File, []int{0, 1}}, {LZ4File, []int{0, 9}}, {SnappyFile, []int{0}}, {BrotliFile, []int{Lowest, 0, 2, 5, 9, 10}},
	} {
		for _, level := range c.levels {
			t.Run(fmt.Sprintf("%s %d", c.file, level), func(t *testing.T) {
				data := all
				if level > 9 && c.file == BrotliFile {
					data = all[512<<10 : 1536<<10] // it takes its time
				}
				before, most := live(), int64(0)
				w := must(c.file.NewWriter(io.Discard, level))
				for b := data; len(b) > 0; {
					part := b[:min(len(b), 1<<18)]
					must(w.Write(part))
					most = max(most, live()-before)
					b = b[len(part):]
				}
				must(0, w.Close())
				most = max(most, live()-before)
				cost := c.file.WriteCost(level)
				if most > cost {
					t.Errorf("holds %d, cost is %d", most, cost)
				}
				if cost > most*4+(256<<10) {
					t.Errorf("holds %d, cost is as much as %d", most, cost)
				}
				t.Logf("holds %d of %d", most, cost)
				runtime.KeepAlive(w)
			})
		}
	}
	runtime.KeepAlive(all)
}
