package meta

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// memReader is a store.Reader over bytes; it counts requests.
type memReader struct {
	data  []byte
	reads atomic.Int64
	bytes atomic.Int64
}

func (r *memReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	r.reads.Add(1)
	r.bytes.Add(int64(len(p)))
	if err := ctx.Err(); err != nil {
		return err
	}
	if off < 0 || off+int64(len(p)) > int64(len(r.data)) {
		return io.ErrUnexpectedEOF
	}
	copy(p, r.data[off:])
	return nil
}

func (r *memReader) Size() int64       { return int64(len(r.data)) }
func (r *memReader) Remote() bool      { return false }
func (r *memReader) Drop(int64, int64) {}
func (r *memReader) Want(int64, int64) {}
func (r *memReader) Close() error      { return nil }

// corpus is the folder of parquet-testing.
func corpus(tb testing.TB) string {
	dir := os.Getenv("WEIR_CORPUS")
	if dir == "" {
		tb.Skip("WEIR_CORPUS is not set; it names the folder that holds parquet-testing")
	}
	return filepath.Join(dir, "parquet-testing")
}

// open reads a footer and closes it, and checks the budget, when the test ends.
func open(tb testing.TB, data []byte) (*File, error) {
	share := mem.New(64 << 20)
	f, err := Read(tb.Context(), &memReader{data: data}, "x.parquet", share)
	tb.Cleanup(func() {
		f.Close()
		if n := share.Leased(); n != 0 {
			tb.Errorf("%d bytes are leased after Close", n)
		}
	})
	return f, err
}

// allLeaves are the ordinals of every leaf.
func allLeaves(f *File) []int {
	out := make([]int, len(f.Schema.Leaves))
	for i := range out {
		out[i] = i
	}
	return out
}

// readNarrow reads a file whose end is whole through a window of seven bytes,
// so that everything in its footer is torn somewhere.
func readNarrow(tb testing.TB, data []byte) (*File, error) {
	lease, err := mem.New(64<<20).Acquire(tb.Context(), 32<<20)
	if err != nil {
		tb.Fatal(err)
	}
	length := int64(binary.LittleEndian.Uint32(data[len(data)-8:]))
	f := &File{lease: lease, win: window{r: &memReader{data: data}, start: int64(len(data)) - 8 - length, length: length, buf: make([]byte, 0, 7)}}
	return f, f.footer(tb.Context(), &account{lease: lease})
}
