package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// Plan is all that decides which bytes a run writes. A run goes on with the
// work of another only if their plans are the same.
type Plan struct {
	CreatedBy string         // program and version
	Recipe    string         // in full, in one spelling; without what changes no output (memory, threads)
	Seed      uint64         // of all that is random
	Source    []store.Object // in the order in which it is read
	Splits    []string       // their names, in order
	Arrays    []string       // names of the arrays, in the order in which they are written
}

// planHead is the first line of the plan's file; the source follows, an object
// a line.
type planHead struct {
	Version   int      `json:"version"`
	CreatedBy string   `json:"created_by"`
	Recipe    string   `json:"recipe"`
	Seed      uint64   `json:"seed"`
	Splits    []string `json:"splits"`
	Arrays    []string `json:"arrays"`
	Source    string   `json:"source"`  // digest
	Objects   int64    `json:"objects"` // number
}

func (p Plan) head() planHead {
	return planHead{Version: manifestVersion, CreatedBy: p.CreatedBy, Recipe: p.Recipe, Seed: p.Seed,
		Splits: append([]string{}, p.Splits...), Arrays: append([]string{}, p.Arrays...), Source: SourceDigest(p.Source), Objects: int64(len(p.Source))}
}

// check says whether names can be those of splits and arrays.
func (p Plan) check(url string) error {
	err := checkNames("split", p.Splits, mostSplits)
	if err == nil && len(p.Arrays) > mostArrays {
		err = fmt.Errorf("%d arrays, at most %d can be", len(p.Arrays), mostArrays)
	}
	if err == nil {
		err = checkNames("array", slices.Concat(p.Splits, p.Arrays), mostSplits+mostArrays)
	}
	if err != nil {
		return format.Error(format.ErrUsage, "%s: %w", url, err)
	}
	return nil
}

// id is what journals know their plan by.
func (h planHead) id() string {
	sum := newHasher()
	writeJSON(sum, h) // a hash takes everything
	return sum.String()
}

func (d *directory) writePlan(ctx context.Context, source []store.Object, head planHead) error {
	return d.putSealed(ctx, planName, func(w io.Writer) error {
		if err := writeJSON(w, head); err != nil {
			return err
		}
		for _, o := range source {
			if err := writeJSON(w, asListed(o)); err != nil {
				return err
			}
		}
		return nil
	})
}

// readPlan returns what the run in d was begun with, and in words what differs
// from now, if something does.
func (d *directory) readPlan(ctx context.Context, o store.Object, source []store.Object, now planHead) (was planHead, differs string, err error) {
	err = d.readSealed(ctx, o, func(r io.Reader) error {
		j := newJSONReader(o.URL, r, d.Share)
		defer j.close()
		if err := j.value(&was); err != nil {
			return err
		}
		if err := (Plan{Splits: was.Splits, Arrays: was.Arrays}).check(o.URL); err != nil || was.Version != manifestVersion {
			return damaged(o.URL, "not a plan of this weir")
		}
		next := func() (l listed, err error) {
			if !j.d.More() && j.in.err == nil {
				return l, io.EOF
			}
			err = j.value(&l)
			return l, err
		}
		differs, err = now.differs(was, source, next)
		return err
	})
	return was, differs, err
}

// differs compares with what was, whose source comes from next.
func (h planHead) differs(was planHead, source []store.Object, next func() (listed, error)) (string, error) {
	switch {
	case was.CreatedBy != h.CreatedBy:
		return fmt.Sprintf("it was begun by %s, this is %s", was.CreatedBy, h.CreatedBy), nil
	case was.Source != h.Source:
		text, err := compareSource(next, source)
		return "the source has changed: " + text, err
	case was.Recipe != h.Recipe:
		return "it was begun with another recipe: " + firstDifference(was.Recipe, h.Recipe), nil
	case was.id() != h.id():
		return "it was begun with another seed, other splits or other arrays", nil
	}
	return "", nil
}

// matches says whether a finished dataset is what the plan would make.
func (h planHead) matches(m *Manifest) bool {
	return m.CreatedBy == h.CreatedBy && m.Recipe == h.Recipe && m.Seed == h.Seed &&
		m.SourceDigest == h.Source && slices.Equal(names(m.Splits), h.Splits)
}
