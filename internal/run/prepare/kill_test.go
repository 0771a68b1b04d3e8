package prepare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/storetest"
)

// TestMain is the process that is killed, where the environment says so.
func TestMain(m *testing.M) {
	if out := os.Getenv("WEIR_TEST_KILL"); out != "" {
		os.Exit(killed(out, os.Getenv("WEIR_TEST_KILL_SOURCE"), os.Getenv("WEIR_TEST_KILL_AT")))
	}
	os.Exit(m.Run())
}

// killed prepares until a step, the nth that changes something or the first
// whose name begins as at does, and dies there. It returns when there is no
// such step.
func killed(out, in, at string) int {
	last, err := strconv.Atoi(at)
	if err != nil {
		last = -1
	}
	n := 0
	var one sync.Mutex // steps come from several goroutines
	c := victim(in, out)
	c.Store = datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: func(name string) error {
		one.Lock()
		defer one.Unlock()
		if changes(name) {
			n++
		}
		if changes(name) && n == last || last < 0 && strings.HasPrefix(name, at) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}}
	if _, err := prepare.Run(context.Background(), c); err != nil && !errors.Is(err, dataset.ErrFinished) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// changes says that a step changes something: a death at the others is one at
// the step before. Of what was written nothing is seen before it is committed;
// parts stand for all of it.
func changes(name string) bool {
	switch strings.Fields(name)[1] {
	case "create", "commit", "remove", "sweep":
		return true
	case "write":
		return strings.Contains(name, "/part-")
	}
	return false
}

// victim is a preparation that is killed: of rows in files, or of large ones.
func victim(in, out string) prepare.Config {
	c := config(in, out)
	if strings.Contains(in, "large") {
		c.Run.Formats = []format.Format{(&runtest.Fake{Record: large(), Cost: 1 << 20, Least: 1 << 20}).Format()}
		c.Scale = scale.Config{}
		c.Write.PartSize, c.Write.RowGroup, c.Write.Codec = 64<<20, 1<<20, "none"
		return c
	}
	c.Run.Options.BatchRows = 350
	c.Write.PartSize = 40 << 10
	c.Every = 1
	return c
}

// large are rows of which a part is more than an upload holds back.
func large() arrow.RecordBatch {
	const rows, width = 130_000, 16
	rnd := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, rows)
	for i := range values {
		values[i] = rnd.Float64()
	}
	data := array.NewData(arrow.PrimitiveTypes.Float64, rows, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(values))}, nil, 0, 0)
	fields, cols := make([]arrow.Field, width), make([]arrow.Array, width)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: data.DataType()}
		cols[i] = array.NewFloat64Data(data)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, rows)
}

// few are the first rows of a source.
func few(t *testing.T) string {
	t.Helper()
	dir := source(t, 1)
	text, err := os.ReadFile(dir + "part-0.csv")
	if err == nil {
		err = os.WriteFile(dir+"part-0.csv", bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:601], nil), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// life runs a process until a step; true: it came to its end before.
func life(t *testing.T, in, out, at string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WEIR_TEST_KILL="+out, "WEIR_TEST_KILL_SOURCE="+in, "WEIR_TEST_KILL_AT="+at)
	text, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("step %s: %v\n%s", at, err, text)
	}
	return false
}

// ground is where a dataset is written: a disk or a bucket.
type ground struct {
	fresh  func() string // a directory that is not there yet
	files  func(url string) map[string]string
	stride int // of the steps at which a process is killed
}

// disk is a directory in memory where there is one: to sync is not what the
// tests are about.
func disk(t *testing.T) ground {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "weir-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := 0
	return ground{stride: 1,
		fresh: func() string { n++; return filepath.Join(dir, fmt.Sprint("out", n)) },
		files: func(url string) map[string]string {
			if left, _ := os.ReadDir(url + "/_weir"); left != nil {
				t.Errorf("%s/_weir is left: %v", url, left)
			}
			return tree(t, url)
		}}
}

// bucket is a real service; files are its objects, and the uploads that nobody
// ended.
func bucket(t *testing.T) ground {
	t.Helper()
	srv := storetest.S3(t)
	n := 0
	return ground{stride: 13,
		fresh: func() string {
			n++
			srv.Bucket(t, fmt.Sprint("bucket", n))
			return fmt.Sprintf("s3://bucket%d/deep/out", n)
		},
		files: func(url string) map[string]string {
			name, _, _ := strings.Cut(strings.TrimPrefix(url, "s3://"), "/")
			out := make(map[string]string)
			for _, k := range srv.Keys(t, name) {
				out[strings.TrimPrefix(k, "deep/out/")] = string(srv.Get(t, name, k))
			}
			return out
		}}
}

// golden is an undisturbed run's files.
func golden(t *testing.T, g ground, in string) map[string]string {
	t.Helper()
	c := victim(in, g.fresh())
	if _, err := prepare.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	runtest.Empty(t, c.Run.Budget)
	return g.files(c.Out)
}

// ended finishes what a killed process left and compares.
func ended(t *testing.T, g ground, in, out, at string, want map[string]string) {
	t.Helper()
	c := victim(in, out)
	c.Run.Options.BatchRows = 230
	if _, err := prepare.Run(t.Context(), c); err != nil && !errors.Is(err, dataset.ErrFinished) {
		t.Fatalf("killed at step %s: %v", at, err)
	}
	runtest.Empty(t, c.Run.Budget)
	same(t, "killed at step "+at, g.files(out), want)
	r, err := prepare.Verify(t.Context(), c.Store, formats(), out, mem.New(64<<20), func(text string) { t.Error(text) })
	if err != nil {
		t.Fatalf("killed at step %s: verify: %v, %+v", at, err, r)
	}
}

func TestAKillAtAnyStepIsGoneOnFromToTheSameBytes(t *testing.T) {
	in := few(t)
	for name, place := range map[string]func(*testing.T) ground{"disk": disk, "s3": bucket} {
		t.Run(name, func(t *testing.T) {
			g := place(t)
			want := golden(t, g, in)
			kills := 0
			for n := 1; ; n += g.stride {
				at, out := strconv.Itoa(n), g.fresh()
				if life(t, in, out, at) {
					break
				}
				kills++
				ended(t, g, in, out, at, want)
			}
			t.Log(kills, "kills")
		})
	}
}

// TestAKillDuringAnUploadLeavesNoneOpen dies where S3 has parts of an object.
func TestAKillDuringAnUploadLeavesNoneOpen(t *testing.T) {
	in := t.TempDir() + "/large/"
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in+"a.fake", []byte(runtest.Magic), 0o600); err != nil {
		t.Fatal(err)
	}
	g := bucket(t)
	want := golden(t, g, in)
	out := g.fresh()
	at := "before commit " + out + "/train/part-00000"
	if life(t, in, out, at) {
		t.Fatal("there was no such step")
	}
	if _, open := g.files(out)["(upload) deep/out/train/part-00000.parquet"]; !open {
		t.Fatal("there is no upload to be left: the part is too small")
	}
	ended(t, g, in, out, at, want)
}
