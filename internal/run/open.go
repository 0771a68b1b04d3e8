package run

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// reading is a planned dataset and where it came from.
type reading struct {
	format  format.Format
	objects []store.Object
	data    format.Dataset
}

// open lists, recognises and plans; it reads descriptions, not data.
func open(ctx context.Context, c Config) (*reading, error) {
	objects, err := list(ctx, c.Store, c.Paths)
	if err != nil {
		return nil, err
	}
	f, err := recognise(ctx, c, objects)
	if err != nil {
		return nil, err
	}
	src := format.Source{Store: pageCache(c.Store, objects, c.CacheLimit), Objects: objects}
	data, err := f.Plan(ctx, src, c.Options)
	if errors.Is(err, format.ErrData) && len(objects) > 1 {
		// The plain reason for a bad file is often that it is of another kind.
		if mixed := sniffAll(ctx, c, objects); mixed != nil {
			err = mixed
		}
	}
	if err != nil {
		return nil, err
	}
	return &reading{format: f, objects: objects, data: data}, nil
}

// list returns the objects of all paths in the order of the paths; one that
// two paths name is read once, at its first place.
func list(ctx context.Context, s store.Store, paths []string) ([]store.Object, error) {
	var out []store.Object
	seen := make(map[string]bool)
	for _, p := range paths {
		found, err := s.List(ctx, p)
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

// recognise finds the format of the first object; the others are checked by
// the format's Plan, which looks at each of them anyway.
func recognise(ctx context.Context, c Config, objects []store.Object) (format.Format, error) {
	f, ok, err := sniff(ctx, c, objects[0])
	if err != nil {
		return format.Format{}, err
	}
	if ok {
		return f, nil
	}
	if err := sniffAll(ctx, c, objects); err != nil {
		return format.Format{}, err
	}
	return format.Format{}, format.Error(format.ErrData, "%s: not a file weir can read (%s)",
		objects[0].URL, names(c.Formats))
}

// Bytes read of each end of a file to recognise it: enough for a magic number
// at either end and a few lines of text.
const (
	headBytes = 4 << 10
	tailBytes = 64
)

// sniff reads both ends of o and asks every format.
func sniff(ctx context.Context, c Config, o store.Object) (format.Format, bool, error) {
	r, err := c.Store.Open(ctx, o)
	if err != nil {
		return format.Format{}, false, err
	}
	defer r.Close()
	head := make([]byte, min(headBytes, r.Size()))
	tail := make([]byte, min(tailBytes, r.Size()))
	if err := r.ReadAt(ctx, head, 0); err != nil {
		return format.Format{}, false, err
	}
	if err := r.ReadAt(ctx, tail, r.Size()-int64(len(tail))); err != nil {
		return format.Format{}, false, err
	}
	for _, f := range c.Formats {
		if f.Sniff(format.Clue{Name: strings.ToLower(o.URL), Head: head, Tail: tail}) {
			return f, true, nil
		}
	}
	return format.Format{}, false, nil
}

// sniffAll returns an error that says what lies there if the objects are of
// more than one kind, and nil if they are not.
func sniffAll(ctx context.Context, c Config, objects []store.Object) error {
	count := make(map[string]int)
	example := make(map[string]string)
	for _, o := range objects {
		f, ok, err := sniff(ctx, c, o)
		if err != nil {
			return err
		}
		kind := "unknown"
		if ok {
			kind = f.Name
		}
		if count[kind] == 0 {
			example[kind] = o.URL
		}
		count[kind]++
	}
	if len(count) < 2 {
		return nil
	}
	kinds := make([]string, 0, len(count))
	for k := range count {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s (%s)", count[k], k, example[k])
	}
	return format.Error(format.ErrData, "files of several kinds: %s; name those of one kind with a glob",
		strings.Join(kinds, ", "))
}

func names(formats []format.Format) string {
	out := make([]string, len(formats))
	for i, f := range formats {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}

// Inspect describes a dataset. The smallest memory it tells counts the Sink,
// if there is one, which is aborted; Config.Memory and Budget are not used.
func Inspect(ctx context.Context, c Config) (Description, error) {
	r, err := open(ctx, c)
	if err != nil {
		return Description{}, err
	}
	if c.Sink != nil {
		sink, err := c.Sink(r.data.Schema())
		if err != nil {
			return Description{}, err
		}
		defer sink.Abort()
	}
	var live int64
	if c.Heap != nil {
		live = c.Heap()
	}
	return Description{
		Format:   r.format.Name,
		Schema:   r.data.Schema(),
		Info:     r.data.Info(),
		Smallest: Base + max(r.data.Floor(), leastData) + heapAdvice(live),
	}, nil
}
