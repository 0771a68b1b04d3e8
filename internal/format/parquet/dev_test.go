package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
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

func touch(d arrow.ArrayData) (s uint64) {
	for _, b := range d.Buffers() {
		if b != nil {
			v := b.Bytes()
			n := len(v) / 8
			if n > 0 {
				var s0, s1, s2, s3 uint64
				w := view[uint64](v[:n*8])
				for len(w) >= 4 {
					s0 += w[0]
					s1 += w[1]
					s2 += w[2]
					s3 += w[3]
					w = w[4:]
				}
				s += s0 + s1 + s2 + s3
			}
		}
	}
	for _, c := range d.Children() {
		s += touch(c)
	}
	return
}

func TestDev(t *testing.T) {
	p := os.Getenv("DEV")
	if p == "" {
		t.Skip()
	}
	threads, _ := strconv.Atoi(os.Getenv("T"))
	m, err := mem.Parse(os.Getenv("M"), 0)
	if err != nil {
		m = 256 << 20
	}
	batch, _ := strconv.Atoi(os.Getenv("B"))
	ctx := context.Background()
	st := store.New(store.Options{})
	for range 3 {
		c0, t0 := cpu(), time.Now()
		objs, err := st.List(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		ds, err := Plan(ctx, format.Source{Store: st, Objects: objs}, format.Options{Threads: threads, BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		b := mem.New(m)
		s, err := ds.Open(ctx, b, stream.Cursor{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var rows, n int64
		var sum uint64
		for {
			x, err := s.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rows += x.Rows()
			n++
			for _, c := range x.Record.Columns() {
				sum += touch(c.Data())
			}
			x.Release()
		}
		peak := b.Peak()
		s.Close()
		fmt.Println(rows, n, "floor", mem.Format(ds.Floor()), "cpu", cpu()-c0, "wall", time.Since(t0), "peak", mem.Format(peak), "leased", b.Leased(), b.Used(), sum)
	}
}
