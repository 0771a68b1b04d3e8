package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Checkpoint is a moment from which a run can go on: all that was read before
// Cursor is in State or in parts that are committed, and nothing after it is.
type Checkpoint struct {
	Pass   int           // the caller's number for what it is doing
	Cursor stream.Cursor // where reading goes on
	State  []byte        // what else the caller needs; nil: as it was at the checkpoint before
	Parts  []NewPart     // committed since the checkpoint before; each split's in order
	Arrays []Part        // committed since then, in the order of the plan
}

// NewPart is a part that was committed.
type NewPart struct {
	Split int `json:"split"` // index in Plan.Splits
	Part
}

// Parts are journalled in segments of a fixed number, so that a checkpoint's
// size does not grow with the run: full ones are written once, the rest stands
// in the journal.
const (
	segmentParts = 1024
	mostSegment  = room / 2 // bytes of its object
	journals     = workDir + "journal-"
	segments     = workDir + "parts-"
	states       = workDir + "state-"
)

func journalName(step int64) string { return fmt.Sprintf("%s%06d.json", journals, step) }
func segmentName(n int64) string    { return fmt.Sprintf("%s%06d.json", segments, n) }
func stateName(step int64) string   { return fmt.Sprintf("%s%06d", states, step) }

// record is a journal's object.
type record struct {
	Plan     string        `json:"plan"`
	Step     int64         `json:"step"`
	Pass     int           `json:"pass"`
	Cursor   stream.Cursor `json:"cursor"`
	State    int64         `json:"state"` // the step whose state is the last; 0: none
	Segments int64         `json:"segments"`
	Splits   []sums        `json:"splits"`
	Tail     []NewPart     `json:"tail"`
	Arrays   []Part        `json:"arrays"`
}

// sums are those over a split's parts.
type sums struct {
	Parts int64 `json:"parts"`
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

func sumsOf(splits []Split) []sums {
	out := make([]sums, len(splits))
	for i, s := range splits {
		out[i] = sums{Parts: s.Parts, Rows: s.Rows, Bytes: s.Bytes}
	}
	return out
}

// stepOf is the number in the name of a journal or a state; 0 for other objects.
func stepOf(name, prefix, suffix string) int64 {
	var n int64
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0
	}
	if _, err := fmt.Sscanf(rest, "%d"+suffix, &n); err != nil || n < 1 || fmt.Sprintf("%s%06d%s", prefix, n, suffix) != name {
		return 0
	}
	return n
}

// resume reads the newest journal that is whole, with all that it stands on.
// None: the run is at its beginning. Work is the listing of the directory's
// working files; done that of its parts.
func (r *Run) resume(ctx context.Context, work, done []store.Object) (*Resumed, error) {
	var steps []int64
	for _, o := range work {
		if n := stepOf(r.d.rel(o), journals, ".json"); n > 0 {
			steps = append(steps, n)
			r.step = max(r.step, n)
		}
	}
	slices.Sort(steps)
	for _, step := range slices.Backward(steps) {
		o, _ := r.d.find(work, journalName(step))
		was, err := r.restore(ctx, o, work, done)
		if err == nil {
			return was, nil
		}
		if !errors.Is(err, format.ErrData) {
			return nil, err
		}
		r.forget()
	}
	return r.fresh(), nil
}

// fresh is the beginning of a run without a checkpoint.
func (r *Run) fresh() *Resumed { return &Resumed{StateBytes: -1, Splits: slices.Clone(r.splits)} }

// forget puts parts and arrays back to none.
func (r *Run) forget() {
	r.splits, r.segments, r.tail, r.arrays = splitsOf(r.plan.Splits), 0, r.tail[:0], nil
}

