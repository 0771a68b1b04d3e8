package mds

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// FuzzIndex: any text is read or refused with an error of a kind, and shards
// are those that encoding/json finds.
func FuzzIndex(f *testing.F) {
	columns, samples, _ := everything()
	_, files := directory(f, "", made{columns: columns, samples: samples, hashes: []string{"md5"}}, made{columns: simple, compression: "zstd"})
	f.Add(files[0])
	f.Add([]byte(`{"version": 2, "shards": [], "other": {"a": [1, "\"}]", null]}}`))
	f.Add([]byte(`{"shards": [{"format": "mds", "version": 2, "raw_data": {"basename": "é"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := disk{[]string{indexName}, [][]byte{text}}
		n := 0
		_, err := readIndex(t.Context(), m, store.Object{URL: indexName, Size: int64(len(text))}, func(e *entry) error {
			n++
			if _, err := e.columns(); err != nil && !errors.Is(err, format.ErrData) {
				t.Fatal(err)
			}
			return nil
		})
		if err != nil {
			if !errors.Is(err, format.ErrData) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			return
		}
		var plain struct{ Shards []json.RawMessage }
		if json.Unmarshal(text, &plain) == nil && len(plain.Shards) != n {
			t.Fatalf("%d shards, encoding/json finds %d", n, len(plain.Shards))
		}
	})
}

// FuzzShard: a shard is the same however it is cut, and any is read or
// refused.
func FuzzShard(f *testing.F) {
	columns, samples, _ := everything()
	f.Add(made{columns: columns, samples: samples}.raw(), uint8(3), uint8(2))
	f.Add(made{columns: columns}.raw(), uint8(40), uint8(0))
	p := fuzzPicked(f, columns)
	f.Fuzz(func(t *testing.T, shard []byte, step, count uint8) {
		whole, wholeErr := cutAll(shard, len(shard)+1, count, p.frame)
		parts, partsErr := cutAll(shard, int(step)+1, count, p.frame)
		if (wholeErr == nil) != (partsErr == nil) {
			t.Fatalf("whole: %v, in parts: %v", wholeErr, partsErr)
		}
		if wholeErr != nil {
			return
		}
		if string(whole) != string(parts) {
			t.Fatal("samples differ")
		}
		b, err := build.New(p.schema)
		if err != nil {
			t.Fatal(err)
		}
		share := mem.New(1 << 20)
		defer share.Trim()
		block, err := share.Map(context.Background(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset(block, 0)
		err = p.parser(b).Parse(&records.Piece{Data: whole})
		if bad := (*records.Bad)(nil); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		if err == nil && !b.Full() && b.Rows() != int(count) {
			t.Fatalf("%d rows of %d", b.Rows(), count)
		}
		b.Finish().Release()
	})
}

func fuzzPicked(t testing.TB, columns []column) *picked {
	t.Helper()
	p, err := (&catalog{layout: layout{columns: columns}}).pick(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cutAll cuts a shard that comes in steps, and gives its samples.
func cutAll(shard []byte, step int, count uint8, f frame) ([]byte, error) {
	c := &cutter{frame: f, samples: int64(count), bytes: int64(len(shard))}
	var out []byte
	for at, end := 0, 0; ; {
		end = min(end+step, len(shard))
		final := end == len(shard)
		from, to, err := c.Cut(shard[at:end], final)
		if err != nil {
			return nil, err
		}
		out = append(out, shard[at+from:at+to]...)
		at += to
		if final {
			return out, nil
		}
		if count > 0 && c.begin > 0 && c.left == 0 {
			return nil, errors.New("the last sample was given before the end was seen")
		}
	}
}
