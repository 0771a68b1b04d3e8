package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

func TestPartsMustBeNumberedWithoutGaps(t *testing.T) {
	at := place(store.New(store.Options{}), filepath.Join(t.TempDir(), "out"))
	for name, right := range map[string]bool{
		"part-00000.parquet": true, "part-00000.snappy.parquet": true, "part-00000": true,
		"part-00001.parquet": false, "part-0.parquet": false, "00000.parquet": false, "part-00000.": false,
		"part-00000.x/y": false, "part-+0000.parquet": false, "part-00000..": false, "": false,
	} {
		run, _, err := dataset.Begin(t.Context(), at, plan(), false)
		if err != nil {
			t.Fatal(err)
		}
		p := dataset.Part{Name: name, Digest: "00"}
		err = run.Checkpoint(t.Context(), dataset.Checkpoint{Parts: []dataset.NewPart{{Split: 2, Part: p}}})
		if (err == nil) != right {
			t.Errorf("%q: %v", name, err)
		}
		run.Abort()
		if err := os.RemoveAll(at.URL); err != nil {
			t.Fatal(err)
		}
	}
	if got := dataset.PartName(100_000, ".parquet"); got != "part-100000.parquet" {
		t.Error(got)
	}
}

func TestNamesThatLeadElsewhereAreRefused(t *testing.T) {
	st := store.New(store.Options{})
	for _, name := range []string{"", ".", "..", "a/b", "_weir", ".x", "manifest.json", "a\x00", "é", "train"} {
		p := plan()
		p.Arrays = []string{name}
		_, _, err := dataset.Begin(t.Context(), place(st, t.TempDir()), p, false)
		if !errors.Is(err, format.ErrUsage) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, url := range []string{"", "/", "s3://", "out/*", "s3://b/a[1]", `a\b`, "{a,b}"} {
		if _, _, err := dataset.Begin(t.Context(), place(st, url), plan(), false); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestShareBelowCostIsTooSmall(t *testing.T) {
	for _, url := range []string{t.TempDir(), "s3://bucket/out"} {
		at := place(store.New(store.Options{}), url)
		at.Share = mem.New(dataset.Cost(url) - 1)
		if _, _, err := dataset.Begin(t.Context(), at, plan(), false); !errors.Is(err, mem.ErrTooSmall) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestRunWhoseLockWasRemovedGivesUp(t *testing.T) {
	at := place(store.New(store.Options{}), filepath.Join(t.TempDir(), "out"))
	run, _, err := dataset.Begin(t.Context(), at, plan(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Abort()
	if err := os.RemoveAll(at.URL + "/_weir"); err != nil {
		t.Fatal(err)
	}
	second, _, err := dataset.Begin(t.Context(), place(at.Store, at.URL), plan(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Abort()
	refused(t, run.Checkpoint(t.Context(), dataset.Checkpoint{Pass: 1}), dataset.ErrLost)
	if err := second.Checkpoint(t.Context(), dataset.Checkpoint{Pass: 1}); err != nil {
		t.Error(err)
	}
}
