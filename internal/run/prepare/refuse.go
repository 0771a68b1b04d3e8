package prepare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
)

// tooSmall says what a share lacks.
func tooSmall(what string, need, limit int64) error {
	return &mem.TooSmallError{Share: what, Need: need, Limit: limit}
}

// refuse is the refusal of a memory that does not even hold what the directory
// needs.
func (w *work) refuse(cost int64) error {
	p, err := w.fitTarget(context.Background(), w.reading.Schema())
	if err != nil {
		return err
	}
	need := w.Run.Budget.Limit() - w.reading.Room(w.Run)
	small := &run.TooSmallError{Memory: w.Run.Memory, Need: need, Write: p.Least, Try: run.Base + need + need/8 + p.Least + heapChange}
	return w.besides(small, cost)
}

// besides adds to a refusal of the memory what the directory needs and, where
// the fit is not done, what one-hot encoding may need.
func (w *work) besides(err error, cost int64) error {
	var small *run.TooSmallError
	if !errors.As(err, &small) {
		return err
	}
	more := *small
	if columns := w.guess(); columns > 0 {
		least, err := w.passesLeast(w.design.Expect(max(1, columns/w.design.Onehots())))
		if err != nil {
			return err
		}
		if least > small.Write {
			more.Write, more.Try = least+cost, small.Try+least-small.Write+cost
			return &guess{&more, columns}
		}
	}
	more.Write += cost
	more.Try += cost
	return &more
}

// guess is how many columns one-hot encoding may make; 0: they are known.
func (w *work) guess() int {
	n := w.design.Onehots()
	if w.params != nil || n == 0 {
		return 0
	}
	if rows := w.reading.Info().Rows; rows > 0 {
		return int(min(guessed, rows*int64(n)))
	}
	return guessed
}

// guess is a refusal with columns in it that only the fit will find.
type guess struct {
	*run.TooSmallError
	columns int
}

func (e *guess) Error() string {
	what, try, _ := strings.Cut(e.TooSmallError.Error(), "; try ")
	return fmt.Sprintf("%s, for up to %d columns of one-hot encoding; try %s", what, e.columns, try)
}

// Unwrap makes it a run.TooSmallError.
func (e *guess) Unwrap() error { return e.TooSmallError }
