// Package dataset is a prepared directory: parts of rows divided into splits,
// a manifest that makes them one whole, and the run that writes them.
//
//	out/manifest.json             the last to appear: with it the dataset is finished
//	out/train/part-00000.parquet  parts of a split, numbered from 0
//	out/X_train.npy               arrays of a split's rows, where they are asked for
//	out/_weir/                    the run under way; gone when it is finished
//
// A run that was killed at any moment is taken up by the same plan where its
// last Checkpoint stands; whatever was committed after that is removed and made
// again.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// Reasons for which Begin refuses. They are told apart by errors.Is; their
// texts are written for the case.
var (
	ErrFinished = errors.New("finished dataset")        // there is one already
	ErrForeign  = errors.New("not a dataset")           // files that weir did not write
	ErrBusy     = errors.New("run under way")           // another process writes there
	ErrDiffers  = errors.New("another run's work")      // begun with another recipe, version or source
	ErrLost     = errors.New("the lock was taken over") // this process was held for dead, or _weir was removed
)

// Place is where a dataset lies and what may be used to reach it.
type Place struct {
	Store store.ReadWriter
	URL   string      // a directory or prefix, with or without its last slash
	Share *mem.Budget // at least Cost(URL); it must serve nobody else while a Run is open
	// Note, if not nil, is told why Begin waits: a lock whose owner may be
	// dead is watched before it is taken over.
	Note func(text string)

	owner  *process // nil: this process
	timing *timing  // nil: usual
}

// room is what a run keeps on the heap besides its outputs: the parts of an
// unfinished segment, a segment being read, a window on an object.
const room = 2 << 20

// Cost is the least share that Begin, Load and Verify need for a directory.
func Cost(url string) int64 {
	least, _ := store.WriteCost(url)
	return least + room
}

// PartName is the name, in its split's directory, of a split's nth part. Ext
// has its dot.
func PartName(n int64, ext string) string { return fmt.Sprintf("part-%05d%s", n, ext) }

// Names of what lies in a directory.
const (
	manifestName = "manifest.json"
	workDir      = "_weir/"
	planName     = workDir + "plan.jsonl"
	replacedName = workDir + "replaced.json"
)

// directory is a Place that was looked at and found usable. Its room is under
// lease.
type directory struct {
	Place
	url string // ends in a slash
}

// enter leases the room; leave gives it back.
func (at Place) enter(ctx context.Context) (d *directory, leave func(), err error) {
	url := strings.TrimRight(at.URL, "/") + "/"
	if url == "/" || strings.HasSuffix(url, ":/") || strings.ContainsAny(url, "*?[{\\") {
		return nil, nil, format.Error(format.ErrUsage, "%s: not the name of a directory (characters of patterns, * ? [ { \\, cannot be in it)", at.URL)
	}
	if need := Cost(url); at.Share.Limit() < need {
		return nil, nil, fmt.Errorf("%s: %w", at.URL, &mem.TooSmallError{Share: "dataset", Need: need, Limit: at.Share.Limit()})
	}
	lease, err := at.Share.Acquire(ctx, room)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", at.URL, err)
	}
	return &directory{Place: at, url: url}, lease.Release, nil
}

// remote says that there are no directories to make and remove, and no locks
// but objects.
func (d *directory) remote() bool { return strings.HasPrefix(d.url, "s3://") }

// list is all objects below a directory of d, or that match a pattern; none is
// no error.
func (d *directory) list(ctx context.Context, rel string) ([]store.Object, error) {
	found, err := d.Store.List(ctx, d.url+rel)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return found, err
}

// object is one that must be there.
func (d *directory) object(ctx context.Context, rel string) (store.Object, error) {
	found, err := d.Store.List(ctx, d.url+rel)
	if err != nil {
		return store.Object{}, err
	}
	o, ok := d.find(found, rel)
	if !ok {
		return o, fmt.Errorf("%s%s: %w", d.url, rel, store.ErrNotFound)
	}
	return o, nil
}

// rel is an object's name in d.
func (d *directory) rel(o store.Object) string { return strings.TrimPrefix(o.URL, d.url) }

// find looks an object up in a listing, which is sorted.
func (d *directory) find(list []store.Object, rel string) (store.Object, bool) {
	i, ok := slices.BinarySearchFunc(list, d.url+rel, func(o store.Object, url string) int { return strings.Compare(o.URL, url) })
	if !ok {
		return store.Object{}, false
	}
	return list[i], true
}

func (d *directory) remove(ctx context.Context, rel string) error {
	return d.Store.Remove(ctx, d.url+rel)
}

// removeDir takes an empty directory away, where there is such a thing. One
// that is not empty holds what others put there, and stays.
func (d *directory) removeDir(ctx context.Context, rel string) error {
	if d.remote() {
		return nil
	}
	err := d.remove(ctx, strings.TrimSuffix(rel, "/"))
	if notEmpty(err) {
		return nil
	}
	return err
}

// put writes one object whole.
func (d *directory) put(ctx context.Context, rel string, fill func(io.Writer) error) error {
	out, err := d.Store.Create(ctx, d.url+rel, d.Share)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := fill(out); err != nil {
		return err
	}
	return out.Commit(ctx)
}

// refusal is an error of one of the kinds above, in words for its case. All
// but ErrBusy and ErrLost are the caller's to mend.
type refusal struct {
	kind error
	text string
}

func refuse(kind error, text string, args ...any) error {
	return &refusal{kind: kind, text: fmt.Sprintf(text, args...)}
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Is(target error) bool {
	return target == r.kind || target == format.ErrUsage && r.kind != ErrBusy && r.kind != ErrLost
}

// damaged is an error of what was read.
func damaged(url, text string, args ...any) error {
	return format.Error(format.ErrData, "%s: %w", url, fmt.Errorf(text, args...))
}

// bug is an error of the caller.
func bug(url, text string, args ...any) error {
	return fmt.Errorf("%s: a bug in weir, please report it: %w", url, fmt.Errorf(text, args...))
}
