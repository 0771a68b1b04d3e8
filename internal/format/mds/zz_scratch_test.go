package mds

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
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

func scratchOpen(t testing.TB, dir string, threads int, memory int64) (format.Dataset, stream.Stream, *mem.Budget) {
	st := store.New(store.Options{})
	objs, err := st.List(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	objs = gather(objs)
	ds, err := Plan(context.Background(), format.Source{Store: st, Objects: objs}, format.Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(max(memory, ds.Floor()))
	s, err := ds.Open(context.Background(), share, stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ds, s, share
}

func TestScratchSpeed(t *testing.T) {
	for _, dir := range []string{"small", "big"} {
		for _, threads := range []int{1, 2} {
			for range 3 {
				begun, c := time.Now(), cpu()
				ds, s, share := scratchOpen(t, "/tmp/mdsv/x/"+dir, threads, 64<<20)
				rows := int64(0)
				for {
					b, err := s.Next(context.Background())
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					rows += b.Rows()
					b.Release()
				}
				s.Close()
				d, cd := time.Since(begun), cpu()-c
				fmt.Printf("%s threads %d: %d rows of %d, %v wall, %v cpu, %.0f rows/s, %.0f MB/s peak %s\n", dir, threads, rows, ds.Info().Rows, d, cd, float64(rows)/d.Seconds(), float64(ds.Info().Bytes)/1e6/d.Seconds(), mem.Format(share.Peak()))
			}
		}
	}
}

func TestScratchAll(t *testing.T) {
	var exp struct {
		Cols map[string]string
		Rows []map[string]string
	}
	data, err := os.ReadFile("/tmp/mdsv/x/expect.json")
	if err != nil {
		t.Skip()
	}
	json.Unmarshal(data, &exp)
	for _, c := range []string{"None", "br", "br:3", "bz2", "gz", "gz:1", "snappy", "zstd", "zstd:19"} {
		_, s, _ := scratchOpen(t, "/tmp/mdsv/x/all-"+strings.ReplaceAll(c, ":", "_"), 1, 256<<20)
		row := 0
		for {
			b, err := s.Next(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(c, err)
			}
			for i := range int(b.Rows()) {
				for j, f := range b.Record.Schema().Fields() {
					want := exp.Rows[row][f.Name]
					enc := exp.Cols[f.Name]
					got := backHex(b.Record.Column(j), i, enc)
					if got != want {
						t.Fatalf("%s row %d col %s: %s want %s", c, row, f.Name, got, want)
					}
				}
				row++
			}
			b.Release()
		}
		s.Close()
		fmt.Println(c, row, "rows agree")
	}
}

func backHex(a arrow.Array, i int, enc string) string {
	pil := func(s *array.Struct, k int) []byte {
		mode, d := s.Field(2).(*array.String).Value(k), s.Field(3).(*array.Binary).Value(k)
		b := le([]uint32{s.Field(0).(*array.Uint32).Value(k), s.Field(1).(*array.Uint32).Value(k), uint32(len(mode))})
		return cat(b, []byte(mode), d)
	}
	shape := func(l *array.List, k int) []byte {
		from, to := l.ValueOffsets(k)
		b := []byte{byte(to-from) << 2}
		for x := from; x < to; x++ {
			b = append(b, byte(l.ListValues().(*array.Int64).Value(int(x))))
		}
		return b
	}
	switch a := a.(type) {
	case *array.String:
		return hex.EncodeToString([]byte(a.Value(i)))
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	case *array.FixedSizeList:
		v := numberBytes(a.ListValues(), 2)
		n := int(a.DataType().(*arrow.FixedSizeListType).Len())
		at := (a.Data().Offset() + i) * n * 2
		return hex.EncodeToString(v[at : at+2*n])
	case *array.List:
		from, to := a.ValueOffsets(i)
		var sizes, body []byte
		for k := from; k < to; k++ {
			var e []byte
			if enc == "list[pil]" {
				e = pil(a.ListValues().(*array.Struct), int(k))
			} else {
				e = a.ListValues().(*array.Binary).Value(int(k))
			}
			sizes = binary.LittleEndian.AppendUint32(sizes, uint32(len(e)))
			body = append(body, e...)
		}
		h := le(uint32(to - from))
		if enc != "jpeg_array" {
			h = append(le(uint32(0)), h...)
		}
		return hex.EncodeToString(cat(h, sizes, body))
	case *array.Struct:
		switch enc {
		case "pil":
			return hex.EncodeToString(pil(a, i))
		case "ndarray":
			d, _ := dtypeNamed(a.Field(0).(*array.String).Value(i))
			return hex.EncodeToString(cat([]byte{d.code}, shape(a.Field(1).(*array.List), i), a.Field(2).(*array.Binary).Value(i)))
		default:
			l := a.Field(1).(*array.List)
			from, to := l.ValueOffsets(i)
			v := numberBytes(l.ListValues(), 4)
			return hex.EncodeToString(cat(shape(a.Field(0).(*array.List), i), v[from*4:to*4]))
		}
	}
	w := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	return hex.EncodeToString(numberBytes(a, w)[i*w : (i+1)*w])
}

func scratchWrite(t testing.TB, in, out string, opt format.WriteOptions) {
	os.RemoveAll(out)
	os.MkdirAll(out, 0o755)
	_, s, _ := scratchOpen(t, in, 1, 64<<20)
	defer s.Close()
	w := Writer()
	least, _, err := w.Memory(s.Schema(), opt)
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(least)
	var parts []format.Part
	var f format.File
	var o *os.File
	end := func() {
		p, err := f.Close()
		if err != nil {
			t.Fatal(err)
		}
		st, _ := o.Stat()
		p.Name, p.Bytes = filepath.Base(o.Name()), st.Size()
		o.Close()
		parts = append(parts, p)
		f = nil
	}
	begun, c := time.Now(), cpu()
	var rows int64
	for {
		b, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for row := int64(0); row < b.Rows(); {
			if f == nil {
				o, _ = os.Create(filepath.Join(out, w.PartName(len(parts), opt)))
				if f, err = w.Begin(sink{o}, s.Schema(), opt, share); err != nil {
					t.Fatal(err)
				}
			}
			n, err := f.(format.Filler).Fill(b, row)
			if err != nil {
				t.Fatal(err)
			}
			if row += n; row < b.Rows() {
				end()
			}
		}
		rows += b.Rows()
		b.Release()
	}
	end()
	name, data, err := w.Index(s.Schema(), opt, parts)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(out, name), data, 0o644)
	d := time.Since(begun)
	fmt.Printf("%s -> %s: %d rows, %d parts, %v wall %v cpu (read+write), %.0f rows/s\n", in, out, rows, len(parts), d, cpu()-c, float64(rows)/d.Seconds())
}

func TestScratchWrite(t *testing.T) {
	scratchWrite(t, "/tmp/mdsv/x/small", "/tmp/mdsv/x/w-small", format.WriteOptions{})
	scratchWrite(t, "/tmp/mdsv/x/big", "/tmp/mdsv/x/w-big", format.WriteOptions{Hashes: []string{"sha1", "xxh64"}})
	scratchWrite(t, "/tmp/mdsv/x/big", "/tmp/mdsv/x/plain", format.WriteOptions{})
	for _, c := range []string{"", "br:3", "bz2", "gz", "snappy", "zstd"} {
		scratchWrite(t, "/tmp/mdsv/x/all-None", "/tmp/mdsv/x/w-all-"+strings.ReplaceAll(c, ":", "_"), format.WriteOptions{Codec: c, PartSize: 100000, Hashes: []string{"blake2b", "blake2s", "md5", "sha3_256", "xxh3_128", "xxh32"}})
	}
}
