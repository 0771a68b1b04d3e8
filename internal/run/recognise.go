package run

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// choose finds the format of a listing, and the objects that are its data: the
// one the user names, one that gathers its files by their names, or the one
// that recognises what the files hold.
func choose(ctx context.Context, c Config, objects []store.Object) (format.Format, []store.Object, error) {
	for _, f := range c.Formats {
		if c.Format == "" && f.Gather == nil || c.Format != "" && f.Name != c.Format {
			continue
		}
		if f.Gather != nil {
			if picked := f.Gather(objects); len(picked) > 0 {
				return f, picked, nil
			}
		}
		if c.Format != "" {
			return f, objects, nil
		}
	}
	if c.Format != "" {
		return format.Format{}, nil, format.Error(format.ErrUsage, "--format %q: use one of %s", c.Format, names(c.Formats))
	}
	f, err := agree(ctx, c, groupEndings(objects))
	return f, objects, err
}

// group is objects that are taken to be of one kind.
type group struct {
	first store.Object
	count int
}

// groupEndings groups objects by the endings of their names, in order.
func groupEndings(objects []store.Object) []group {
	var out []group
	at := make(map[string]int)
	for _, o := range objects {
		e := ending(o.URL)
		i, known := at[e]
		if !known {
			i = len(out)
			at[e] = i
			out = append(out, group{first: o})
		}
		out[i].count++
	}
	return out
}

// groupEach takes no two objects for the same kind.
func groupEach(objects []store.Object) []group {
	out := make([]group, len(objects))
	for i, o := range objects {
		out[i] = group{o, 1}
	}
	return out
}

// ending is that of a file's name, without the compression's. One without
// letters is a number or a date, which says nothing.
func ending(url string) string {
	e := strings.ToLower(path.Ext(trim(path.Base(url))))
	if !strings.ContainsFunc(e, unicode.IsLetter) {
		return ""
	}
	return e
}

// trim takes the ending of any compression off a name.
func trim(name string) string {
	for f := codec.GzipFile; f <= codec.SnappyBlockFile; f++ {
		if t := f.Trim(name); t != name {
			return t
		}
	}
	return name
}

// agree looks at one object of each group and returns the format of all, or an
// error that says what lies there.
func agree(ctx context.Context, c Config, groups []group) (format.Format, error) {
	count := make(map[string]int)
	example := make(map[string]string)
	var found format.Format
	for _, g := range groups {
		f, err := sniff(ctx, c, g.first)
		if err != nil {
			return format.Format{}, err
		}
		kind := cmp.Or(f.Name, "unknown")
		if count[kind] == 0 {
			example[kind] = g.first.URL
			found = f
		}
		count[kind] += g.count
	}
	if len(count) > 1 {
		return format.Format{}, mixed(count, example)
	}
	if found.Name == "" {
		return format.Format{}, format.Error(format.ErrData, "%s: not a file weir can read (%s)",
			groups[0].first.URL, names(c.Formats))
	}
	return found, nil
}

func mixed(count map[string]int, example map[string]string) error {
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s (%s)", count[k], k, example[k])
	}
	return format.Error(format.ErrData, "files of several kinds: %s; name those of one kind with a glob or --format",
		strings.Join(kinds, ", "))
}

func names(formats []format.Format) string {
	out := make([]string, len(formats))
	for i, f := range formats {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}

const (
	// Bytes of each end of a file that it is recognised by: enough for a magic
	// number at either end and a few lines of text.
	headBytes = 4 << 10
	tailBytes = 64
	// packedBytes is what is read of a compressed file to get headBytes of
	// what it holds; a block of most compressions.
	packedBytes = 128 << 10
	// unpackMost is the most memory a look into a compressed file may take;
	// one that needs more is recognised by its name.
	unpackMost = 24 << 20
)

// sniff asks every format about o; one without a name is none of them.
func sniff(ctx context.Context, c Config, o store.Object) (format.Format, error) {
	outer, inner, err := clues(ctx, c.Store, o)
	if err != nil {
		return format.Format{}, err
	}
	for _, f := range c.Formats {
		clue := outer
		if f.Inline {
			clue = inner
		}
		if f.Sniff(clue) {
			return f, nil
		}
	}
	return format.Format{}, nil
}

// clues reads both ends of o: as it lies there, and as what it holds where it
// is compressed as a whole.
func clues(ctx context.Context, s store.Store, o store.Object) (outer, inner format.Clue, err error) {
	r, err := s.Open(ctx, o)
	if err != nil {
		return outer, inner, err
	}
	defer r.Close()
	outer = format.Clue{
		Name: strings.ToLower(o.URL),
		Head: make([]byte, min(headBytes, r.Size())),
		Tail: make([]byte, min(tailBytes, r.Size())),
	}
	if err := r.ReadAt(ctx, outer.Head, 0); err != nil {
		return outer, inner, err
	}
	if err := r.ReadAt(ctx, outer.Tail, r.Size()-int64(len(outer.Tail))); err != nil {
		return outer, inner, err
	}
	pack := codec.Recognise(outer.Name, outer.Head)
	if pack == codec.PlainFile {
		inner = outer
		inner.Name = trim(outer.Name)
		return outer, inner, nil
	}
	inner.Name = pack.Trim(outer.Name)
	packed := make([]byte, min(packedBytes, r.Size()))
	if err := r.ReadAt(ctx, packed, 0); err != nil {
		return outer, inner, err
	}
	inner.Head = unpackHead(pack, packed)
	return outer, inner, nil
}

// unpackHead decompresses what it can of the beginning of a file; damage is
// left for the format to find.
func unpackHead(pack codec.File, packed []byte) []byte {
	if cost, err := pack.Cost(packed); err != nil || cost > unpackMost {
		return nil
	}
	r, err := pack.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	defer r.Close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(r, head)
	return head[:n]
}
