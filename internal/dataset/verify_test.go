package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

func verify(t *testing.T, at dataset.Place) (found []string, r dataset.Result, err error) {
	t.Helper()
	r, err = dataset.Verify(t.Context(), at, check(at.Store), func(f dataset.Finding) {
		found = append(found, f.Kind+" "+f.Name)
	})
	return found, r, err
}

func TestVerifyOfAWholeDatasetFindsNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		at := place(store.New(store.Options{}), g.fresh())
		if err := work(t.Context(), at, plan(), false); err != nil {
			t.Fatal(err)
		}
		found, r, err := verify(t, at)
		if err != nil || len(found) != 0 || r.Parts != 12 || r.Rows != rows || r.Manifest == nil {
			t.Errorf("%v %+v %v", found, r, err)
		}
	})
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	at := prepared(t)
	file := func(name string) string { return filepath.Join(at.URL, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	alter := func(name string) {
		data, err := os.ReadFile(file(name))
		must(err)
		data[0] ^= 1
		must(os.WriteFile(file(name), data, 0o666))
	}
	alter("train/part-00001.parquet")
	must(os.Remove(file("train/part-00002.parquet")))
	must(os.Truncate(file("val/part-00000.parquet"), 10))
	must(os.WriteFile(file("val/part-00001.parquet"), make([]byte, 1000), 0o666))
	must(os.WriteFile(file("test/part-00003.parquet"), []byte("row\n"), 0o666))
	must(os.WriteFile(file("other.npy"), nil, 0o666))
	must(os.WriteFile(file("report.html"), nil, 0o666))
	alter("X_train.npy")
	must(os.Truncate(file("y_train.npy"), 3))
	must(os.Remove(file("X_val.npy")))
	found, r, err := verify(t, at)
	slices.Sort(found)
	want := []string{"altered X_train.npy", "altered train/part-00001.parquet", "altered val/part-00001.parquet", "extra other.npy",
		"extra test/part-00003.parquet", "missing X_val.npy", "missing train/part-00002.parquet", "truncated val/part-00000.parquet", "truncated y_train.npy"}
	if !slices.Equal(found, want) {
		t.Errorf("%v\nwant %v", found, want)
	}
	if r.Findings[dataset.Altered] != 3 || r.Rows != 32+4+3*4 {
		t.Errorf("%+v", r)
	}
	if !errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), "train/part-00001.parquet: the digest is") || !strings.HasSuffix(err.Error(), "; in all 2 missing, 2 truncated, 3 altered, 2 extra") {
		t.Error(err)
	}
}

func TestVerifyWithoutAManifestIsADataError(t *testing.T) {
	at := place(store.New(store.Options{}), filepath.Join(t.TempDir(), "out"))
	begun(t, at)
	if _, _, err := verify(t, at); !errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), "not finished") {
		t.Error(err)
	}
}

func TestVerifyEndsAtAnErrorThatIsNotTheDatas(t *testing.T) {
	at := prepared(t)
	_, err := dataset.Verify(t.Context(), at, func(context.Context, dataset.Entry) (int64, string, int64, error) {
		return 0, "", 0, context.Canceled
	}, nil)
	if !errors.Is(err, context.Canceled) || errors.Is(err, format.ErrData) {
		t.Error(err)
	}
}

// TestLargeParametersNeedNoMemory verifies and replaces a dataset whose
// parameters are larger than all that a directory costs.
func TestLargeParametersNeedNoMemory(t *testing.T) {
	at := prepared(t)
	name := filepath.Join(at.URL, "manifest.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	many := `{"columns": [` + strings.Repeat(`{"name": "a column", "mean": 1.5, "of": [null, true]}, `, 100_000) + `{}]}`
	wide := strings.Replace(string(text), `{"sum": 5616}`, many, 1)
	if err := os.WriteFile(name, []byte(wide), 0o666); err != nil || len(wide) < len(many) {
		t.Fatal(err)
	}
	at.Share = mem.New(dataset.Cost(at.URL))
	if found, _, err := verify(t, at); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	if err := work(t.Context(), at, plan(), true); err != nil {
		t.Fatal(err)
	}
	cut := wide[:strings.Index(wide, "1.5")] + wide[strings.LastIndex(wide, "}, {}]}"):]
	if err := os.WriteFile(name, []byte(cut), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := verify(t, at); !errors.Is(err, format.ErrData) {
		t.Fatal("parameters that are no JSON:", err)
	}
}
