package parquet

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/digest"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// sourceOf makes files in memory a source.
func sourceOf(files ...[]byte) format.Source {
	m := runtest.Objects{}
	var objs []store.Object
	for i, f := range files {
		name := "part-" + string(rune('0'+i))
		m[name] = string(f)
		objs = append(objs, store.Object{URL: name, Size: int64(len(f))})
	}
	return format.Source{Store: m, Objects: objs}
}

// digestOf is the digest of records of one schema.
func digestOf(t testing.TB, recs ...arrow.RecordBatch) string {
	t.Helper()
	d, err := digest.New(recs[0].Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		d.Add(r)
	}
	return d.Digest()
}

// readDigest plans and reads src from a cursor on, with a share of that many
// bytes (0: the floor), and returns the digest and the number of rows.
func readDigest(t testing.TB, src format.Source, opt format.Options, share int64, from stream.Cursor) (string, int64, error) {
	t.Helper()
	ctx := context.Background()
	ds, err := Plan(ctx, src, opt)
	if err != nil {
		return "", 0, err
	}
	if share == 0 {
		share = ds.Floor()
	}
	b := mem.New(share)
	defer empty(t, b)
	s, err := ds.Open(ctx, b, from, nil)
	if err != nil {
		return "", 0, err
	}
	defer s.Close()
	d, err := digest.New(ds.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var rows int64
	for {
		x, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return d.Digest(), rows, nil
		}
		if err != nil {
			return "", rows, err
		}
		d.Add(x.Record)
		rows += x.Rows()
		x.Release()
	}
}

// readRetry is readDigest that, where a row is much larger than the mean one,
// tries again with the share that the error asks for.
func readRetry(t testing.TB, src format.Source, opt format.Options, share int64, from stream.Cursor) (got string, rows int64, err error) {
	t.Helper()
	for range 8 {
		got, rows, err = readDigest(t, src, opt, share, from)
		small, ok := errors.AsType[*mem.TooSmallError](err)
		if !ok || small.Share != "a single row" || small.Need <= share {
			break
		}
		share = small.Need
	}
	return got, rows, err
}

func empty(t testing.TB, b *mem.Budget) {
	t.Helper()
	if b.Leased() != 0 || b.Used() != 0 {
		t.Errorf("%s still leased, %s used", mem.Format(b.Leased()), mem.Format(b.Used()))
	}
	b.Trim()
}

// sameRows holds that file has the rows of rec, however it is read: whole and
// with as little memory as possible, on one thread and on two, and resumed in
// the middle.
func sameRows(t testing.TB, file []byte, rec arrow.RecordBatch) {
	t.Helper()
	want := digestOf(t, rec)
	src := sourceOf(file)
	for _, c := range []struct {
		share          int64
		threads, batch int
	}{{1 << 28, 1, 0}, {0, 1, 0}, {1 << 28, 2, 100}, {0, 3, 7}} {
		got, rows, err := readRetry(t, src, format.Options{Threads: c.threads, BatchRows: c.batch}, c.share, stream.Cursor{})
		if err != nil {
			t.Errorf("share %d, threads %d, batch %d: %v", c.share, c.threads, c.batch, err)
			return
		}
		if rows != rec.NumRows() {
			t.Errorf("share %d, threads %d, batch %d: %d rows, want %d", c.share, c.threads, c.batch, rows, rec.NumRows())
		} else if got != want {
			t.Errorf("share %d, threads %d, batch %d: other rows than were written", c.share, c.threads, c.batch)
			explain(t, file, rec)
			return
		}
	}
	half := rec.NumRows() * 2 / 3
	rest := rec.NewSlice(half, rec.NumRows())
	defer rest.Release()
	want = digestOf(t, rest)
	for _, share := range []int64{0, 1 << 28} {
		got, rows, err := readRetry(t, src, format.Options{}, share, stream.Cursor{Row: half})
		if err != nil || got != want {
			t.Errorf("share %d, from row %d: %d rows, want %d; right: %v; %v", share, half, rows, rec.NumRows()-half, got == want, err)
		}
	}
}
