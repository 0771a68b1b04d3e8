package dataset

import (
	"context"
	"encoding/json"

	"github.com/weir-data/weir/internal/mem"
)

// Decode reads the state of the checkpoint that a run goes on from, which is
// JSON, into v. Read is Run.State or Standing.State, url is the dataset's; its
// text is leased from share meanwhile.
func (r *Resumed) Decode(ctx context.Context, url string, share *mem.Budget, read func(context.Context, []byte) error, v any) error {
	if r.StateBytes < 0 {
		return damaged(url, "a checkpoint without a state; --force begins anew")
	}
	lease, err := share.Acquire(ctx, r.StateBytes)
	if err != nil {
		return err
	}
	defer lease.Release()
	text := make([]byte, r.StateBytes)
	if err := read(ctx, text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return damaged(url, "the state of a checkpoint: %w", err)
	}
	return nil
}
