package run

import (
	"context"

	"github.com/weir-data/weir/internal/store"
)

// pageCache decides what becomes of the files' page cache: a dataset larger
// than limit is dropped behind the reader, so that the container's working
// set stays at the budget; a smaller one is kept, so that the next scan is
// fast. A limit of 0 keeps all.
func pageCache(s store.Store, objects []store.Object, limit int64) store.Store {
	var total int64
	for _, o := range objects {
		total += o.Size
	}
	if limit > 0 && total > limit {
		return s
	}
	return keeping{s}
}

// keeping is a store whose readers drop nothing.
type keeping struct{ store.Store }

func (k keeping) Open(ctx context.Context, o store.Object) (store.Reader, error) {
	r, err := k.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return keepingReader{r}, nil
}

type keepingReader struct{ store.Reader }

func (keepingReader) Drop(_, _ int64) {}
