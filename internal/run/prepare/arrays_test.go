package prepare_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/npy"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// stacked is the file of an array, made of the parts in a directory the plain
// way: one value after another.
func stacked(t *testing.T, dir string, typ arrow.DataType, matrix bool, columns ...string) string {
	t.Helper()
	var body bytes.Buffer
	rows := int64(0)
	put := func(v float64, whole int64) {
		switch typ.ID() {
		case arrow.INT64:
			binary.Write(&body, binary.LittleEndian, whole)
		case arrow.FLOAT32:
			binary.Write(&body, binary.LittleEndian, float32(v))
		default:
			binary.Write(&body, binary.LittleEndian, v)
		}
	}
	eachBatch(t, dir, func(rec arrow.RecordBatch) {
		rows += rec.NumRows()
		for i := range int(rec.NumRows()) {
			for _, name := range columns {
				switch c := rec.Column(rec.Schema().FieldIndices(name)[0]).(type) {
				case *array.Float64:
					put(c.Value(i), 0)
				case *array.Float32:
					put(float64(c.Value(i)), 0)
				case *array.Int64:
					v := float64(c.Value(i))
					if c.IsNull(i) {
						v = math.NaN()
					}
					put(v, c.Value(i))
				case *array.Boolean:
					v := map[bool]int64{true: 1}[c.Value(i)]
					put(float64(v), v)
				default:
					t.Fatalf("column %s is %v", name, c.DataType())
				}
			}
		}
	})
	shape := []int64{rows}
	if matrix {
		shape = append(shape, int64(len(columns)))
	}
	return string(npy.Header(typ, shape...)) + body.String()
}

