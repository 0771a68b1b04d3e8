package dataset

import (
	"context"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/store"
)

// depose makes a finished dataset one that is to be removed: its manifest, which
// says what belongs to it, is kept among the working files. From then on it is
// removed by whoever comes next, however often that is killed.
func (d *directory) depose(ctx context.Context, manifest store.Object, work []store.Object) (store.Object, error) {
	// What an earlier run left must not be taken for this one's.
	stale := func(name string) bool {
		return !strings.HasPrefix(name, wants) && !strings.HasPrefix(name, holds) && name != lockName
	}
	if err := d.removeAll(ctx, work, stale); err != nil {
		return store.Object{}, err
	}
	if err := d.copyObject(ctx, manifest, replacedName); err != nil {
		return store.Object{}, err
	}
	if err := d.remove(ctx, manifestName); err != nil {
		return store.Object{}, err
	}
	return d.object(ctx, replacedName)
}

// clear removes what a deposed manifest names, and nothing else.
func (d *directory) clear(ctx context.Context, old store.Object) error {
	m, err := d.load(ctx, old, Visit{brief: true}) // nothing is removed in the name of a damaged one
	if err != nil {
		return err
	}
	_, err = d.load(ctx, old, Visit{brief: true, Part: func(s Split, p Part) error {
		return d.remove(ctx, s.Prefix+p.Name)
	}})
	if err != nil {
		return err
	}
	for _, a := range m.Arrays {
		if err := d.remove(ctx, a.Name); err != nil {
			return err
		}
	}
	return d.removeSplits(ctx, names(m.Splits))
}

// discard removes an unfinished run's work, all but its plan: first the
// journals, so that none stands for parts that are gone.
func (d *directory) discard(ctx context.Context, was planHead) error {
	c, err := d.look(ctx)
	if err != nil {
		return err
	}
	journal := func(name string) bool { return strings.HasPrefix(name, journals) }
	if err := d.removeAll(ctx, c.work, journal); err != nil {
		return err
	}
	if err := d.sweep(ctx); err != nil {
		return err
	}
	written := func(name string) bool {
		dir, part, inside := strings.Cut(name, "/")
		if !inside {
			return slices.Contains(was.Arrays, name)
		}
		_, ok := partNumber(part)
		return ok && slices.Contains(was.Splits, dir)
	}
	if err := d.removeAll(ctx, c.done, written); err != nil {
		return err
	}
	rest := func(name string) bool { return strings.HasPrefix(name, segments) || strings.HasPrefix(name, states) }
	if err := d.removeAll(ctx, c.work, rest); err != nil {
		return err
	}
	return d.removeSplits(ctx, was.Splits)
}

// removeSplits takes the splits' directories away, as far as they are empty.
func (d *directory) removeSplits(ctx context.Context, names []string) error {
	for _, n := range names {
		if err := d.removeDir(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what outputs left that a killed process did not end.
func (d *directory) sweep(ctx context.Context) error { return d.Store.Sweep(ctx, d.url) }
