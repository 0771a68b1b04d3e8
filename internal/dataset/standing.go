package dataset

import (
	"context"
	"errors"
	"strings"

	"github.com/weir-data/weir/internal/store"
)

// Kinds of Standing.
const (
	Nothing    = "nothing"    // no dataset and no run
	Finished   = "finished"   // a dataset, or one that a run has begun to replace
	Unfinished = "unfinished" // a run of the same plan
	Another    = "another"    // a run of another plan, or one whose parts are not as it left them
)

// Standing is what lies in a directory, as Begin would find it.
type Standing struct {
	Kind string
	// Removes says that what lies there will be removed.
	Removes bool
	// Why says, of another run, what differs.
	Why string
	// Claimed names a process, elsewhere, that may still write there; "": none.
	// Begin finds out, which may take it a minute.
	Claimed string
	// Resumed is where the run would begin.
	Resumed Resumed

	run *Run
}

// State reads the state of the checkpoint in Resumed into p, which has
// Resumed.StateBytes bytes. The Place of Look must still be usable.
func (s *Standing) State(ctx context.Context, p []byte) error { return s.run.State(ctx, p) }

// Look says what Begin would find, and refuses as it would, but changes
// nothing and takes no lock: another process may change it at any moment.
func Look(ctx context.Context, at Place, plan Plan, force bool) (*Standing, error) {
	d, leave, err := at.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	plan.Recipe = strings.ToValidUTF8(plan.Recipe, "\uFFFD")
	r := &Run{d: d, ctx: ctx, plan: plan, head: plan.head(), splits: splitsOf(plan.Splits)}
	if err := plan.check(d.url); err != nil {
		return nil, err
	}
	c, err := d.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.refuse(c, force); err != nil {
		return nil, err
	}
	claimed, err := d.claimed(ctx, c.work)
	if err != nil {
		return nil, err
	}
	s, err := r.standing(ctx, c, force)
	if err != nil {
		return nil, err
	}
	s.Claimed, s.run = claimed, r
	return s, nil
}

// standing is what locked would do.
func (r *Run) standing(ctx context.Context, c contents, force bool) (*Standing, error) {
	fresh := func(kind string) *Standing {
		return &Standing{Kind: kind, Removes: kind != Nothing, Resumed: *r.fresh()}
	}
	_, replacing := r.d.find(c.work, replacedName)
	if manifest, ok := r.d.find(c.done, manifestName); ok {
		m, err := r.d.load(ctx, manifest, Visit{brief: true})
		switch {
		case err != nil:
			return nil, err
		case len(c.work) > 0 && !replacing && r.head.matches(m):
			return &Standing{Kind: Finished, Resumed: Resumed{Finished: true}}, nil
		case !force:
			return nil, r.d.finished()
		}
		return fresh(Finished), nil
	}
	o, begun := r.d.find(c.work, planName)
	switch {
	case replacing:
		return fresh(Finished), nil
	case !begun:
		return fresh(Nothing), nil
	}
	_, differs, err := r.d.readPlan(ctx, o, r.plan.Source, r.head)
	if err != nil {
		return nil, err
	}
	if differs == "" {
		was, err := r.resume(ctx, c.work, c.done)
		if err == nil {
			return &Standing{Kind: Unfinished, Resumed: *was}, nil
		}
		if !force || !errors.Is(err, ErrDiffers) {
			return nil, err
		}
		differs = err.Error()
		r.forget()
	} else if !force {
		return nil, r.differs(differs)
	}
	s := fresh(Another)
	s.Why = differs
	return s, nil
}

// claimed fails where a process of this machine holds the directory, and names
// one of another that may.
func (d *directory) claimed(ctx context.Context, work []store.Object) (maybe string, err error) {
	me := d.me()
	for _, o := range work {
		name := d.rel(o)
		if name != lockName && !strings.HasPrefix(name, holds) && !strings.HasPrefix(name, wants) {
			continue
		}
		by := d.claimant(ctx, o) // a lock's file says the same of its owner
		switch {
		case by.dead(me):
		case by.Machine != "" && by.Machine == me.Machine:
			return "", busy(d.url, by)
		default:
			maybe = by.String()
		}
	}
	return maybe, nil
}
