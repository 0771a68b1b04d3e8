package csv

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestScratch(t *testing.T) {
	path := os.Getenv("SCRATCH")
	if path == "" {
		t.Skip()
	}
	n, _ := strconv.Atoi(os.Getenv("TIMES"))
	for range max(1, n) {
		ctx := context.Background()
		c0 := cpu()
		s := store.New(store.Options{})
		objs, err := s.List(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		var cols []string
		if c := os.Getenv("COLUMNS"); c != "" {
			cols = strings.Split(c, ",")
		}
		ds, err := Plan(ctx, format.Source{Store: s, Objects: objs}, format.Options{Threads: 1, Columns: cols})
		if err != nil {
			t.Fatal(err)
		}
		c1 := cpu()
		share := mem.New(44 << 20)
		st, err := ds.Open(ctx, share, stream.Cursor{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, batches := int64(0), 0
		var ints int64
		var fs float64
		for {
			b, err := st.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range b.Record.Columns() {
				switch c := c.(type) {
				case *array.Float64:
					for _, v := range c.Float64Values() {
						fs += v
					}
				case *array.Int64:
					for _, v := range c.Int64Values() {
						ints += v
					}
				}
			}
			rows += b.Rows()
			batches++
			b.Release()
		}
		st.Close()
		c2 := cpu()
		t.Logf("%s rows %d batches %d ints %d floats %.6f plan %v read %v: %.0f MB/s", runtime.Version(), rows, batches, ints, fs, c1-c0, c2-c1, float64(objs[0].Size)/1e6/(c2-c0).Seconds())
	}
}
