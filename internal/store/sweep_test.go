package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/storetest"
)

func TestSweepTakesAwayWhatKilledWritersLeft(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "bucket")
	dir := t.TempDir()
	for _, root := range []string{"s3://bucket/out/", dir + "/out/"} {
		st := store.New(store.Options{})
		for _, name := range []string{root + "_work/a.bin", root + "b.bin", root + "../beside.bin"} {
			if root[0] == 's' && name == root+"../beside.bin" {
				name = "s3://bucket/outside.bin"
			}
			out, err := st.Create(t.Context(), name, mem.New(64<<20))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write(make([]byte, 12<<20)); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Sweep(t.Context(), root); err != nil {
			t.Fatal(err)
		}
	}
	if keys := srv.Keys(t, "bucket"); len(keys) != 1 || keys[0] != "(upload) outside.bin" {
		t.Error(keys)
	}
	left := 0
	filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left++
		}
		return nil
	})
	if left != 1 {
		t.Errorf("%d files left, want the one beside", left)
	}
}
