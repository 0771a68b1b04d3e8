package dataset

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/store"
)

// Begin takes a directory for a run: an empty one, or one in which a run of the
// same plan was ended early, which is gone on with. Nothing of another's is
// touched:
//   - a finished dataset is ErrFinished, unless force is given: then it is
//     removed first
//   - files that weir did not write are ErrForeign, with force too
//   - a run that another live process has under way is ErrBusy, with force too
//   - an unfinished run of another plan (another recipe or version, a source
//     that has changed) is ErrDiffers and says what differs; with force it is
//     removed first
//
// The Run is nil where Resumed says Finished.
func Begin(ctx context.Context, at Place, plan Plan, force bool) (*Run, *Resumed, error) {
	d, leave, err := at.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	plan.Recipe = strings.ToValidUTF8(plan.Recipe, "\uFFFD")
	r := &Run{d: d, leave: leave, ctx: ctx, plan: plan, head: plan.head(), splits: splitsOf(plan.Splits)}
	was, err := r.begin(ctx, force)
	if err != nil {
		leave()
		return nil, nil, err
	}
	if was.Finished {
		return nil, was, nil
	}
	return r, was, nil
}

func (r *Run) begin(ctx context.Context, force bool) (*Resumed, error) {
	if err := r.plan.check(r.d.url); err != nil {
		return nil, err
	}
	// A look before the lock, so that a directory that is none of ours is not
	// written to.
	before, err := r.d.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.d.refuse(before, force); err != nil {
		if errors.Is(err, ErrFinished) {
			r.d.removeDir(ctx, workDir) // which a kill may have left, empty; no part of the answer
		}
		return nil, err
	}
	if r.lock, err = r.d.acquire(ctx); err != nil {
		return nil, err
	}
	was, err := r.locked(ctx, len(before.work) > 0, force)
	if err != nil {
		r.withdraw(ctx)
		return nil, err
	}
	return was, nil
}

// withdraw gives the lock up after a Begin that failed, and the directory that
// was made for it.
func (r *Run) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	r.lock.release(ctx)
	r.d.removeDir(ctx, workDir)
}

// contents is what lies in a directory.
type contents struct {
	done []store.Object // what listings show: the manifest, parts, files
	work []store.Object // the working files
}

func (d *directory) look(ctx context.Context) (c contents, err error) {
	if c.done, err = d.list(ctx, ""); err != nil {
		return c, err
	}
	c.work, err = d.list(ctx, workDir)
	return c, err
}

// refuse says at a first look whether a run may go on in a directory: whether
// what lies there is a run's, finished or not.
func (d *directory) refuse(c contents, force bool) error {
	_, finished := d.find(c.done, manifestName)
	_, begun := d.find(c.work, planName)
	_, replaced := d.find(c.work, replacedName)
	switch {
	case finished && !force && len(c.work) == 0:
		return d.finished()
	case len(c.done) > 0 && !finished && !begun && !replaced:
		return refuse(ErrForeign, "%s holds %s, which is no dataset of weir's; choose an empty directory", d.url, d.rel(c.done[0]))
	}
	return nil
}

func (d *directory) finished() error {
	return refuse(ErrFinished, "%s holds a finished dataset; --force replaces it", d.url)
}

// locked goes on under the lock, where nothing changes any more. Left says that
// there were working files before: whose manifest is there was killed while it
// tidied up.
func (r *Run) locked(ctx context.Context, left, force bool) (*Resumed, error) {
	r.left = left
	c, err := r.d.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.d.refuse(c, true); err != nil {
		return nil, err
	}
	old, replacing := r.d.find(c.work, replacedName)
	if manifest, ok := r.d.find(c.done, manifestName); ok {
		m, err := r.d.load(ctx, manifest, Visit{brief: true})
		if err != nil {
			return nil, err
		}
		if left && !replacing && r.head.matches(m) {
			return r.tidied(ctx)
		}
		if !force {
			if err := r.d.tidy(ctx, r.lock.name()); err != nil {
				return nil, err
			}
			return nil, r.d.finished()
		}
		if old, err = r.d.depose(ctx, manifest, c.work); err != nil {
			return nil, err
		}
		replacing = true
	}
	if replacing {
		if err := r.d.clear(ctx, old); err != nil {
			return nil, err
		}
		if err := r.start(ctx); err != nil {
			return nil, err
		}
		if err := r.d.remove(ctx, replacedName); err != nil {
			return nil, err
		}
		return r.fresh(), nil
	}
	return r.takeUp(ctx, c, force)
}

// tidied ends what a killed Finish left to do.
func (r *Run) tidied(ctx context.Context) (*Resumed, error) {
	if err := r.d.sweep(ctx); err != nil {
		return nil, err
	}
	if err := r.end(ctx); err != nil {
		return nil, err
	}
	return &Resumed{Finished: true}, nil
}

// start writes the plan into a directory where nothing is.
func (r *Run) start(ctx context.Context) error {
	if err := r.d.sweep(ctx); err != nil {
		return err
	}
	return r.d.writePlan(ctx, r.plan.Source, r.head)
}

// takeUp goes on with the run whose plan lies there, or begins.
func (r *Run) takeUp(ctx context.Context, c contents, force bool) (*Resumed, error) {
	o, begun := r.d.find(c.work, planName)
	if begun {
		was, differs, err := r.d.readPlan(ctx, o, r.plan.Source, r.head)
		switch {
		case err != nil:
			return nil, err
		case differs == "":
			resumed, err := r.goOn(ctx, c)
			if !force || !errors.Is(err, ErrDiffers) {
				return resumed, err
			}
			r.forget()
		case !force:
			return nil, r.differs(differs)
		}
		if err := r.d.discard(ctx, was); err != nil {
			return nil, err
		}
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	return r.fresh(), nil
}

// differs refuses to go on with a run of another plan.
func (r *Run) differs(text string) error {
	return refuse(ErrDiffers, "%s holds an unfinished run: %s; --force begins anew", r.d.url, text)
}

// goOn reads the journal and removes what it does not know.
func (r *Run) goOn(ctx context.Context, c contents) (*Resumed, error) {
	if err := r.d.sweep(ctx); err != nil {
		return nil, err
	}
	was, err := r.resume(ctx, c.work, c.done)
	if err != nil {
		return nil, err
	}
	err = r.orphans(ctx, c.done)
	if err == nil {
		err = r.d.removeAll(ctx, c.work, r.unknown)
	}
	return was, err
}

// unknown says that a working file belongs to no journal that is kept.
func (r *Run) unknown(name string) bool {
	if n := stepOf(name, journals, ".json"); n > 0 {
		return !slices.ContainsFunc(r.kept, func(k record) bool { return k.Step == n })
	}
	if n := stepOf(name, states, ""); n > 0 {
		return !slices.ContainsFunc(r.kept, func(k record) bool { return k.State == n })
	}
	return false
}

// copyObject writes an object again under another name.
func (d *directory) copyObject(ctx context.Context, o store.Object, rel string) error {
	return d.put(ctx, rel, func(w io.Writer) error {
		return d.read(ctx, o, o.Size, func(r io.Reader) error {
			_, err := io.Copy(w, r)
			return err
		})
	})
}
