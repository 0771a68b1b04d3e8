package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/weir-data/weir/internal/feed/wire"
)

// errShown ends a run after its first batch.
var errShown = errors.New("the first batch was shown")

// Sample prints the first batch that a loader would give: what each tensor is,
// and its first numbers.
func Sample(ctx context.Context, env Env, cfg Config, w io.Writer) error {
	text, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	c, err := parse(text)
	if err != nil {
		return err
	}
	l := &loader{Config: c, env: env}
	defer l.close()
	feed, err := l.prepare(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d samples in an epoch, of which this is the first batch\n", l.total)
	if err := feed(ctx, printer{w}, 0, 0); !errors.Is(err, errShown) {
		return err
	}
	return nil
}

// printer is an outlet for one batch.
type printer struct{ w io.Writer }

type heapSlot []byte

func (s heapSlot) Bytes() []byte { return s }

func (p printer) Reserve(n int) (slot, error) { return heapSlot(make([]byte, n)), nil }
func (p printer) Discard(slot)                {}
func (p printer) End(int64, int64) error      { return nil }

func (p printer) Send(s slot, b wire.Batch) error {
	if err := b.Layout.Print(p.w, s.Bytes()); err != nil {
		return err
	}
	return errShown
}
