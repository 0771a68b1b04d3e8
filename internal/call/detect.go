package call

import (
	"context"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/run"
)

// detect tells what files are.
type detect struct{ *desk }

// headBytes tell how a file is compressed.
const headBytes = 64

func (d detect) do(ctx context.Context, q *question) (answer, error) {
	if q.Do != "detect" {
		return answer{}, unknown(q.Do)
	}
	r, err := run.Open(ctx, run.Config{Paths: d.Paths, Store: d.env.Store, Formats: d.env.Formats, Memory: d.memory, Budget: d.budget})
	if err != nil {
		return answer{}, err
	}
	first := r.Objects()[0]
	in, err := d.env.Store.Open(ctx, first)
	if err != nil {
		return answer{}, err
	}
	defer in.Close()
	head := make([]byte, min(headBytes, in.Size()))
	if err := in.ReadAt(ctx, head, 0); err != nil {
		return answer{}, err
	}
	a := answer{Format: r.Format()}
	if f := codec.Recognise(first.URL, head); f != codec.PlainFile {
		a.Compression = f.String()
	}
	return a, nil
}