// restore reads one journal. One that is damaged, or whose segments or state
// are, is ErrData.
func (r *Run) restore(ctx context.Context, o store.Object, work, done []store.Object) (*Resumed, error) {
	var rec record
	if err := r.d.getSealed(ctx, o, mostSegment, &rec); err != nil {
		return nil, err
	}
	if rec.Plan != r.head.id() || len(rec.Splits) != len(r.splits) || o.URL != r.d.url+journalName(rec.Step) || rec.Segments < 0 || len(rec.Tail) >= segmentParts || !r.planned(rec.Arrays) {
		return nil, damaged(o.URL, "not a journal of this run")
	}
	r.segments, r.tail, r.arrays = rec.Segments, rec.Tail, rec.Arrays
	splits := splitsOf(r.plan.Splits)
	err := r.eachPart(ctx, work, func(p NewPart) error {
		if p.Split < 0 || p.Split >= len(splits) {
			return damaged(o.URL, "a part of split %d, there are %d", p.Split, len(splits))
		}
		if err := splits[p.Split].add(p.Part); err != nil {
			return damaged(o.URL, "%w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !slices.Equal(sumsOf(splits), rec.Splits) {
		return nil, damaged(o.URL, "its sums are not those of its parts")
	}
	state, err := r.stateBytes(ctx, rec, work)
	if err != nil {
		return nil, err
	}
	if err := r.present(ctx, work, done, splits); err != nil {
		return nil, err
	}
	r.splits = splits
	rec.Tail = nil
	r.kept = []record{rec}
	return &Resumed{Going: true, Pass: rec.Pass, Cursor: rec.Cursor, StateBytes: state, Splits: slices.Clone(splits), Arrays: slices.Clone(r.arrays)}, nil
}

// State reads the state of the checkpoint that the run goes on from into p,
// which has Resumed.StateBytes bytes. It is there until the next Checkpoint.
func (r *Run) State(ctx context.Context, p []byte) error {
	if len(r.kept) != 1 || r.kept[0].State == 0 {
		return bug(r.d.url, "a state was asked for where there is none")
	}
	o, err := r.d.object(ctx, stateName(r.kept[0].State))
	if err != nil {
		return err
	}
	if o.Size != int64(len(p)+sealBytes) {
		return bug(o.URL, "%d bytes for a state of %d", len(p), o.Size-int64(sealBytes))
	}
	return r.d.readSealed(ctx, o, func(in io.Reader) error {
		_, err := io.ReadFull(in, p)
		return err
	})
}

// stateBytes is the size of a journal's state once that was found whole; -1:
// it has none.
func (r *Run) stateBytes(ctx context.Context, rec record, work []store.Object) (int64, error) {
	if rec.State == 0 {
		return -1, nil
	}
	name := stateName(rec.State)
	o, ok := r.d.find(work, name)
	if !ok {
		return 0, damaged(r.d.url+name, "missing")
	}
	return o.Size - int64(sealBytes), r.d.readSealed(ctx, o, func(io.Reader) error { return nil })
}

// eachPart hands over all parts in the order of their checkpoints.
func (r *Run) eachPart(ctx context.Context, work []store.Object, take func(NewPart) error) error {
	for n := range r.segments {
		o, ok := r.d.find(work, segmentName(n))
		if !ok {
			return damaged(r.d.url+segmentName(n), "missing")
		}
		var seg []NewPart
		if err := r.d.getSealed(ctx, o, mostSegment, &seg); err != nil {
			return err
		}
		if len(seg) != segmentParts {
			return damaged(o.URL, "%d parts instead of %d", len(seg), segmentParts)
		}
		for _, p := range seg {
			if err := take(p); err != nil {
				return err
			}
		}
	}
	for _, p := range r.tail {
		if err := take(p); err != nil {
			return err
		}
	}
	return nil
}

// present looks whether every part and array of the journal lies there with its
// size. One that does not was taken away by somebody: no journal before would
// mend that.
func (r *Run) present(ctx context.Context, work, done []store.Object, splits []Split) error {
	look := func(prefix string, p Part) error {
		name := prefix + p.Name
		o, ok := r.d.find(done, name)
		if ok && o.Size == p.Bytes {
			return nil
		}
		what := "is missing"
		if ok {
			what = fmt.Sprintf("has %d bytes instead of %d", o.Size, p.Bytes)
		}
		return refuse(ErrDiffers, "%s: %s %s, which an unfinished run has written; --force begins anew", r.d.url, name, what)
	}
	for _, a := range r.arrays {
		if err := look("", a); err != nil {
			return err
		}
	}
	return r.eachPart(ctx, work, func(p NewPart) error { return look(splits[p.Split].Prefix, p.Part) })
}

// orphans removes the parts and arrays that no checkpoint knows.
func (r *Run) orphans(ctx context.Context, done []store.Object) error {
	return r.d.removeAll(ctx, done, func(rel string) bool {
		dir, name, inside := strings.Cut(rel, "/")
		if !inside {
			return slices.Index(r.plan.Arrays, rel) >= len(r.arrays)
		}
		i := slices.IndexFunc(r.splits, func(s Split) bool { return s.Name == dir })
		n, ok := partNumber(name)
		return i >= 0 && ok && n >= r.splits[i].Parts
	})
}
