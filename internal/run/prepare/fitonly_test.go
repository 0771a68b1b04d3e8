package prepare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// fitted fits to a file and returns its text.
func fitted(t *testing.T, c prepare.Config) string {
	t.Helper()
	c.Out = filepath.Join(t.TempDir(), "params.json")
	if _, _, err := prepare.Fit(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	runtest.Empty(t, c.Run.Budget)
	text, err := os.ReadFile(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// loaded reads parameters back.
func loaded(t *testing.T, c prepare.Config, url string) *scale.Params {
	t.Helper()
	budget := mem.New(16 << 20)
	p, err := prepare.LoadParams(t.Context(), c.Store, url, budget)
	if err != nil {
		t.Fatal(err)
	}
	runtest.Empty(t, budget)
	return p
}

func TestFitWritesTheParametersOfTheManifest(t *testing.T) {
	in := source(t, 2)
	c := config(in, t.TempDir()+"/out")
	c.Scale.Impute = append(c.Scale.Impute, scale.Rule{Column: "f0", Do: "median"})
	manifest := prepared(t, c)["manifest.json"]
	text := fitted(t, c)
	if !strings.Contains(manifest, text) {
		t.Errorf("not in the manifest:\n%s", text)
	}
	for _, v := range []struct{ threads, batch int }{{1, 77}, {4, 0}, {2, 1500}} {
		c.Run.Options.Threads, c.Run.Options.BatchRows = v.threads, v.batch
		if fitted(t, c) != text {
			t.Errorf("%+v: other parameters", v)
		}
	}
	var pipe bytes.Buffer
	if _, p, err := prepare.Fit(t.Context(), c, &pipe); err != nil || pipe.String() != text || p == nil {
		t.Errorf("to a pipe: %v, %d bytes", err, pipe.Len())
	}
}

func TestFitWithoutSplitsSeesAllRows(t *testing.T) {
	c := config(source(t, 1), "")
	c.Split = split.Config{Names: []string{"all"}, Weights: []int{1}}
	file := filepath.Join(t.TempDir(), "params.json")
	os.WriteFile(file, []byte(fitted(t, c)), 0o600)
	if p := loaded(t, c, file); p.Rows != rowsOfFile {
		t.Errorf("%d rows, want %d", p.Rows, rowsOfFile)
	}
}

func TestAFitThatFailsLeavesNoFile(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/params.json")
	at := 2
	c.Run.Options.BatchRows = 900
	gone := errors.New("gone")
	c.Run.Formats = []format.Format{cut(csv.Format(), &at, gone)}
	if _, _, err := prepare.Fit(t.Context(), c, nil); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	c.Run.Formats = formats()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := prepare.Fit(ctx, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	runtest.Empty(t, c.Run.Budget)
	if left, _ := os.ReadDir(filepath.Dir(c.Out)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	c.Out = "/dev/null/params.json"
	at = 0
	c.Run.Formats = []format.Format{cut(csv.Format(), &at, errors.New("data was read"))}
	if _, _, err := prepare.Fit(t.Context(), c, nil); !errors.Is(err, run.ErrOutput) {
		t.Errorf("got %v", err)
	}
}

func TestParametersAreReadFromFilesAndManifests(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/out")
	prepared(t, c)
	file := filepath.Join(t.TempDir(), "params.json")
	os.WriteFile(file, []byte(fitted(t, c)), 0o600)
	want, _ := loaded(t, c, file).Encode()
	for _, url := range []string{c.Out, c.Out + "/", c.Out + "/manifest.json"} {
		if got, _ := loaded(t, c, url).Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: other parameters", url)
		}
	}
	t.Chdir(c.Out)
	if got, _ := loaded(t, c, "manifest.json").Encode(); !bytes.Equal(got, want) {
		t.Error("other parameters")
	}
	os.WriteFile(file, want[:len(want)/2], 0o600)
	for url, kind := range map[string]error{file: format.ErrData, file + "x": os.ErrNotExist, filepath.Dir(file): format.ErrData} {
		if _, err := prepare.LoadParams(t.Context(), c.Store, url, mem.New(16<<20)); err == nil || kind == format.ErrData && !errors.Is(err, kind) || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: got %v", url, err)
		}
	}
	small := mem.New(int64(len(want)))
	os.WriteFile(file, want, 0o600)
	if _, err := prepare.LoadParams(t.Context(), c.Store, file, small); !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("got %v", err)
	}
	runtest.Empty(t, small)
}

// halves are the parameters of a first file, and the Config of a second.
func halves(t *testing.T) (first *scale.Params, second, both prepare.Config) {
	t.Helper()
	in := source(t, 2)
	file := filepath.Join(t.TempDir(), "params.json")
	one := config(in+"part-0.csv", "")
	os.WriteFile(file, []byte(fitted(t, one)), 0o600)
	second, both = config(in+"part-1.csv", ""), config(in, "")
	second.Prior = loaded(t, one, file)
	return second.Prior, second, both
}

func TestAFitThatGoesOnIsThatOfAllRows(t *testing.T) {
	_, c, both := halves(t)
	c.Split, both.Split = split.Config{Names: []string{"all"}, Weights: []int{1}}, split.Config{Names: []string{"all"}, Weights: []int{1}}
	one := both
	one.Run.Paths = []string{strings.Replace(c.Run.Paths[0], "part-1", "part-0", 1)}
	_, prior, err := prepare.Fit(t.Context(), one, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := prepare.Fit(t.Context(), both, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	c.Prior, c.Scale = prior, scale.Config{Label: "y"} // rules of before
	var texts []string
	for _, v := range []struct {
		threads, batch int
		memory         int64
	}{{1, 0, 128}, {2, 77, 64}, {4, 1500, 48}} {
		c.Run.Options.Threads, c.Run.Options.BatchRows, c.Run.Budget = v.threads, v.batch, mem.New(v.memory<<20)
		texts = append(texts, fitted(t, c))
	}
	if texts[1] != texts[0] || texts[2] != texts[0] {
		t.Error("the parameters depend on threads, batches or memory")
	}
	got, err := scale.Decode([]byte(texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b *float64) bool {
		return a == nil && b == nil || a != nil && b != nil && (*a-*b)*(*a-*b) <= 1e-24**b**b
	}
	for i := range want.Columns {
		g, w := &got.Columns[i], &want.Columns[i]
		if got.Rows != 2*rowsOfFile || g.Count != w.Count || g.Nulls != w.Nulls || fmt.Sprint(g.Categories) != fmt.Sprint(w.Categories) ||
			!near(g.Mean, w.Mean) || !near(g.Std, w.Std) || !near(g.Center, w.Center) || !near(g.Divisor, w.Divisor) || !near(g.Fill, w.Fill) || !near(g.Min, w.Min) {
			t.Errorf("got  %+v\nwant %+v", g, w)
		}
	}
}

func TestWhatCannotGoOnIsRefusedBeforeDataIsRead(t *testing.T) {
	_, c, _ := halves(t)
	at := 0
	c.Run.Formats = []format.Format{cut(csv.Format(), &at, errors.New("data was read"))}
	c.Out = t.TempDir() + "/out"
	c.Scale.Scale = []scale.Rule{{Column: "f*", Do: "minmax"}}
	if _, err := prepare.Run(t.Context(), c); !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `column "f0": scale minmax is asked, the parameters are of standard`) {
		t.Errorf("got %v", err)
	}
	for i := range c.Prior.Columns {
		if c.Prior.Columns[i].Scale != "" {
			c.Prior.Columns[i].Scale = "robust"
		}
	}
	c.Scale.Scale[0].Do = "robust"
	if _, _, err := prepare.Fit(t.Context(), c, nil); !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `column "f0": robust: `) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(c.Out)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAPreparationThatContinuesAFitIsKnownByIt(t *testing.T) {
	prior, c, _ := halves(t)
	dir := t.TempDir()
	c.Every, c.Run.Options.BatchRows = 1, 900
	c.Out = dir + "/want"
	want := prepared(t, c)
	if fitted(t, c) != paramsIn(t, want["manifest.json"]) {
		t.Error("fit and prepare go on to other parameters")
	}
	if !strings.Contains(want["manifest.json"], "fit_from: xxh128:") {
		t.Error("the manifest does not say what was continued")
	}
	for _, n := range []int{2, 6} { // in each pass once
		if !endedAt(t, c, n, fmt.Sprintf("%s/%d", dir, n), want) {
			t.Errorf("not ended at batch %d", n)
		}
	}
	at := 3
	c.Out = dir + "/other"
	c.Run.Formats = []format.Format{cut(csv.Format(), &at, errors.New("gone"))}
	if _, err := prepare.Run(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	c.Run.Formats = formats()
	altered := *prior
	altered.Columns = append([]scale.Column{}, prior.Columns...)
	mean := *altered.Columns[1].Mean + 1
	altered.Columns[1].Mean = &mean
	c.Prior = &altered
	if _, err := prepare.Run(t.Context(), c); !errors.Is(err, dataset.ErrDiffers) || !strings.Contains(err.Error(), "recipe") {
		t.Errorf("other parameters: got %v", err)
	}
	c.Prior = prior
	same(t, "the same parameters", prepared(t, c), want)
}

// paramsIn are the parameters of a manifest, as text.
func paramsIn(t *testing.T, manifest string) string {
	t.Helper()
	_, rest, ok := strings.Cut(manifest, `"params": `)
	text, _, also := strings.Cut(rest, ",\n\"source\"")
	if !ok || !also {
		t.Fatal("no parameters in the manifest")
	}
	return text
}