// eachBatch reads the parts of a directory; one that is not there has none.
func eachBatch(t *testing.T, dir string, use func(arrow.RecordBatch)) {
	t.Helper()
	st := store.New(store.Options{})
	objects, err := st.List(t.Context(), dir)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := parquet.Format().Plan(t.Context(), format.Source{Store: st, Objects: objects}, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := data.Open(t.Context(), mem.New(64<<20), stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for {
		b, err := in.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		use(b.Record)
		b.Release()
	}
}

// fakeNumbers is a preparation of one batch of numbers, in two objects: features,
// a group, a label; with nulls in n.
func fakeNumbers(t *testing.T, rows int, label arrow.DataType, out string) prepare.Config {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "user", Type: arrow.PrimitiveTypes.Int64}, {Name: "f0", Type: arrow.PrimitiveTypes.Float64},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "kept", Type: arrow.PrimitiveTypes.Float64}, {Name: "word", Type: arrow.BinaryTypes.String},
		{Name: "[odd*", Type: arrow.PrimitiveTypes.Float32}, {Name: "y", Type: label, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		for k, v := range []any{i % 37, float64(i) / 8, i - 5, i%3 == 0, 0.5, "w", float64(i) / 4, i % 2} {
			if k == 2 && i%7 == 0 {
				b.Field(k).AppendNull()
			} else if err := b.Field(k).AppendValueFromString(fmt.Sprint(v)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := every(t, b.NewRecordBatch(), out)
	c.Run.Formats = append(c.Run.Formats, parquet.Format())
	c.Split = split.Config{Names: []string{"train", "val"}, Weights: []int{3, 1}, By: []string{"user"}}
	c.Scale = scale.Config{Label: "y", Keep: []string{"ke*"}, Scale: []scale.Rule{{Column: "f0", Do: "standard"}}}
	c.Write.PartSize = 40 << 10
	c.Npy = true
	return c
}

func TestArraysAreTheRowsOfTheParts(t *testing.T) {
	x := []string{"f0", "n", "b", "[odd*"}
	for _, c := range []struct {
		dtype    string
		typ      arrow.DataType
		label, y arrow.DataType
	}{
		{"", arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64},
		{"float32", arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float32},
		{"float32", arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64},
		{"float64", arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64},
	} {
		conf := fakeNumbers(t, 3000, c.label, t.TempDir()+"/out")
		conf.Scale.Dtype = c.dtype
		got := prepared(t, conf)
		m, err := dataset.Load(t.Context(), dataset.Place{Store: conf.Store, URL: conf.Out, Share: mem.New(16 << 20)}, dataset.Visit{})
		if err != nil || len(m.Arrays) != 4 {
			t.Fatal(err, m)
		}
		for i, name := range []string{"train", "val"} {
			dir := conf.Out + "/" + name + "/"
			if m.Splits[i].Parts < 3 {
				t.Errorf("%s has %d parts", name, m.Splits[i].Parts)
			}
			if got["X_"+name+".npy"] != stacked(t, dir, c.typ, true, x...) {
				t.Errorf("%v: X_%s.npy is not what the parts are", c, name)
			}
			if got["y_"+name+".npy"] != stacked(t, dir, c.y, false, "y") {
				t.Errorf("%v: y_%s.npy is not what the parts are", c, name)
			}
			a, b := m.Arrays[2*i], m.Arrays[2*i+1]
			if !slices.Equal(a.Columns, x) || a.Dtype != c.typ.Name() || a.Rows != m.Splits[i].Rows || a.Name != "X_"+name+".npy" || b.Dtype != c.y.Name() {
				t.Errorf("the manifest says %+v, %+v", a, b)
			}
		}
	}
}

func TestASplitWithoutRowsHasEmptyArrays(t *testing.T) {
	c := fakeNumbers(t, 100, arrow.FixedWidthTypes.Boolean, t.TempDir()+"/out")
	c.Split = split.Config{Names: []string{"train", "val"}, Range: split.Range{Column: "user", Bounds: []string{"1000"}}}
	c.Scale.Label = ""
	got := prepared(t, c)
	if want := string(npy.Header(arrow.PrimitiveTypes.Float64, 0, 5)); got["X_val.npy"] != want || got["y_val.npy"] != "" {
		t.Errorf("X %q, y %q", got["X_val.npy"], got["y_val.npy"])
	}
	if want := stacked(t, c.Out+"/train/", arrow.PrimitiveTypes.Float64, true, "f0", "n", "b", "[odd*", "y"); got["X_train.npy"] != want {
		t.Errorf("%d bytes, want %d", len(got["X_train.npy"]), len(want))
	}
	if _, err := prepare.Verify(t.Context(), c.Store, formats(), c.Out, mem.New(64<<20), nil); err != nil {
		t.Error(err)
	}
}

func TestArraysDoNotDependOnThreadsAndMemory(t *testing.T) {
	dir := t.TempDir()
	base := fakeNumbers(t, 9000, arrow.PrimitiveTypes.Int64, dir+"/want")
	want := prepared(t, base)
	for i, memory := range []int64{40 << 20, 64 << 20, 1 << 30} {
		c := base
		c.Out = fmt.Sprintf("%s/%d", dir, i)
		c.Run.Options.Threads, c.Run.Budget = 1+i, mem.New(memory)
		same(t, fmt.Sprint(memory), prepared(t, c), want)
	}
}

// TestArraysGoOnAtEveryStep ends a run at each step of its third pass, once
// before and once after what is done there, and goes on.
func TestArraysGoOnAtEveryStep(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "weir-test-") // where syncing costs nothing
	if err != nil {
		dir = t.TempDir()
	}
	defer os.RemoveAll(dir)
	base := fakeNumbers(t, 300, arrow.PrimitiveTypes.Int64, dir+"/want")
	want := prepared(t, base)
	// endAt ends a run at the nth step of its third pass.
	gone := errors.New("gone")
	endAt := func(c prepare.Config, n int) error {
		var one sync.Mutex
		third := false
		c.Store = datasettest.Steps{ReadWriter: base.Store, Step: func(name string) error {
			one.Lock()
			defer one.Unlock()
			if third = third || strings.Contains(name, ".npy"); !third {
				return nil
			}
			if n--; n <= 0 {
				return fmt.Errorf("%s: %w", name, gone)
			}
			return nil
		}}
		_, err := prepare.Run(t.Context(), c)
		runtest.Empty(t, c.Run.Budget)
		if err != nil && !errors.Is(err, gone) {
			t.Fatalf("%d steps before the end: %v", -n, err)
		}
		return err
	}
	start := base
	start.Out = dir + "/start"
	if err := endAt(start, 1); err == nil {
		t.Fatal("there is no third pass")
	}
	n := 1
	for ; ; n++ {
		c := base
		c.Out = fmt.Sprintf("%s/%d", dir, n)
		if err := os.CopyFS(c.Out, os.DirFS(start.Out)); err != nil {
			t.Fatal(err)
		}
		if endAt(c, n) == nil {
			break
		}
		_, err := os.Stat(c.Out + "/X_val.npy")
		second := err == nil
		c.Store = datasettest.Steps{ReadWriter: base.Store, Step: func(name string) error {
			if second && strings.HasPrefix(name, "before create") && strings.HasSuffix(name, "X_train.npy") {
				t.Errorf("step %d: a pair that was done is made again", n)
			}
			return nil
		}}
		if _, err = prepare.Run(t.Context(), c); err != nil && !errors.Is(err, dataset.ErrFinished) {
			t.Fatalf("step %d: %v", n, err)
		}
		same(t, fmt.Sprintf("step %d", n), tree(t, c.Out), want)
		os.RemoveAll(c.Out)
	}
	if n < 50 {
		t.Errorf("%d steps", n)
	}
}

func TestForceRemovesArrays(t *testing.T) {
	c := fakeNumbers(t, 300, arrow.PrimitiveTypes.Int64, t.TempDir()+"/out")
	with := prepared(t, c)
	c.Npy, c.Force, c.Recipe = false, true, "without"
	without := prepared(t, c)
	if len(without) != len(with)-4 || without["X_train.npy"] != "" {
		t.Errorf("%d files, %d with arrays", len(without), len(with))
	}
}

func TestWhatCannotBeAnArrayIsRefused(t *testing.T) {
	c := fakeNumbers(t, 300, arrow.BinaryTypes.String, t.TempDir()+"/out")
	refused := func(kind error, text string) {
		t.Helper()
		_, err := prepare.Run(t.Context(), c)
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %s", err, text)
		}
		runtest.Empty(t, c.Run.Budget)
	}
	refused(format.ErrUsage, `label "y" is utf8, not a number`)
	c.Scale = scale.Config{Keep: []string{"*"}}
	refused(format.ErrUsage, "no column of numbers")
	c = fakeNumbers(t, 300, arrow.PrimitiveTypes.Int64, t.TempDir()+"/out")
	c.Scale.Label = "n"
	refused(format.ErrData, `a.fake: row 0: label "n" is null`)
	// Nothing was written in vain.
	if _, err := os.Stat(c.Out + "/train"); err == nil {
		t.Error("there are parts")
	}
}

func TestVerifyNamesArraysThatAreWrong(t *testing.T) {
	c := fakeNumbers(t, 300, arrow.PrimitiveTypes.Int64, t.TempDir()+"/out")
	got := prepared(t, c)
	if err := os.Truncate(c.Out+"/X_train.npy", 200); err != nil {
		t.Fatal(err)
	}
	text := []byte(got["y_val.npy"])
	text[len(text)-1] ^= 1
	for name, text := range map[string][]byte{"/y_val.npy": text, "/X_other.npy": text} {
		if err := os.WriteFile(c.Out+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(c.Out + "/y_train.npy"); err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err := prepare.Verify(t.Context(), c.Store, formats(), c.Out, mem.New(64<<20), func(s string) { said = append(said, s) })
	slices.Sort(said)
	all := strings.Join(said, "\n")
	if !errors.Is(err, format.ErrData) || len(said) != 4 || !strings.Contains(all, "X_train.npy: 200 bytes") || !strings.Contains(all, "y_train.npy: missing") ||
		!strings.Contains(all, "y_val.npy: the digest is") || !strings.Contains(all, "X_other.npy: not in the manifest") {
		t.Errorf("got %v,\n%s", err, all)
	}
}
