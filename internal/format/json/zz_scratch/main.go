package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
	"syscall"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func main() {
	ctx := context.Background()
	st := store.New(store.Options{})
	var size int64
	objs, err := st.List(ctx, os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, o := range objs {
		size += o.Size
	}
	field := os.Getenv("FIELD")
	threads, _ := strconv.Atoi(os.Getenv("THREADS"))
	if f := os.Getenv("PROF"); f != "" {
		w, _ := os.Create(f)
		pprof.StartCPUProfile(w)
		defer pprof.StopCPUProfile()
	}
	n := 1
	if len(os.Args) > 2 {
		n, _ = strconv.Atoi(os.Args[2])
	}
	for range n {
		t0, c0 := time.Now(), cpu()
		ds, err := json.Format().Plan(ctx, format.Source{Store: st, Objects: objs}, format.Options{Field: field, Threads: threads})
		if err != nil {
			panic(err)
		}
		c1 := cpu()
		b := mem.New(48 << 20)
		s, err := ds.Open(ctx, b, stream.Cursor{}, nil)
		if err != nil {
			panic(err)
		}
		rows := int64(0)
		for {
			x, err := s.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				panic(err)
			}
			rows += x.Rows()
			x.Release()
		}
		s.Close()
		c := cpu() - c0
		fmt.Printf("rows %d cpu %.3f (plan %.3f) wall %.3f  %.0f MB/cpu s  peak %s\n%s\n", rows, c, c1-c0, time.Since(t0).Seconds(), float64(size)/1e6/c, mem.Format(b.Peak()), ds.Schema())
	}
	data, _ := os.ReadFile("/proc/self/status")
	for _, l := range []byte(data) {
		_ = l
	}
	fmt.Println(rss())
}

func rss() string {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return fmt.Sprint("maxrss MiB ", u.Maxrss/1024)
}
