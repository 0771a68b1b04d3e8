package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// refused looks at an error's kind and words.
func refused(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("%v instead of %v", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func TestFinishedDatasetIsReplacedOnlyByForce(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		want := golden(t, g)
		st, url := store.New(store.Options{}), g.fresh()
		for range 2 {
			if err := work(t.Context(), place(st, url), plan(), true); err != nil {
				t.Fatal(err)
			}
			same(t, g.tree(url), want, "then")
		}
		err := work(t.Context(), place(st, url), plan(), false)
		refused(t, err, dataset.ErrFinished, url, "--force")
		refused(t, err, format.ErrUsage)
		same(t, g.tree(url), want, "a refusal changed the directory")
	})
}

func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		st, url := store.New(store.Options{}), g.fresh()
		at := place(st, url)
		w := &worker{ctx: t.Context(), at: at, share: mem.New(32 << 20)}
		if _, err := w.put("train/part-00000.parquet", []byte("mine")); err != nil {
			t.Fatal(err)
		}
		before := g.tree(url)
		for _, force := range []bool{false, true} {
			refused(t, work(t.Context(), at, plan(), force), dataset.ErrForeign, "train/part-00000.parquet")
		}
		if got := g.tree(url); got != before {
			t.Errorf("now there is\n%s", got)
		}
		if used := at.Share.Used(); used != 0 {
			t.Errorf("%d bytes are under lease", used)
		}
	})
}

