package split_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/split"
)

// FuzzWords: whatever the words are, the result works or is a usage error.
func FuzzWords(f *testing.F) {
	f.Add("train=80,val=10,test=10", "k=2024-01-01,2024-02-01", "raw/*/x", uint8(0))
	f.Add("a=0.5,b=0.5", "k=-1e300", `s3://b/[a]\*`, uint8(1))
	f.Add("a,b", "k=99999999999999999999", "", uint8(2))
	types := []arrow.DataType{arrow.FixedWidthTypes.Timestamp_ns, arrow.FixedWidthTypes.Date32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Timestamp_s}
	f.Fuzz(func(t *testing.T, names, bounds, path string, kind uint8) {
		var c split.Config
		var err error
		check := func(err error) bool {
			if err != nil && !errors.Is(err, format.ErrUsage) {
				t.Fatalf("not a usage error: %v", err)
			}
			return err == nil
		}
		if c.Names, c.Weights, err = split.ParseNames(names); !check(err) {
			return
		}
		schema := columns("k", types[int(kind)%len(types)])
		rec := table(t, schema, `{"k":0}`, `{"k":1}`)
		src := split.Source{Paths: []string{path}, Objects: []string{path + "/x"}}
		if a, err := split.New(c, schema, src); check(err) {
			for _, s := range assign(t, a, rec, 0) {
				if int(s) >= len(c.Names) {
					t.Fatalf("split %d of %v", s, c.Names)
				}
			}
		}
		c = split.Config{}
		if c.Range, err = split.ParseRange(bounds); !check(err) {
			return
		}
		if a, err := split.New(c, schema, src); check(err) {
			if s := assign(t, a, rec, 0); s[0] > s[1] {
				t.Fatalf("0 is in split %d, 1 in %d", s[0], s[1])
			}
		}
	})
}
