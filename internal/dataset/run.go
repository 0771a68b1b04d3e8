package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// endTime bounds the tidying after a run whose context has ended.
const endTime = 30 * time.Second

// Run is a dataset being written. It is not safe for concurrent use. Finish or
// Abort ends it.
type Run struct {
	d     *directory
	leave func()
	lock  lock
	ctx   context.Context
	plan  Plan
	head  planHead
	left  bool // there was a run before that was ended early

	step     int64    // of the newest journal, whole or not
	kept     []record // journals that are there and whole, oldest first
	splits   []Split  // sums of all parts so far
	segments int64    // full ones that were written
	tail     []NewPart
	arrays   []Part // that were given to Checkpoint
	over     bool
}

// Resumed is where a run begins.
type Resumed struct {
	// Finished says that the same plan has been carried out already and was
	// only not tidied up, which is done now: there is no Run.
	Finished bool
	// Going says that there was a checkpoint: Pass and Cursor are its own.
	Going  bool
	Pass   int
	Cursor stream.Cursor
	// StateBytes is the length of the checkpoint's state, for Run.State; -1:
	// there is none.
	StateBytes int64
	Splits     []Split // their parts so far: the next part's number is Parts
	Arrays     []Part  // those of Plan.Arrays that are done
}

// Checkpoint makes c the moment from which a killed run goes on. After an error
// only Abort is of use: the checkpoint before, or this one, will be found.
func (r *Run) Checkpoint(ctx context.Context, c Checkpoint) error {
	if r.over {
		return bug(r.d.url, "a checkpoint after the end")
	}
	for _, p := range c.Parts {
		if p.Split < 0 || p.Split >= len(r.splits) {
			return bug(r.d.url, "a part of split %d, there are %d", p.Split, len(r.splits))
		}
		if err := r.splits[p.Split].add(p.Part); err != nil {
			return bug(r.d.url, "split %q: %w", r.splits[p.Split].Name, err)
		}
		if r.tail = append(r.tail, p); len(r.tail) == segmentParts {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	for _, a := range c.Arrays {
		if r.arrays = append(r.arrays, a); !r.planned(r.arrays) {
			return bug(r.d.url, "array %q is not the next of the plan", a.Name)
		}
	}
	r.step++
	rec := record{Plan: r.head.id(), Step: r.step, Pass: c.Pass, Cursor: c.Cursor, Segments: r.segments, Splits: sumsOf(r.splits), Tail: r.tail, Arrays: r.arrays}
	if len(r.kept) > 0 {
		rec.State = r.kept[len(r.kept)-1].State
	}
	if c.State != nil {
		rec.State = r.step
		err := r.d.putSealed(ctx, stateName(r.step), func(w io.Writer) error {
			_, err := w.Write(c.State)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := r.lock.held(ctx); err != nil {
		return err
	}
	err := r.d.putSealed(ctx, journalName(r.step), func(w io.Writer) error { return writeJSON(w, rec) })
	if err != nil {
		return err
	}
	rec.Tail = nil
	r.kept = append(r.kept, rec)
	return r.prune(ctx)
}

// planned says that arrays are the first of the plan's.
func (r *Run) planned(arrays []Part) bool {
	for i, a := range arrays {
		if i == len(r.plan.Arrays) || r.plan.Arrays[i] != a.Name || a.checkSums() != nil {
			return false
		}
	}
	return true
}

// flush writes a full segment.
func (r *Run) flush(ctx context.Context) error {
	err := r.d.putSealed(ctx, segmentName(r.segments), func(w io.Writer) error { return writeJSON(w, r.tail) })
	if err != nil {
		return err
	}
	r.segments++
	r.tail = r.tail[:0]
	return nil
}

// prune keeps the last two journals and their states.
func (r *Run) prune(ctx context.Context) error {
	for len(r.kept) > 2 {
		old := r.kept[0]
		if err := r.d.remove(ctx, journalName(old.Step)); err != nil {
			return err
		}
		if r.kept = r.kept[1:]; old.State != 0 && old.State != r.kept[0].State {
			if err := r.d.remove(ctx, stateName(old.State)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Splits are the sums over all parts that were given to Checkpoint.
func (r *Run) Splits() []Split { return slices.Clone(r.splits) }

// Parts hands over the parts that were given to Checkpoint, each split's in
// order.
func (r *Run) Parts(ctx context.Context, take func(split int, p Part) error) error {
	work, err := r.d.list(ctx, workDir)
	if err != nil {
		return err
	}
	return r.eachPart(ctx, work, func(p NewPart) error { return take(p.Split, p.Part) })
}

// Ending is what is known when all parts are written.
type Ending struct {
	Schema *arrow.Schema
	Params json.RawMessage // nil: none
	Arrays []Array         // those of Plan.Arrays, as they were given to Checkpoint
}

// Finish writes the manifest, which makes the dataset whole, and removes what
// the run needed. All parts and arrays must have been given to Checkpoint. When it fails
// or is killed, the same plan's Begin goes on, or finds that all is done.
func (r *Run) Finish(ctx context.Context, e Ending) error {
	if r.over {
		return bug(r.d.url, "a finish after the end")
	}
	m := &Manifest{CreatedBy: r.plan.CreatedBy, Seed: r.plan.Seed, Recipe: r.plan.Recipe, Schema: e.Schema,
		Splits: r.splits, Arrays: e.Arrays, Params: e.Params, SourceDigest: r.head.Source}
	if err := m.check(r.d.url); err != nil {
		return err
	}
	if err := r.lock.held(ctx); err != nil {
		return err
	}
	same := func(a Array, p Part) bool { return a.Part == p }
	if len(r.arrays) != len(r.plan.Arrays) || !slices.EqualFunc(e.Arrays, r.arrays, same) {
		return bug(r.d.url, "%d arrays instead of the %d that were planned, or others", len(e.Arrays), len(r.plan.Arrays))
	}
	work, err := r.d.list(ctx, workDir)
	if err != nil {
		return err
	}
	parts := func(split int, take func(Part) error) error {
		return r.eachPart(ctx, work, func(p NewPart) error {
			if p.Split != split {
				return nil
			}
			return take(p.Part)
		})
	}
	err = r.d.put(ctx, manifestName, func(w io.Writer) error { return m.write(w, parts, r.plan.Source) })
	if err != nil {
		return err
	}
	if err := r.end(ctx); err != nil {
		return fmt.Errorf("the dataset is complete; the run's own files are not all removed: %w", err)
	}
	return nil
}

// end removes the working files and gives the lock up.
func (r *Run) end(ctx context.Context) error {
	if r.over {
		return nil
	}
	r.over = true
	defer r.leave()
	defer r.lock.drop()
	if err := r.d.tidy(ctx, r.lock.name()); err != nil {
		return err
	}
	// What a killed process had sent the service may have carried out after
	// the sweep at the beginning.
	if r.left && r.d.remote() {
		if err := r.d.sweep(ctx); err != nil {
			return err
		}
	}
	if err := r.lock.release(ctx); err != nil {
		return err
	}
	return r.d.removeDir(ctx, workDir)
}

// tidy removes all working files but one.
func (d *directory) tidy(ctx context.Context, but string) error {
	work, err := d.list(ctx, workDir)
	if err != nil {
		return err
	}
	return d.removeAll(ctx, work, func(name string) bool { return name != but })
}

func (d *directory) removeAll(ctx context.Context, list []store.Object, which func(name string) bool) error {
	for _, o := range list {
		if which(d.rel(o)) {
			if err := d.Store.Remove(ctx, o.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

// Abort ends the run before its end and lets others in. What was written up to
// the last checkpoint stays, for the same plan to go on with; where there is
// none, nothing stays. After Finish it does nothing. What it cannot do the next
// Begin does.
func (r *Run) Abort() {
	if r.over {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), endTime)
	defer cancel()
	if len(r.kept) == 0 && r.lock.held(ctx) == nil {
		if err := r.d.discard(ctx, r.head); err == nil {
			r.end(ctx)
		}
	}
	if r.over {
		return
	}
	r.over = true
	r.lock.release(ctx)
	r.leave()
}
