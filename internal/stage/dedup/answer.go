package dedup

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// keptBuffer is what an Answer takes of its share.
const keptBuffer = 64 << 10

// Answer writes to scratch space which rows are kept, for Kept to open.
type Answer struct {
	out        *spill.Writer
	rows, kept int64
}

// NewAnswer takes the place of the answer that lies there. It takes 64 KiB of
// the share.
func NewAnswer(ctx context.Context, dir *spill.Dir, share *mem.Budget) (*Answer, error) {
	w, err := dir.Create(ctx, keptName, share, keptBuffer)
	if err != nil {
		return nil, err
	}
	return &Answer{out: w}, nil
}

// Put writes the bits of the next n rows, 1: keep. They are 64 in all calls but
// the last; the bits above them are 0.
func (a *Answer) Put(word uint64, n int) error {
	if a.rows%64 != 0 {
		return fmt.Errorf("dedup: a bug in weir, please report it: an answer goes on behind its last word")
	}
	a.rows += int64(n)
	a.kept += int64(bits.OnesCount64(word))
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word)
	_, err := a.out.Write(b[:])
	return err
}

// End makes the answer durable.
func (a *Answer) End() (*Kept, error) {
	if err := a.out.Sync(); err != nil {
		return nil, err
	}
	if err := a.out.Close(); err != nil {
		return nil, err
	}
	return &Kept{Rows: a.rows, Distinct: a.kept}, nil
}

// Discard gives the memory back; an answer that was not ended is lost.
func (a *Answer) Discard() { a.out.Discard() }
