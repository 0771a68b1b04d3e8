package prepare

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/stage/profile"
	"github.com/weir-data/weir/internal/stage/scale"
)

const (
	mostShapes = 6  // columns whose shape is worth a picture
	shapeBars  = 40 // of a picture
	lookings   = 6  // a writer's, those of results that wait, that of all
)

// Look is what the columns looked like before and after. What is nil is not
// known: nobody asked, or a run before had begun without counting it.
type Look struct {
	In, Out *arrow.Schema
	Sources []int // the column of In that each column of Out is made of
	// Train and All are what was written: to the split that was fitted on, and
	// to all.
	Train, All []profile.Column
	// Before and After are shapes of a few columns of the split that was
	// fitted on, the same columns in both.
	Before, After []profile.Histogram
}

// looking counts what the second pass writes. A nil one counts nothing.
type looking struct {
	train         int
	lanes         []*profile.Profile
	before, after *profile.Shapes // nil: not asked for
}

// lookCost is the bytes of a looking on the Go heap, its saved state included.
func (w *work) lookCost(out *arrow.Schema) int64 {
	cost := int64(len(w.assign.Names())) * profile.Cost(out)
	if w.Shapes {
		cost += 2 * profile.ShapesCost(mostShapes)
	}
	return cost * lookings
}

// lookState is a looking in a checkpoint.
type lookState struct {
	Lanes  [][]byte `json:"lanes"`
	Before []byte   `json:"before,omitempty"`
	After  []byte   `json:"after,omitempty"`
}

// newLooking begins to count, or goes on with what the state has. Where rows
// were written uncounted there is nothing to go on with, and it is nil.
func (w *work) newLooking(out *arrow.Schema) (*looking, error) {
	begins := !slices.ContainsFunc(w.from.Splits, func(s dataset.Split) bool { return s.Parts > 0 })
	saved := w.state.Look
	if !begins && (saved == nil || len(saved.Lanes) != len(w.from.Splits)) {
		return nil, nil
	}
	l := w.emptyLooking(out, w.Shapes && (begins || saved.Before != nil))
	if begins {
		return l, nil
	}
	for i, p := range l.lanes {
		if err := p.Restore(saved.Lanes[i]); err != nil {
			return nil, err
		}
	}
	if l.before == nil {
		return l, nil
	}
	if err := l.before.Restore(saved.Before); err != nil {
		return nil, err
	}
	return l, l.after.Restore(saved.After)
}

// emptyLooking has seen nothing.
func (w *work) emptyLooking(out *arrow.Schema, shapes bool) *looking {
	l := &looking{train: w.train}
	for range w.assign.Names() {
		l.lanes = append(l.lanes, profile.New(out))
	}
	if shapes {
		columns := shapely(w.params, w.reading.Schema(), out)
		l.before, l.after = profile.NewShapes(w.reading.Schema(), columns), profile.NewShapes(out, columns)
	}
	return l
}

// another is one for a part of the rows, which merge brings together.
func (w *work) another(out *arrow.Schema) *looking {
	if w.look == nil {
		return nil
	}
	return w.emptyLooking(out, w.look.before != nil)
}

// merge adds what another has seen.
func (l *looking) merge(o *looking) {
	if l == nil {
		return
	}
	for i, p := range l.lanes {
		p.Merge(o.lanes[i])
	}
	if l.before != nil {
		l.before.Merge(o.before)
		l.after.Merge(o.after)
	}
}

// state is what a checkpoint keeps.
func (l *looking) state() *lookState {
	if l == nil {
		return nil
	}
	s := new(lookState)
	for _, p := range l.lanes {
		s.Lanes = append(s.Lanes, p.Append(nil))
	}
	if l.before != nil {
		s.Before, s.After = l.before.Append(nil), l.after.Append(nil)
	}
	return s
}

// read takes note of rows, before they are transformed, of the split that was
// fitted on.
func (l *looking) read(rec arrow.RecordBatch, rows []int32) {
	if l != nil && l.before != nil {
		l.before.Add(rec, rows)
	}
}

// wrote takes note of rows of a lane as they are written.
func (l *looking) wrote(lane int, rec arrow.RecordBatch) {
	if l == nil {
		return
	}
	l.lanes[lane].Add(rec, nil)
	if l.after != nil && lane == l.train {
		l.after.Add(rec, nil)
	}
}

// looked is what was seen.
func (w *work) looked(out *arrow.Schema) Look {
	l := w.look
	look := Look{In: w.reading.Schema(), Out: out, Sources: w.design.Sources(w.params)}
	if l == nil {
		return look
	}
	look.Train = l.lanes[l.train].Columns()
	all := profile.New(out)
	for _, p := range l.lanes {
		all.Merge(p)
	}
	look.All = all.Columns()
	if l.before != nil {
		look.Before, look.After = l.before.Histograms(shapeBars), l.after.Histograms(shapeBars)
	}
	return look
}

// shapely are the columns whose shapes are shown: numbers before and after, of
// different rules as far as there are some.
func shapely(p *scale.Params, in, out *arrow.Schema) []string {
	var first, more []string
	var rules []string
	for i := range p.Columns {
		c := &p.Columns[i]
		rule := c.Impute + " " + c.Scale
		if c.Encode != "" || rule == " " || c.Count == 0 || !numberIn(in, c.Name) || !numberIn(out, c.Name) {
			continue
		}
		if slices.Contains(rules, rule) {
			more = append(more, c.Name)
			continue
		}
		rules = append(rules, rule)
		first = append(first, c.Name)
	}
	list := append(first, more...)
	return list[:min(len(list), mostShapes)]
}

func numberIn(s *arrow.Schema, name string) bool {
	at := s.FieldIndices(name)
	return len(at) == 1 && profile.Numeric(s.Field(at[0]).Type)
}
