package dataset_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/store"
)

// TestLookSaysWhatBeginWouldFind: of each kind of directory, and changes
// nothing in it.
func TestLookSaysWhatBeginWouldFind(t *testing.T) {
	other := plan()
	other.Recipe += "more\n"
	done := func(t *testing.T, at dataset.Place) {
		if err := work(t.Context(), at, plan(), false); err != nil {
			t.Fatal(err)
		}
	}
	ended := func(t *testing.T, at dataset.Place) {
		run, _, err := dataset.Begin(t.Context(), at, plan(), false)
		if err != nil {
			t.Fatal(err)
		}
		run.Abort()
	}
	for name, c := range map[string]struct {
		make  func(*testing.T, dataset.Place)
		plan  dataset.Plan
		force bool
		kind  string
		drops bool
	}{
		"nothing":         {ended, plan(), false, dataset.Nothing, false},
		"the same run":    {begun, plan(), false, dataset.Unfinished, false},
		"the same, force": {begun, plan(), true, dataset.Unfinished, false},
		"another run":     {begun, other, true, dataset.Another, true},
		"a dataset":       {done, plan(), true, dataset.Finished, true},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, g ground) {
				st, url := store.New(store.Options{}), g.fresh()
				c.make(t, place(st, url))
				before, at := g.tree(url), place(st, url)
				got, err := dataset.Look(t.Context(), at, c.plan, c.force)
				if err != nil {
					t.Fatal(err)
				}
				if got.Kind != c.kind || got.Removes != c.drops || (got.Why != "") != (c.kind == dataset.Another) || got.Claimed != "" {
					t.Errorf("%+v", got)
				}
				if going := c.kind == dataset.Unfinished; got.Resumed.Going != going {
					t.Errorf("%+v", got.Resumed)
				} else if going {
					state := make([]byte, got.Resumed.StateBytes)
					if err := got.State(t.Context(), state); err != nil || len(state) == 0 || state[0] == 0 {
						t.Errorf("state %q: %v", state, err)
					}
				}
				if now := g.tree(url); now != before {
					t.Errorf("now there is\n%s", now)
				}
				if used := at.Share.Used(); used != 0 {
					t.Errorf("%d bytes are under lease", used)
				}
			})
		})
	}
}

// TestLookRefusesAsBeginDoes: in the same words.
func TestLookRefusesAsBeginDoes(t *testing.T) {
	g := disk(t)
	st := store.New(store.Options{})
	finished, unfinished, foreign := g.fresh(), g.fresh(), g.fresh()
	if err := work(t.Context(), place(st, finished), plan(), false); err != nil {
		t.Fatal(err)
	}
	begun(t, place(st, unfinished))
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign+"/notes.txt", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, bad := plan(), plan()
	changed.Source[0].Size++
	bad.Splits = []string{"../x"}
	for name, c := range map[string]struct {
		url  string
		plan dataset.Plan
	}{
		"finished": {finished, plan()}, "foreign": {foreign, plan()}, "changed": {unfinished, changed}, "a bad name": {g.fresh(), bad},
		"no directory": {"/", plan()},
	} {
		_, looked := dataset.Look(t.Context(), place(st, c.url), c.plan, false)
		_, _, began := dataset.Begin(t.Context(), place(st, c.url), c.plan, false)
		if looked == nil || began == nil || looked.Error() != began.Error() {
			t.Errorf("%s: Look says %v, Begin %v", name, looked, began)
		}
	}
}

func TestLookSeesWhoWritesThere(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	everywhere(t, func(t *testing.T, g ground) {
		st := store.New(store.Options{})
		look := func(at dataset.Place) (string, error) {
			run, _, err := dataset.Begin(t.Context(), at, plan(), false)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Abort()
			got, err := dataset.Look(context.WithoutCancel(t.Context()), place(st, at.URL), plan(), false)
			if err != nil {
				return "", err
			}
			return got.Claimed, nil
		}
		_, err := look(place(st, g.fresh()))
		refused(t, err, dataset.ErrBusy, "writes there")
		if who, err := look(place(st, g.fresh()).Died(gone.Process.Pid)); who != "" || err != nil {
			t.Errorf("dead: %q, %v", who, err)
		}
		if who, err := look(place(st, g.fresh()).Elsewhere()); who != "process 1 on elsewhere" || err != nil {
			t.Errorf("elsewhere: %q, %v", who, err)
		}
	})
}
