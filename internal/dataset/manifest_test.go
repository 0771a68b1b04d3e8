package dataset_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// prepared is a finished dataset on disk.
func prepared(t testing.TB) dataset.Place {
	t.Helper()
	at := place(store.New(store.Options{}), filepath.Join(t.TempDir(), "out"))
	if err := work(t.Context(), at, plan(), false); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestManifestSaysWhatWasWritten(t *testing.T) {
	at := prepared(t)
	var parts, sources []string
	m, err := dataset.Load(t.Context(), at, dataset.Visit{
		Part:   func(s dataset.Split, p dataset.Part) error { parts = append(parts, s.Prefix+p.Name); return nil },
		Source: func(o store.Object) error { sources = append(sources, fmt.Sprint(o)); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	p := plan()
	if m.CreatedBy != p.CreatedBy || m.Seed != p.Seed || m.Recipe != p.Recipe || m.Sources != 2 || !m.Schema.Equal(schema) || string(m.Params) != `{"sum": 5616}` {
		t.Errorf("%+v", m)
	}
	if got, want := fmt.Sprint(m.Splits), "[{train train/ 96 1448 3} {val val/ 12 181 3} {test test/ 12 181 3}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := strings.Join(sources, " "), fmt.Sprint(p.Source[0], " ", p.Source[1]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(parts) != 9 || parts[4] != "val/part-00001.parquet" {
		t.Error(parts)
	}
	data, err := os.ReadFile(at.URL + "/manifest.json")
	if err != nil || !json.Valid(data) {
		t.Errorf("not JSON: %s", data)
	}
}

func TestAlteredManifestIsAnError(t *testing.T) {
	at := prepared(t)
	name := at.URL + "/manifest.json"
	right, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) []byte {
		t.Helper()
		if !bytes.Contains(right, []byte(old)) {
			t.Fatalf("%s is not in the manifest", old)
		}
		return bytes.Replace(right, []byte(old), []byte(new), 1)
	}
	cases := map[string][]byte{
		"version":     change(`"version": 1`, `"version": 2`),
		"escape":      change(`"name": "train", "prefix": "train/"`, `"name": "../x", "prefix": "../x/"`),
		"prefix":      change(`"prefix": "train/"`, `"prefix": "val/"`),
		"twice":       change(`"name": "val", "prefix": "val/"`, `"name": "train", "prefix": "train/"`),
		"part name":   change(`part-00001.parquet`, `part-00001.x/y`),
		"part number": change(`part-00001.parquet`, `part-1.parquet`),
		"rows":        change(`"rows": 96`, `"rows": 97`),
		"bytes":       change(`"bytes":472`, `"bytes":473`),
		"negative":    change(`"rows":32`, `"rows":-32`),
		"digest":      change(`"digest":"`, `"digest":"é`),
		"array":       change(`"name":"X_train.npy"`, `"name":"/etc/passwd"`),
		"array twice": change(`"name":"X_train.npy"`, `"name":"train"`),
		"shape":       change(`"shape":[0,2]`, `"shape":[1,2]`),
		"columns":     change(`"columns":["a","b"]`, `"columns":["a","b","c"]`),
		"no shape":    change(`"shape":[0,2],`, ``),
		"schema":      change(`float32`, `float33`),
		"source":      change(`"size":10`, `"size":11`),
		"order":       change(`"seed"`, `"sead"`),
		"field":       change(`"rows":32`, `"rows":32,"x":1`),
		"behind":      append(bytes.Clone(right), '1'),
		"type":        change(`"rows": 96`, `"rows": "96"`),
	}
	for what, data := range cases {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Load(t.Context(), at, dataset.Visit{}); !errors.Is(err, format.ErrData) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range len(right) - 1 {
		if _, err := dataset.ReadManifest(right[:n], at.Share, dataset.Visit{}); !errors.Is(err, format.ErrData) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if used := at.Share.Used(); used != 0 {
		t.Errorf("%d bytes are under lease", used)
	}
}

func TestLargeValueOfAManifestIsPaidFor(t *testing.T) {
	at := prepared(t)
	name := at.URL + "/manifest.json"
	right, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Replace(right, []byte(`{"sum": 5616}`), []byte(`"`+strings.Repeat("x", 1<<20)+`"`), 1)
	if err := os.WriteFile(name, big, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Load(t.Context(), at, dataset.Visit{}); !errors.Is(err, mem.ErrTooSmall) || !strings.HasPrefix(err.Error(), name) {
		t.Fatal(err)
	}
	at.Share = mem.New(32 << 20)
	if m, err := dataset.Load(t.Context(), at, dataset.Visit{}); err != nil || len(m.Params) != 1<<20+2 {
		t.Fatal(err)
	}
}

// TestManyPartsTakeLittleMemory writes a journal of several segments, ends the
// run early, goes on, finishes, and reads the manifest.
func TestManyPartsTakeLittleMemory(t *testing.T) {
	ctx := t.Context()
	url := filepath.Join(t.TempDir(), "out")
	at := place(&sizes{ReadWriter: store.New(store.Options{}), url: url}, url)
	p := plan()
	p.Arrays = nil
	const sets = 8 * dataset.SegmentParts / 3
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for life := range 2 {
		run, was, err := dataset.Begin(ctx, at, p, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(life) * sets / 2; was.Splits[2].Parts != want || was.Cursor.Row != want {
			t.Fatalf("life %d begins with %+v", life, was)
		}
		var c dataset.Checkpoint
		for n := was.Cursor.Row; n < int64(life+1)*sets/2; n++ {
			for s := range 3 {
				c.Parts = append(c.Parts, dataset.NewPart{Split: s, Part: partOf(n)})
			}
			if n%500 != 499 && n != int64(life+1)*sets/2-1 {
				continue
			}
			c.Cursor = stream.Cursor{Row: n + 1}
			if err := run.Checkpoint(ctx, c); err != nil {
				t.Fatal(err)
			}
			c.Parts = c.Parts[:0]
		}
		if life == 0 {
			run.Abort()
			continue
		}
		if err := run.Finish(ctx, dataset.Ending{Schema: schema}); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	m, err := dataset.Load(ctx, at, dataset.Visit{Part: func(dataset.Split, dataset.Part) error { count++; return nil }})
	if err != nil || count != 3*sets || m.Splits[1].Rows != 7*sets {
		t.Fatal(count, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes stay on the heap", grown)
	}
	if peak := at.Share.Peak(); peak > dataset.Cost(url) {
		t.Errorf("%d bytes were under lease", peak)
	}
}

func partOf(n int64) dataset.Part {
	return dataset.Part{Name: dataset.PartName(n, ".parquet"), Rows: 7, Bytes: 70, Digest: "0123456789abcdef0123456789abcdef"}
}

// sizes is a store that shows parts nobody wrote.
type sizes struct {
	store.ReadWriter
	url string
}

func (s *sizes) List(ctx context.Context, pattern string) ([]store.Object, error) {
	found, err := s.ReadWriter.List(ctx, pattern)
	if pattern != s.url+"/" || errors.Is(err, store.ErrNotFound) && !s.begun(ctx) {
		return found, err
	}
	for _, split := range []string{"test", "train", "val"} {
		for n := range int64(8 * dataset.SegmentParts / 6) {
			found = append(found, store.Object{URL: s.url + "/" + split + "/" + dataset.PartName(n, ".parquet"), Size: 70})
		}
	}
	return found, nil
}

func (s *sizes) begun(ctx context.Context) bool {
	found, err := s.ReadWriter.List(ctx, s.url+"/_weir/plan.jsonl")
	return err == nil && len(found) == 1
}

func FuzzManifest(f *testing.F) {
	right, err := os.ReadFile(prepared(f).URL + "/manifest.json")
	if err != nil {
		f.Fatal(err)
	}
	share := mem.New(1 << 20)
	f.Add(right)
	f.Add([]byte(`{"version": 1, "created_by": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sums := make(map[string]int64)
		m, err := dataset.ReadManifest(data, share, dataset.Visit{Part: func(s dataset.Split, p dataset.Part) error {
			if strings.Contains(s.Prefix+p.Name, "..") && !strings.HasPrefix(p.Name, "part-") || strings.Count(s.Prefix+p.Name, "/") != 1 {
				t.Errorf("%q leads out of the directory", s.Prefix+p.Name)
			}
			sums[s.Name] += p.Rows
			return nil
		}})
		if used := share.Used(); used != 0 {
			t.Errorf("%d bytes are under lease", used)
		}
		if err != nil {
			if !errors.Is(err, format.ErrData) && !errors.Is(err, mem.ErrTooSmall) {
				t.Error(err)
			}
			return
		}
		for _, s := range m.Splits {
			if s.Rows != sums[s.Name] {
				t.Errorf("split %q has %d rows, its parts %d", s.Name, s.Rows, sums[s.Name])
			}
		}
	})
}
