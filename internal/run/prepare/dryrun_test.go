package prepare_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
)

// planned is a plan that was made without a change and without reading rows.
func planned(t *testing.T, c prepare.Config) (prepare.Planned, error) {
	t.Helper()
	c.Store = datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: func(name string) error {
		if changes(name) {
			t.Errorf("a plan does %q", name)
		}
		return nil
	}}
	at := 0
	c.Run.Formats = nil
	for _, f := range formats() {
		c.Run.Formats = append(c.Run.Formats, cut(f, &at, errors.New("rows were read")))
	}
	p, err := prepare.Plan(t.Context(), c)
	runtest.Empty(t, c.Run.Budget)
	return p, err
}

func TestAPlanIsWhatARunDoes(t *testing.T) {
	raw := source(t, 2)
	for _, in := range []string{raw, toParquet(t, raw)} {
		c := config(in, t.TempDir()+"/out")
		c.Npy = true
		p, err := planned(t, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.Out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is something: %v", err)
		}
		if p.Found.Kind != dataset.Nothing || len(p.Passes) != 3 || len(p.Arrays) != 6 || p.Group != 1<<20 || p.PerPart != 200<<10 {
			t.Errorf("%+v", p)
		}
		for _, pass := range p.Passes[:2] {
			if m := pass.Memory; pass.Done || m.Read < m.ReadLeast || m.Work < m.WorkLeast || m.WorkLeast <= 0 ||
				int64(m.Side)*(m.Read+m.Work)+m.Heap+p.Directory > c.Run.Budget.Limit() {
				t.Errorf("%+v", pass)
			}
		}
		rep, err := prepare.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range rep.Splits {
			about := p.Splits[i]
			if about.Name != s.Name || about.Parts < s.Parts/2 || about.Parts > 2*s.Parts {
				t.Errorf("%+v, planned %+v", s, about)
			}
			if rows := about.Rows; rows >= 0 && (rows < s.Rows*8/10 || rows > s.Rows*12/10) {
				t.Errorf("%d rows, planned %d", s.Rows, rows)
			}
		}
	}
}

// TestAPlanRefusesAsARunDoes: whatever the memory, with the same words.
func TestAPlanRefusesAsARunDoes(t *testing.T) {
	raw := source(t, 1)
	refused, worked := 0, 0
	for _, in := range []string{raw, toParquet(t, raw)} {
		for _, budget := range []int64{1, 2, 4, 8, 12, 16, 24, 32, 48, 64} {
			c := config(in, fmt.Sprintf("%s/%d", t.TempDir(), budget))
			c.Npy = budget%8 == 0
			c.Run.Budget, c.Run.Memory = mem.New(budget<<20), run.Base+budget<<20
			_, would := planned(t, c)
			_, does := prepare.Run(t.Context(), c)
			switch {
			case (would == nil) != (does == nil) || would != nil && would.Error() != does.Error():
				t.Errorf("%d MiB: a plan says %v, a run %v", budget, would, does)
			case would == nil:
				worked++
			default:
				refused++
			}
		}
	}
	if refused < 4 || worked < 4 {
		t.Errorf("%d refused, %d worked: the test sees too little", refused, worked)
	}
	c := config(raw, t.TempDir()+"/out")
	prepared(t, c)
	_, would := planned(t, c)
	_, does := prepare.Run(t.Context(), c)
	if would == nil || does == nil || would.Error() != does.Error() {
		t.Errorf("of a finished dataset a plan says %v, a run %v", would, does)
	}
	c.Force = true
	if p, err := planned(t, c); err != nil || p.Found.Kind != dataset.Finished || !p.Found.Removes {
		t.Errorf("%+v, %v", p.Found, err)
	}
}

// TestAPlanSaysWhatIsLeft: of a run that was ended in each of its passes.
func TestAPlanSaysWhatIsLeft(t *testing.T) {
	c := config(source(t, 2), t.TempDir()+"/out")
	c.Run.Options.BatchRows = 500
	c.Every = 1
	c.Npy = true
	seen := map[int]bool{}
	left := int64(1 << 30)
	for n := 1; ; n += 2 {
		at := n
		broken := c
		broken.Run.Formats = []format.Format{cut(csv.Format(), &at, errors.New("gone")), formats()[0]}
		_, err := prepare.Run(t.Context(), broken)
		if err == nil {
			break
		}
		p, err := planned(t, c)
		if err != nil {
			t.Fatal(err)
		}
		fit, write := p.Passes[0], p.Passes[1]
		switch {
		case p.Found.Kind == dataset.Nothing:
			seen[0] = true
		case !fit.Done:
			seen[1] = true
		case write.Left < write.Tasks:
			seen[2] = true
			if write.Left > left || p.Group != 1<<20 || write.AtLeast {
				t.Errorf("%d tasks left after %d: %+v", write.Left, left, write)
			}
			left = write.Left
		}
	}
	if !seen[1] || !seen[2] {
		t.Errorf("passes seen: %v", seen)
	}
}
