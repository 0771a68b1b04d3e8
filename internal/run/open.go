package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// Reading is a planned dataset and where it came from. It can be scanned more
// than once, one scan at a time.
type Reading struct {
	format  format.Format
	objects []store.Object
	data    format.Dataset
	bad     *badLog
}

// Schema is that of every batch.
func (r *Reading) Schema() *arrow.Schema { return r.data.Schema() }

// Data is what is read.
func (r *Reading) Data() format.Dataset { return r.data }

// Objects are what is read, in order.
func (r *Reading) Objects() []store.Object { return r.objects }

// Open lists, recognises and plans, for Config.Planned; it reads descriptions,
// not data.
func Open(ctx context.Context, c Config) (*Reading, error) {
	bad := &badLog{log: orDiscard(c.Log)}
	if c.SkipBad {
		c.Options.Bad = bad.skip
	}
	if c.Options.Room == 0 && c.Budget != nil {
		c.Options.Room = c.Budget.Limit() / 4
	}
	r, err := open(ctx, c)
	if err != nil {
		return nil, advise(err, c.Memory, 1)
	}
	r.bad = bad
	return r, nil
}

func open(ctx context.Context, c Config) (*Reading, error) {
	listed, err := list(ctx, c.Store, c.Paths)
	if err != nil {
		return nil, err
	}
	f, objects, err := choose(ctx, c, listed)
	if err != nil {
		return nil, err
	}
	src := format.Source{Store: pageCache(c.Store, objects, c.CacheLimit), Objects: objects}
	data, err := f.Plan(ctx, src, c.Options)
	if errors.Is(err, format.ErrData) && len(objects) > 1 && c.Format == "" && f.Gather == nil {
		// The plain reason for a bad file is often that it is of another kind.
		if _, mixed := agree(ctx, c, groupEach(objects)); mixed != nil {
			err = mixed
		}
	}
	if err != nil {
		return nil, err
	}
	return &Reading{format: f, objects: objects, data: data}, nil
}

// list returns the objects of all paths in the order of the paths; one that
// two paths name is read once, at its first place.
func list(ctx context.Context, s store.Store, paths []string) ([]store.Object, error) {
	var out []store.Object
	seen := make(map[string]bool)
	for _, p := range paths {
		found, err := s.List(ctx, p)
		if err == nil {
			found, err = rowsOf(ctx, s, p, found)
		}
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			if !seen[o.URL] {
				seen[o.URL] = true
				out = append(out, o)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, " "), store.ErrNotFound)
	}
	return out, nil
}

// madeBy is how the manifest of a dataset tells that weir wrote it.
const madeBy = `"created_by": "weir`

// rowsOf leaves out what is not rows of a directory that weir made: what lies
// beside the directories of its splits, but for an index of what is in them.
func rowsOf(ctx context.Context, s store.Store, dir string, found []store.Object) ([]store.Object, error) {
	dir = strings.TrimRight(dir, "/") + "/"
	i := slices.IndexFunc(found, func(o store.Object) bool { return o.URL == dir+"manifest.json" })
	if i < 0 || len(found) == 1 {
		return found, nil
	}
	head := make([]byte, min(256, found[i].Size))
	r, err := s.Open(ctx, found[i])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.ReadAt(ctx, head, 0); err != nil || !strings.Contains(string(head), madeBy) {
		return found, err
	}
	return slices.DeleteFunc(found, func(o store.Object) bool {
		name := strings.TrimPrefix(o.URL, dir)
		return !strings.Contains(name, "/") && name != "index.json"
	}), nil
}

// Inspect describes a dataset. The smallest memory it tells counts what the Sink,
// if there is one, keeps on the Go heap before it is opened; Config.Memory and
// Budget are not used.
func Inspect(ctx context.Context, c Config) (Description, error) {
	if c.SkipBad {
		c.Options.Bad = func(error) {}
	}
	r, err := open(ctx, c)
	if err != nil {
		return Description{}, err
	}
	prepared, err := r.target(ctx, c.Sink)
	if err != nil {
		return Description{}, err
	}
	var live int64
	if c.Heap != nil {
		live = c.Heap()
	}
	runtime.KeepAlive(prepared)
	return Description{
		Format:   r.format.Name,
		Schema:   r.data.Schema(),
		Info:     r.data.Info(),
		Smallest: Base + max(r.data.Floor(), leastData) + heapAdvice(live),
	}, nil
}
