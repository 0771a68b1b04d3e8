package mds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/store"
)

const (
	version = 2 // the only one there is
	// indexAhead is what is read of a large index at once: with fewer bytes
	// round trips to a remote store would take longer than the reading.
	indexAhead = 4 << 20
)

// entry is a shard as an index describes it. What is the same for nearly all
// shards stays raw, to be compared instead of parsed.
type entry struct {
	Format      string          `json:"format"`
	Version     int             `json:"version"`
	Names       json.RawMessage `json:"column_names"`
	Encodings   json.RawMessage `json:"column_encodings"`
	Sizes       json.RawMessage `json:"column_sizes"`
	Compression *string         `json:"compression"`
	Raw         *fileInfo       `json:"raw_data"`
	Zip         *fileInfo       `json:"zip_data"`
	Samples     int64           `json:"samples"`
}

// fileInfo is one file of a shard.
type fileInfo struct {
	Basename string            `json:"basename"`
	Bytes    int64             `json:"bytes"`
	Hashes   map[string]string `json:"hashes"`
}

// readIndex gives the shards of an index to each, one after another, of which
// only one is held. It says whether the store is remote.
func readIndex(ctx context.Context, s store.Store, o store.Object, each func(*entry) error) (remote bool, err error) {
	ahead := int(min(max(o.Size, input.Least), indexAhead))
	in, err := input.Open(ctx, input.Config{Store: s, Object: o, Ahead: ahead})
	if err != nil {
		return false, err
	}
	defer in.Close()
	if err := (&window{ctx: ctx, in: in}).index(each); err != nil {
		return false, err
	}
	return in.Remote(), nil
}

// index reads the outermost object.
func (w *window) index(each func(*entry) error) error {
	if err := w.take('{'); err != nil {
		return err
	}
	known, shards := int64(version), false
	for more := true; more; {
		key, err := w.value()
		if err != nil {
			return err
		}
		name := string(key)
		if err := w.take(':'); err != nil {
			return err
		}
		switch name {
		case `"shards"`:
			if shards {
				return format.Error(format.ErrData, `byte %d: "shards" a second time`, w.offset())
			}
			shards = true
			err = w.shards(each)
		case `"version"`:
			err = w.decode(&known)
		default:
			_, err = w.value()
		}
		if err != nil {
			return err
		}
		if more, err = w.another('}'); err != nil {
			return err
		}
	}
	switch c, err := w.next(); {
	case err != nil:
		return err
	case c != 0:
		return w.unexpected("the end", c)
	case known != version:
		return format.Error(format.ErrData, "MDS of version %d; weir reads version %d", known, version)
	case !shards:
		return format.Error(format.ErrData, `not an MDS index: it has no "shards"`)
	}
	return nil
}

// shards reads the list of shards.
func (w *window) shards(each func(*entry) error) error {
	if err := w.take('['); err != nil {
		return err
	}
	c, err := w.next()
	if err != nil {
		return err
	}
	if c == ']' {
		w.at++
		return nil
	}
	for n, more := 0, true; more; n++ {
		var e entry
		if err := w.decode(&e); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("shard %d: %w", n, err)
		}
		if err := each(&e); err != nil {
			return err
		}
		if more, err = w.another(']'); err != nil {
			return err
		}
	}
	return nil
}

// decode takes one value into v.
func (w *window) decode(v any) error {
	at := w.offset()
	text, err := w.value()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return format.Error(format.ErrData, "byte %d: %w", at, err)
	}
	return nil
}

// check refuses what cannot be a shard.
func (e *entry) check() error {
	switch {
	case e.Format != "mds":
		return format.Error(format.ErrData, "a shard of format %q; weir reads mds", e.Format)
	case e.Version != version:
		return format.Error(format.ErrData, "MDS of version %d; weir reads version %d", e.Version, version)
	case e.Raw == nil || e.Raw.Basename == "":
		return format.Error(format.ErrData, `it has no "raw_data"`)
	case e.Samples < 0 || e.Samples > 1<<32-1 || e.Raw.Bytes < 0:
		return format.Error(format.ErrData, "%s: %d samples in %d bytes", e.Raw.Basename, e.Samples, e.Raw.Bytes)
	case e.Zip != nil && e.Compression == nil:
		return format.Error(format.ErrData, "%s: how it is compressed is not told", e.Zip.Basename)
	}
	return nil
}

// compression is that of the zip file.
func (e *entry) compression() (f codec.File, level int, err error) {
	f, level, err = codec.Parse(*e.Compression)
	switch {
	case err != nil:
		return 0, 0, format.Error(format.ErrData, "%s: %w", e.Zip.Basename, err)
	case f == codec.SnappyFile:
		f = codec.SnappyBlockFile
	case f == codec.PlainFile, f == codec.XZFile, f == codec.LZ4File:
		return 0, 0, format.Error(format.ErrData, "%s: compression %q is not one of br, bz2, gz, snappy, zstd", e.Zip.Basename, *e.Compression)
	}
	return f, level, nil
}

// layout is the columns as shards describe them, raw and parsed.
type layout struct {
	names, encodings, sizes []byte // as they stood there
	columns                 []column
}

// agree holds that e has the columns that all have; the first one says which.
func (l *layout) agree(e *entry) error {
	if l.columns != nil && bytes.Equal(l.names, e.Names) && bytes.Equal(l.encodings, e.Encodings) && bytes.Equal(l.sizes, e.Sizes) {
		return nil
	}
	columns, err := e.columns()
	if err != nil {
		return err
	}
	if l.columns == nil {
		l.names, l.encodings, l.sizes = bytes.Clone(e.Names), bytes.Clone(e.Encodings), bytes.Clone(e.Sizes)
		l.columns = columns
		return nil
	}
	if !slices.Equal(columns, l.columns) {
		return format.Error(format.ErrData, "%s: columns %v; the first shard has %v", e.Raw.Basename, columns, l.columns)
	}
	return nil
}

// columns parses and checks them.
func (e *entry) columns() ([]column, error) {
	var names, encodings []string
	var sizes []*int64
	for _, f := range []struct {
		key string
		raw json.RawMessage
		to  any
	}{{"column_names", e.Names, &names}, {"column_encodings", e.Encodings, &encodings}, {"column_sizes", e.Sizes, &sizes}} {
		if err := json.Unmarshal(f.raw, f.to); err != nil {
			return nil, format.Error(format.ErrData, "%s: %s: %w", e.Raw.Basename, f.key, err)
		}
	}
	if len(names) == 0 || len(names) != len(encodings) || len(names) != len(sizes) {
		return nil, format.Error(format.ErrData, "%s: %d names, %d encodings and %d sizes of columns", e.Raw.Basename, len(names), len(encodings), len(sizes))
	}
	out := make([]column, len(names))
	seen := make(map[string]bool)
	for i, name := range names {
		if seen[name] {
			return nil, format.Error(format.ErrData, "%s: two columns %q", e.Raw.Basename, name)
		}
		seen[name] = true
		out[i] = column{name: name, encoding: encodings[i]}
		if n := sizes[i]; n != nil && *n >= 0 && *n <= vectorMost {
			out[i].size = int(*n)
		} else if n != nil {
			return nil, format.Error(format.ErrData, "%s: column %q: values of %d bytes", e.Raw.Basename, name, *n)
		}
		if err := out[i].checkSize(); err != nil {
			return nil, format.Error(format.ErrData, "%s: column %q: %w", e.Raw.Basename, name, err)
		}
	}
	return out, nil
}
