package meta

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// wideFile has one row group of n columns.
func wideFile(n int, extra string) []byte {
	schema := make([]*thrift, 1, n+1)
	schema[0] = group("root", int64(n))
	chunks := make([]*thrift, n)
	for i := range n {
		name := fmt.Sprintf("feature_%05d", i)
		schema, chunks[i] = append(schema, leaf(name, Int32)), chunkOf(name)
	}
	return file(new(thrift).structs(2, schema...).structs(4, rowGroup(1, chunks...)).
		structs(5, new(thrift).text(1, "note").text(2, extra)).done())
}

// longFile has n row groups of eight columns.
func longFile(n int) []byte {
	schema := []*thrift{group("root", 8)}
	var chunks []*thrift
	for i := range 8 {
		name := fmt.Sprintf("c%d", i)
		schema, chunks = append(schema, leaf(name, Int32)), append(chunks, chunkOf(name))
	}
	footer := new(thrift).structs(2, schema...).list(4, wireStruct, n)
	for i := range n {
		footer.b = append(footer.b, rowGroup(int64(i), chunks...).done()...)
	}
	return file(footer.done())
}

// slack is for what other parts of the test leave on the heap, and for the
// allocator's rounding up to pages.
const slack = 64 << 10

// heap is what is alive on the Go heap.
func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestManyRowGroupsInLittleMemory reads a footer of 50 MB.
func TestManyRowGroupsInLittleMemory(t *testing.T) {
	const n = 100_000
	r := &memReader{data: longFile(n)}
	share := mem.New(8 << 20)
	before := heap()
	f, err := Read(t.Context(), r, "x.parquet", share)
	if err != nil {
		t.Fatal(err)
	}
	held := heap() - before
	t.Logf("footer %s: peak %s, leased %s, on the heap %s, %d requests", mem.Format(f.win.length),
		mem.Format(share.Peak()), mem.Format(f.Leased()), mem.Format(held), r.reads.Load())
	if held > f.Leased()+slack || share.Peak() > 2<<20 {
		t.Errorf("%d bytes on the heap, %d leased, %d at the peak", held, f.Leased(), share.Peak())
	}
	first, rows := f.Group(n - 1)
	if f.Groups() != n || rows != n-1 || first != int64(n-1)*int64(n-2)/2 {
		t.Errorf("%d groups, the last from %d with %d rows", f.Groups(), first, rows)
	}
	reads := r.reads.Load()
	var chunks []Chunk
	for i := range n {
		if chunks, err = f.Chunks(t.Context(), i, []int{0, 7}, chunks); err != nil {
			t.Fatal(err)
		}
		if len(chunks) != 2 || chunks[1].Leaf != 7 || chunks[1].Values != 1 {
			t.Fatalf("row group %d: %+v", i, chunks)
		}
	}
	if again := r.reads.Load() - reads; again > f.win.length/windowSize+2 {
		t.Errorf("%d requests for all chunks in order", again)
	}
	runtime.KeepAlive(f)
	f.Close()
}

// TestChunksFromManyGoroutines reads one file from both ends at once.
func TestChunksFromManyGoroutines(t *testing.T) {
	const n = 2000
	f, err := open(t, longFile(n))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range n / 10 {
				if k%2 == 1 {
					i = n - 1 - i
				}
				c, err := f.Chunks(t.Context(), i, []int{2}, nil)
				if err != nil || len(c) != 1 || c[0].Leaf != 2 {
					t.Errorf("row group %d: %+v, %v", i, c, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestManyColumnsInLittleMemory holds elementCost against the heap.
func TestManyColumnsInLittleMemory(t *testing.T) {
	const n = 10_000
	r := &memReader{data: wideFile(n, strings.Repeat("x", 1<<20))}
	share := mem.New(32 << 20)
	before := heap()
	f, err := Read(t.Context(), r, "x.parquet", share)
	if err != nil {
		t.Fatal(err)
	}
	held := heap() - before
	t.Logf("footer %s: peak %s, leased %s, on the heap %s, %d requests", mem.Format(f.win.length),
		mem.Format(share.Peak()), mem.Format(f.Leased()), mem.Format(held), r.reads.Load())
	if held > f.Leased()+slack || share.Peak() > 12<<20 {
		t.Errorf("%d bytes on the heap, %d leased, %d at the peak", held, f.Leased(), share.Peak())
	}
	chunks, err := f.Chunks(t.Context(), 0, []int{3, 5000, n - 1}, nil)
	if err != nil || len(chunks) != 3 || chunks[2].Leaf != n-1 {
		t.Errorf("%+v, %v", chunks, err)
	}
	runtime.KeepAlive(f)
	f.Close()
}

func BenchmarkManyRowGroups(b *testing.B) {
	r := &memReader{data: longFile(100_000)}
	b.SetBytes(r.Size())
	for b.Loop() {
		f, err := Read(b.Context(), r, "x.parquet", mem.New(8<<20))
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
