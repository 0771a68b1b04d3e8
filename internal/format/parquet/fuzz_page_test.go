package parquet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// chunkIn is a chunk in memory.
func chunkIn(t testing.TB, data []byte) source {
	t.Helper()
	src := sourceOf(data)
	r, err := src.Store.Open(context.Background(), src.Objects[0])
	if err != nil {
		t.Fatal(err)
	}
	return direct{r: r, waits: new(stream.Waits)}
}

// someLeaves are leaves of every physical type and many depths.
func someLeaves(f testing.TB) []*leafPlan {
	d := newDice(1)
	var out []*leafPlan
	_, fixed := fixedTable(1, 1, 0, layout{})
	for _, data := range [][]byte{write(f, flatTable(d, 1), layout{decimals: true}), write(f, nestedTable(d, 1), layout{}), fixed(f)} {
		ds := &dataset{src: sourceOf(data)}
		file, err := ds.open(context.Background(), 0, mem.New(1<<30), new(stream.Waits))
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, file.leaves...)
	}
	return out
}

// onePage decodes data as the only page of a column, and returns what became
// of it: the first n rows of its region.
func onePage(t *testing.T, plan *leafPlan, data []byte, ref pageRef, streams bool, n int) (region, error) {
	t.Helper()
	extra, reserve := mem.New(1<<22), mem.New(1<<22)
	l := &leaf{leafPlan: plan, src: chunkIn(t, data), extra: extra, reserve: reserve, siblings: 1,
		chunk: meta.Chunk{Codec: codec.None, Values: int64(ref.Values)}, walked: int64(ref.Values), off: int64(len(data))}
	defer func() {
		l.close()
		if extra.Leased() != 0 || reserve.Leased() != 0 {
			t.Errorf("%d and %d still leased", extra.Leased(), reserve.Leased())
		}
		extra.Trim()
		reserve.Trim()
	}()
	ctx := context.Background()
	w := newWorker()
	p := &page{left: int(ref.Values), body: ref.body}
	var err error
	if streams {
		err = l.loadStreamed(ctx, ref, p)
	} else {
		_, err = l.loadWhole(ctx, w, ref, p)
	}
	if err != nil {
		p.free()
		return region{}, err
	}
	l.page = p
	const room = 4000
	r := newRegion(plan, room, 1<<16, make([]byte, regionSize(plan, room, 1<<16)+64)[:])
	return r, l.decode(ctx, w, &r, n)
}

// FuzzPage: any bytes as a page of any column and encoding are decoded alike
// whole and streamed, or are an error; never a panic.
func FuzzPage(f *testing.F) {
	leaves := someLeaves(f)
	for i := range leaves {
		for _, e := range []byte{0, 3, 5, 6, 7, 9} {
			f.Add(bytes.Repeat([]byte{3, 0, 0, 0, 0x55, 2, 1}, 9), uint8(i), e, uint16(20), uint8(i*3), uint8(e))
		}
		f.Add(append([]byte{2, 0, 0, 0, 40, 1}, make([]byte, 400)...), uint8(i), byte(0), uint16(20), uint8(0), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, which, enc uint8, count uint16, rep, def uint8) {
		plan := leaves[int(which)%len(leaves)]
		n := 1 + int(count)%2000
		ref := pageRef{PageHeader: meta.PageHeader{
			Kind: meta.DataPage, Uncompressed: int32(len(data)), Compressed: int32(len(data)), Values: int32(n),
			Encoding: meta.Encoding(enc % 16), DefEncoding: meta.RLE, RepEncoding: meta.RLE, IsCompressed: true,
		}}
		if rep+def > 0 && int(rep)+int(def) <= len(data) {
			ref.Kind, ref.RepLen, ref.DefLen = meta.DataPageV2, int32(rep), int32(def)
		}
		rows := 1 + n/2
		if plan.MaxRep == 0 {
			rows = n
		}
		a, errA := onePage(t, plan, data, ref, false, rows)
		b, errB := onePage(t, plan, data, ref, true, rows)
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, format.ErrData) {
				t.Fatalf("an error of no known kind: %v", err)
			}
		}
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%s as %v: whole: %v, streamed: %v", plan.Path, ref.Encoding, errA, errB)
		}
		if errA == nil {
			sameRegion(t, &a, &b)
		}
	})
}

// sameRegion compares what is valid in two regions.
func sameRegion(t *testing.T, a, b *region) {
	t.Helper()
	if a.entries != b.entries || a.slots != b.slots || a.rows != b.rows || a.nulls != b.nulls || a.absent != b.absent {
		t.Fatalf("whole: %d entries, %d slots, %d rows, %d nulls; streamed: %d, %d, %d, %d",
			a.entries, a.slots, a.rows, a.nulls, b.entries, b.slots, b.rows, b.nulls)
	}
	l := a.leaf
	for i := range a.slots {
		if l.slotNull {
			if bitAt(a.valid, i) != bitAt(b.valid, i) {
				t.Fatalf("slot %d: validity differs", i)
			}
			if bitAt(a.valid, i) == 0 {
				continue
			}
		}
		var x, y []byte
		switch l.shape {
		case fixedShape:
			x, y = a.fixed[i*l.width:(i+1)*l.width], b.fixed[i*l.width:(i+1)*l.width]
		case bitShape:
			x, y = []byte{bitAt(a.bits, i)}, []byte{bitAt(b.bits, i)}
		case byteShape:
			x, y = a.col.data[a.col.offsets[i]:a.col.offsets[i+1]], b.col.data[b.col.offsets[i]:b.col.offsets[i+1]]
		}
		if !bytes.Equal(x, y) {
			t.Fatalf("slot %d: whole %x, streamed %x", i, x, y)
		}
	}
}

// FuzzScan: any file is read, or an error of a known kind; memory stays in the
// share and all of it comes back.
func FuzzScan(f *testing.F) {
	d := newDice(1)
	d.nulls = 0.3
	for i, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
		rec := table(column{"a", d.values(arrow.PrimitiveTypes.Int64, true, 12), true},
			column{"b", d.values(arrow.ListOf(message), true, 12), true},
			column{"c", d.values(arrow.BinaryTypes.String, false, 12), false})
		f.Add(write(f, rec, layout{codec: codec, v2: i == 1, dict: i > 0, group: 7}))
		f.Add(write(f, numbers(9, "x"), layout{codec: codec, v2: i == 2}))
		_, fixed := fixedTable(1, 5, 0.3, layout{codec: codec, v2: i == 1, group: 3})
		f.Add(fixed(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []format.Options{{}, {Threads: 2, BatchRows: 3}} {
			if err := fuzzRead(t, data, opt); err != nil && !errors.Is(err, format.ErrData) && !errors.Is(err, mem.ErrTooSmall) {
				t.Fatal(err)
			}
		}
	})
}

// fuzzRead reads the first batches.
func fuzzRead(t *testing.T, data []byte, opt format.Options) error {
	t.Helper()
	ctx := context.Background()
	ds, err := Plan(ctx, sourceOf(data), opt)
	if err != nil {
		return err
	}
	b := mem.New(min(ds.Floor()+1<<16, 1<<26))
	defer empty(t, b)
	s, err := ds.Open(ctx, b, stream.Cursor{}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	for range 100 {
		x, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		x.Release()
	}
	return nil
}