// begun is a run with one checkpoint that was ended early.
func begun(t *testing.T, at dataset.Place) {
	t.Helper()
	run, was, err := dataset.Begin(t.Context(), at, plan(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Abort()
	w := &worker{ctx: t.Context(), run: run, at: at, splits: was.Splits, share: mem.New(32 << 20)}
	if _, err := w.fit(0, 0); err != nil {
		t.Fatal(err)
	}
	f, err := w.put("train/part-00000.parquet", []byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := dataset.Checkpoint{Pass: 2, Cursor: stream.Cursor{Row: 1}, Parts: []dataset.NewPart{{Part: dataset.Part{Name: "part-00000.parquet", Rows: 1, Bytes: f.Bytes, Digest: f.Digest}}}}
	if err := run.Checkpoint(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func TestUnfinishedRunOfAnotherPlanIsRefusedByName(t *testing.T) {
	st := store.New(store.Options{})
	g := disk(t)
	want := golden(t, g)
	url := g.fresh()
	at := place(st, url)
	begun(t, at)
	before := g.tree(url)
	for _, c := range []struct {
		change func(*dataset.Plan)
		says   string
	}{
		{func(p *dataset.Plan) { p.Source = append(p.Source, store.Object{URL: "raw/c.csv"}) }, "the source has changed: raw/c.csv is new"},
		{func(p *dataset.Plan) { p.Source = p.Source[:1] }, "raw/b.csv is gone"},
		{func(p *dataset.Plan) { p.Source = p.Source[1:] }, "raw/a.csv is gone"},
		{func(p *dataset.Plan) { p.Source[1].Size = 21 }, "raw/b.csv had 20 bytes, it has 21"},
		{func(p *dataset.Plan) { p.Source[0].ETag = "x" }, "raw/a.csv was changed"},
		{func(p *dataset.Plan) { p.Source[0], p.Source[1] = p.Source[1], p.Source[0] }, "raw/b.csv is new, or stands elsewhere"},
		{func(p *dataset.Plan) { p.Recipe = "read: raw/\nscale: minmax\n" }, `line 2 was "scale: <standard>", it is "scale: minmax"`},
		{func(p *dataset.Plan) { p.CreatedBy = "weir next" }, "begun by weir test, this is weir next"},
		{func(p *dataset.Plan) { p.Seed++ }, "another seed"},
		{func(p *dataset.Plan) { p.Arrays = nil }, "other arrays"},
	} {
		p := plan()
		c.change(&p)
		refused(t, work(t.Context(), at, p, false), dataset.ErrDiffers, c.says, "--force")
	}
	if got := g.tree(url); strings.ReplaceAll(got, "\n", "") != strings.ReplaceAll(before, "\n", "") {
		t.Fatalf("refusals changed the directory:\n%s", got)
	}
	if used := at.Share.Used(); used != 0 {
		t.Errorf("%d bytes are under lease", used)
	}
	other := plan()
	other.Recipe, other.Splits, other.Arrays = "other", []string{"a", "b", "c"}, []string{"y.npy"}
	if err := work(t.Context(), at, other, true); err != nil {
		t.Fatal(err)
	}
	if got := g.tree(url); strings.Contains(got, "train") || strings.Contains(got, "_weir") {
		t.Errorf("force left of the run before:\n%s", got)
	}
	if err := work(t.Context(), at, plan(), true); err != nil {
		t.Fatal(err)
	}
	same(t, g.tree(url), want, "then")
}

func TestPartsOfAnUnfinishedRunMustBeThere(t *testing.T) {
	g := disk(t)
	want := golden(t, g)
	for _, spoil := range []func(string) error{os.Remove, func(p string) error { return os.WriteFile(p, nil, 0o666) }} {
		url := g.fresh()
		at := place(store.New(store.Options{}), url)
		begun(t, at)
		if err := spoil(filepath.Join(url, "train/part-00000.parquet")); err != nil {
			t.Fatal(err)
		}
		refused(t, work(t.Context(), at, plan(), false), dataset.ErrDiffers, "train/part-00000.parquet", "--force")
		if err := work(t.Context(), at, plan(), true); err != nil {
			t.Fatal(err)
		}
		same(t, g.tree(url), want, "then")
	}
}

func TestSecondRunIsRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		st, url := store.New(store.Options{}), g.fresh()
		run, _, err := dataset.Begin(t.Context(), place(st, url), plan(), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			refused(t, work(t.Context(), place(st, url), plan(), force), dataset.ErrBusy, fmt.Sprint("process ", os.Getpid()))
		}
		if err := run.Checkpoint(t.Context(), dataset.Checkpoint{Pass: 1}); err != nil {
			t.Fatal(err)
		}
		run.Abort()
		if err := work(t.Context(), place(st, url), plan(), false); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAbortWithoutCheckpointLeavesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		st, url := store.New(store.Options{}), g.fresh()
		at := place(st, url)
		ctx, cancel := context.WithCancel(t.Context())
		run, was, err := dataset.Begin(ctx, at, plan(), false)
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{ctx: t.Context(), run: run, at: at, splits: was.Splits, share: mem.New(32 << 20)}
		if _, err := w.put("train/part-00000.parquet", []byte("x")); err != nil {
			t.Fatal(err)
		}
		cancel()
		run.Abort()
		run.Abort()
		if got := g.tree(url); got != "" && got != "./\n" {
			t.Errorf("left over:\n%s", got)
		}
		if used := at.Share.Used(); used != 0 {
			t.Errorf("%d bytes are under lease", used)
		}
	})
}

func TestClaimOfTheDeadIsTakenOver(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	srv := bucket(t)
	want := golden(t, srv)
	st := store.New(store.Options{})
	for name, at := range map[string]dataset.Place{
		"a process that is gone":        place(st, srv.fresh()).Died(gone.Process.Pid),
		"a number that another has now": place(st, srv.fresh()).Died(os.Getpid()),
		"silence from elsewhere":        place(st, srv.fresh()).Elsewhere().Silent(),
	} {
		run, _, err := dataset.Begin(t.Context(), at, plan(), false)
		if err != nil {
			t.Fatal(name, err)
		}
		next := place(st, at.URL)
		notes := 0
		next.Note = func(string) { notes++ }
		if err := work(t.Context(), next.Impatient(), plan(), false); err != nil {
			t.Fatal(name, err)
		}
		if waited := strings.Contains(name, "silence"); waited != (notes == 1) {
			t.Errorf("%s: %d notes", name, notes)
		}
		// The one that was held for dead finds out before it does harm.
		refused(t, run.Checkpoint(t.Context(), dataset.Checkpoint{Pass: 1, State: []byte("1")}), dataset.ErrLost)
		refused(t, run.Finish(t.Context(), dataset.Ending{Schema: schema}), dataset.ErrLost)
		run.Abort()
		if err := st.Remove(t.Context(), at.URL+"/_weir/state-000001"); err != nil {
			t.Fatal(err)
		}
		same(t, srv.tree(at.URL), want, name)
	}
}

func TestClaimFromElsewhereThatIsRenewedIsRespected(t *testing.T) {
	for _, g := range []ground{disk(t), bucket(t)} {
		st, url := store.New(store.Options{}), g.fresh()
		release, held, err := dataset.Claims(t.Context(), place(st, url).Elsewhere().Impatient())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = dataset.Claims(t.Context(), place(st, url).Impatient())
		refused(t, err, dataset.ErrBusy, "process 1 on elsewhere")
		if err := held(); err != nil {
			t.Error(err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if got := g.tree(url); strings.Contains(got, "hold") || strings.Contains(got, "want") {
			t.Errorf("left over:\n%s", got)
		}
	}
}

func TestOfManyThatBeginAtOnceAtMostOneHolds(t *testing.T) {
	g := bucket(t)
	st, url := store.New(store.Options{}), g.fresh()
	for range 5 {
		type claim struct {
			release func() error
			err     error
		}
		got := make(chan claim, 4)
		for range cap(got) {
			go func() {
				release, _, err := dataset.Claims(t.Context(), place(st, url).Impatient())
				got <- claim{release, err}
			}()
		}
		var holders []claim
		for range cap(got) {
			c := <-got
			if c.err == nil {
				holders = append(holders, c)
			} else {
				refused(t, c.err, dataset.ErrBusy)
			}
		}
		if len(holders) != 1 {
			t.Fatalf("%d hold the directory", len(holders))
		}
		if err := holders[0].release(); err != nil {
			t.Fatal(err)
		}
	}
}
