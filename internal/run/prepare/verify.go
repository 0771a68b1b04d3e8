package prepare

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/store"
)

// Verify reads every part of a prepared dataset and holds it against the
// manifest. Report, if not nil, is told of everything that is wrong as soon as
// it is known; see dataset.Verify.
func Verify(ctx context.Context, st store.ReadWriter, formats []format.Format, url string, share *mem.Budget, report func(string)) (dataset.Result, error) {
	cost := dataset.Cost(url)
	own, err := share.Carve("dataset", cost)
	if err != nil {
		return dataset.Result{}, err
	}
	defer own.Close()
	rest, err := share.Carve("reading", share.Free())
	if err != nil {
		return dataset.Result{}, err
	}
	defer rest.Close()
	check := func(ctx context.Context, e dataset.Entry) (int64, string, int64, error) {
		text, err := sumObject(ctx, st, e.Object, rest)
		if err != nil {
			return 0, "", 0, err
		}
		switch {
		case e.Split == "":
			return 0, text, e.Object.Size, nil // an array, or an index
		case strings.Contains(path.Base(e.Object.URL), ".mds"):
			return e.Rows, text, e.Object.Size, nil // a shard says nothing without its index, whose digest is known
		}
		f, err := formatOf(formats, e.Object.URL)
		if err != nil {
			return 0, "", 0, err
		}
		rows, err := rowsOf(ctx, st, f, e.Object, rest)
		return rows, text, e.Object.Size, err
	}
	var tell func(dataset.Finding)
	if report != nil {
		tell = func(f dataset.Finding) { report(f.String()) }
	}
	return dataset.Verify(ctx, dataset.Place{Store: st, URL: url, Share: own}, check, tell)
}

// window is what Verify reads at a time.
const window = 1 << 20

// sumObject reads an object whole.
func sumObject(ctx context.Context, st store.Store, o store.Object, share *mem.Budget) (string, error) {
	block, err := share.Map(ctx, window)
	if err != nil {
		return "", err
	}
	defer block.Free()
	r, err := st.Open(ctx, o)
	if err != nil {
		return "", err
	}
	defer r.Close()
	s := parts.NewSum()
	for at := int64(0); at < o.Size; at += window {
		p := block.Bytes()[:min(window, o.Size-at)]
		if ahead := min(window, o.Size-at-window); ahead > 0 {
			r.Want(at+window, ahead)
		}
		if err := r.ReadAt(ctx, p, at); err != nil {
			return "", err
		}
		s.Write(p)
		r.Drop(at, int64(len(p)))
	}
	return s.String(), nil
}

// formatOf is the format of a part, whose name ends in that of its format.
func formatOf(formats []format.Format, url string) (format.Format, error) {
	ext := strings.TrimPrefix(path.Ext(url), ".")
	i := slices.IndexFunc(formats, func(f format.Format) bool { return f.Name == ext })
	if i < 0 {
		return format.Format{}, format.Error(format.ErrUsage, "%s: parts are Parquet, Arrow or MDS, this is none of them", url)
	}
	return formats[i], nil
}

// rowsOf is what a part's description says.
func rowsOf(ctx context.Context, st store.Store, f format.Format, o store.Object, share *mem.Budget) (int64, error) {
	src := format.Source{Store: st, Objects: []store.Object{o}}
	data, err := f.Plan(ctx, src, format.Options{Room: share.Limit() / 4})
	if err != nil {
		return 0, err
	}
	return data.Info().Rows, nil
}
