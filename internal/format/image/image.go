// Package image reads folders of images: a row a file.
//
// The columns are path, as it was listed; label, the name of the folder the
// file lies in; bytes, the file as it is; width and height in pixels as the
// file's header says, without regard to an orientation given in its metadata.
// JPEG, PNG, GIF, WebP and BMP are known; a file that is none of them, or whose
// header is damaged, is an error, or left out where bad records are.
package image

import (
	"context"
	"path"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/files"
	"github.com/weir-data/weir/internal/store"
)

// Format reads image files.
func Format() format.Format {
	return format.Format{
		Name:   "images",
		Sniff:  func(c format.Clue) bool { _, ok := kind(c.Head); return ok },
		Gather: gather,
		Plan:   Plan,
	}
}

var endings = map[string]bool{".jpg": true, ".jpeg": true, ".jpe": true, ".png": true, ".gif": true, ".webp": true, ".bmp": true}

// gather takes a listing of nothing but images.
func gather(all []store.Object) []store.Object {
	for _, o := range all {
		if !endings[strings.ToLower(path.Ext(o.URL))] {
			return nil
		}
	}
	return all
}

var columns = []arrow.Field{
	{Name: "path", Type: arrow.BinaryTypes.String},
	{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "bytes", Type: arrow.BinaryTypes.Binary},
	{Name: "width", Type: arrow.PrimitiveTypes.Int32},
	{Name: "height", Type: arrow.PrimitiveTypes.Int32},
}

// Plan needs nothing but the listing.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	names := make([]string, len(columns))
	for i, f := range columns {
		names[i] = f.Name
	}
	places, err := format.Match(names, opt.Columns)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "images: %w", err)
	}
	a := &adder{at: [5]int{-1, -1, -1, -1, -1}}
	var fields []arrow.Field
	for i, p := range places {
		fields = append(fields, columns[p])
		a.at[p] = i
	}
	longest := 0
	for _, o := range src.Objects {
		longest = max(longest, len(o.URL))
	}
	remote, err := isRemote(ctx, src)
	if err != nil {
		return nil, err
	}
	return files.New(files.Layout{
		Name: "images", Source: src, Options: opt, Schema: arrow.NewSchema(fields, nil),
		Remote: remote, Bytes: a.at[2], Extra: 2*longest + 64, Add: a.add,
	})
}

func isRemote(ctx context.Context, src format.Source) (bool, error) {
	r, err := src.Store.Open(ctx, src.Objects[0])
	if err != nil {
		return false, err
	}
	defer r.Close()
	return r.Remote(), nil
}

// adder makes rows. at is where path, label, bytes, width and height go; less
// than 0: nowhere.
type adder struct{ at [5]int }

func (a *adder) add(b *build.Batch, o store.Object, read func([]byte) error) error {
	var p []byte
	if a.at[2] >= 0 {
		p = b.Column(a.at[2]).Room(int(o.Size))
	} else {
		p = b.Scratch(int(o.Size))
	}
	if p == nil {
		return nil // EndRow says so
	}
	p = p[:o.Size]
	if err := read(p); err != nil {
		return err
	}
	w, h, err := Size(p)
	if err != nil {
		return format.Error(format.ErrData, "%w", err)
	}
	if a.at[2] >= 0 {
		b.Column(a.at[2]).Commit(len(p))
	}
	if a.at[0] >= 0 {
		b.Column(a.at[0]).Bytes([]byte(o.URL))
	}
	if dir := path.Base(path.Dir(o.URL)); a.at[1] >= 0 && dir != "." && dir != "/" {
		b.Column(a.at[1]).Bytes([]byte(dir))
	}
	if a.at[3] >= 0 {
		b.Column(a.at[3]).Uint32(uint32(w))
	}
	if a.at[4] >= 0 {
		b.Column(a.at[4]).Uint32(uint32(h))
	}
	return nil
}
