package prepare

import (
	"context"
	"path"
	"strings"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
)

const manifestFile = "manifest.json"

// LoadParams reads parameters from a file or object that Fit wrote, or from
// the manifest of a prepared directory, which is named itself or by its
// directory. While it reads it needs of share some ten times their size; what
// it returns lies on the Go heap.
func LoadParams(ctx context.Context, st store.ReadWriter, url string, share *mem.Budget) (*scale.Params, error) {
	if dir, ok := manifestDir(url); ok {
		return manifestParams(ctx, st, dir, share)
	}
	found, err := st.List(ctx, url)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 || path.Base(found[0].URL) == manifestFile {
		return manifestParams(ctx, st, url, share)
	}
	o := found[0]
	block, ok := share.TryMap(int(o.Size))
	if !ok {
		return nil, tooSmall(o.URL, o.Size, share.Free())
	}
	defer block.Free()
	r, err := st.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text := block.Bytes()[:o.Size]
	if err := r.ReadAt(ctx, text, 0); err != nil {
		return nil, err
	}
	return decodeParams(url, text, share)
}

// manifestDir is the directory that a URL means by its spelling alone.
func manifestDir(url string) (dir string, ok bool) {
	if url == manifestFile {
		return ".", true
	}
	if dir, ok := strings.CutSuffix(url, "/"+manifestFile); ok {
		return dir, true
	}
	return url, strings.HasSuffix(url, "/")
}

func manifestParams(ctx context.Context, st store.ReadWriter, dir string, share *mem.Budget) (*scale.Params, error) {
	m, err := dataset.Load(ctx, dataset.Place{Store: st, URL: dir, Share: share}, dataset.Visit{})
	if err != nil {
		return nil, err
	}
	return decodeParams(dir, m.Params, share)
}

// decodeParams pays for what a decoder makes of text while it works.
func decodeParams(url string, text []byte, share *mem.Budget) (*scale.Params, error) {
	need := 8 * int64(len(text))
	lease, ok := share.TryAcquire(need)
	if !ok {
		return nil, tooSmall(url, need, share.Free())
	}
	defer lease.Release()
	p, err := scale.Decode(text)
	if err != nil {
		return nil, format.Error(format.ErrData, "%s: %w", url, err)
	}
	return p, nil
}

// newDesign says what is done with which column; with Prior, as it was done
// there. A run is known by what Prior holds too.
func (w *work) newDesign() (*scale.Design, error) {
	if w.Prior != nil {
		w.Scale = w.Scale.Continuing(w.Prior)
		text, err := w.Prior.Encode()
		if err != nil {
			return nil, err
		}
		s := parts.NewSum()
		s.Write(text)
		w.Recipe += "# the parameters of fit_from: " + s.String() + "\n"
	}
	d, err := scale.Plan(w.reading.Schema(), w.Scale)
	if err != nil {
		return nil, err
	}
	return d, d.Continues(w.Prior)
}
