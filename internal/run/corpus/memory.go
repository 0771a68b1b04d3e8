package corpus

import (
	"context"
	"errors"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/shuffle"
)

// scratchBytes is left to the kernel for the pages of scratch files. Without it,
// in a container of exactly --memory, the program's code is read again and again.
// Measured there with 64 MiB, a shuffle of 93 MB: 2 s with 10 MiB, 6 s with 6, 26 s
// and more with 4.
const scratchBytes = 10 << 20

// mostReading is what a reader can make use of beyond its least.
const mostReading = 64 << 20

// directory takes what the directory, the program and the tokenizer need out of
// the budget, and leaves the rest to the passes.
func (w *work) directory() (share *mem.Budget, end func(), err error) {
	cost, whole := w.besides(), w.Run.Budget
	if share, err = whole.Carve("dataset", cost); err != nil {
		return nil, nil, w.nothingLeft()
	}
	held, err := share.Acquire(context.Background(), w.held())
	if err != nil {
		share.Close()
		return nil, nil, err
	}
	if w.Run.Budget, err = whole.Carve("passes", whole.Free()); err != nil {
		held.Release()
		share.Close()
		return nil, nil, err
	}
	if heap := w.Run.Heap; heap != nil {
		w.Run.Heap = func() int64 { return heap() - w.held() }
	}
	return share, func() { w.Run.Budget.Close(); held.Release(); share.Close() }, nil
}

// besides is what the directory, the program and the tokenizer need.
func (w *work) besides() int64 {
	n := dataset.Cost(w.Out) + run.ProgramBytes + w.held()
	if w.needsScratch() {
		n += scratchBytes
	}
	return n
}

// nothingLeft refuses a memory that does not even hold what lies beside the
// passes, with a number that the passes fit in too.
func (w *work) nothingLeft() error {
	return w.refuse(w.Run.Budget.Limit() - w.reading.Room(w.Run))
}

// refuse names a memory that all passes fit in, where reading needs so much. Row
// groups are larger in more memory, and need more of it.
func (w *work) refuse(reading int64) error {
	given := w.Run.Memory
	for {
		w.state.Group, w.state.Window, w.state.Part = 0, 0, 0
		least, _, err := w.passMemory()
		if err != nil {
			return err
		}
		small := w.tooSmall(reading, least)
		if small.Try <= w.Run.Memory {
			small.Memory, small.Try = given, w.Run.Memory
			return small
		}
		w.Run.Memory = small.Try
	}
}

// held is what the tokenizer has on the Go heap, in all passes.
func (w *work) held() int64 {
	if w.Tokenize == nil {
		return 0
	}
	return w.Tokenize.Tokenizer.Bytes()
}

// tooSmall refuses a memory in which reading needs so much, and what is done
// with the rows.
func (w *work) tooSmall(reading, doing int64) *run.TooSmallError {
	doing += w.besides()
	return &run.TooSmallError{Memory: w.Run.Memory, Need: reading, Write: doing, Try: run.Base + reading + reading/8 + doing + 1<<20}
}

// divide takes what a pass holds beside the reader of a reading out of the
// budget: at least so much and at most, where the reader keeps enough to be
// fast. The rest is the budget of the Config.
func (w *work) divide(r *run.Reading, name string, least, most int64) (*mem.Budget, run.Config, error) {
	c := w.Run
	c.Planned = r
	if c.Heap != nil {
		// What the pass puts on the heap from here on is leased.
		live := c.Heap()
		c.Heap = func() int64 { return live }
	}
	room := r.Room(c)
	if room < least {
		return nil, c, w.tooSmall(c.Budget.Limit()-room, least)
	}
	spare := room - least
	share, err := c.Budget.Carve(name, least+min(most-least, spare-min(spare/4, mostReading)))
	if err != nil {
		return nil, c, err
	}
	if c.Budget, err = c.Budget.Carve("reading", c.Budget.Free()); err != nil {
		share.Close()
		return nil, c, err
	}
	return share, c, nil
}

// passMemory is what no pass can do without beside reading, and what makes them
// faster.
func (w *work) passMemory() (least, most int64, err error) {
	if least, most, err = w.writeMemory(); err != nil {
		return 0, 0, err
	}
	if w.Dedup != nil {
		least = max(least, w.hashLeast())
	}
	least = max(least, w.arraysLeast())
	if w.Shuffle {
		shelf, _, err := w.shelfMemory()
		if err != nil {
			return 0, 0, err
		}
		least = max(least, shelf+8*lineRows+shuffle.Least(w.out, orders)+w.coderLeast())
	}
	return least, max(least, most), nil
}

// fits refuses a memory that is too small for a pass, before the first has begun.
func (w *work) fits() error {
	least, most, err := w.passMemory()
	if err != nil {
		return err
	}
	share, c, err := w.divide(w.reading, "rows", least, most)
	if small, ok := errors.AsType[*run.TooSmallError](err); ok {
		return w.refuse(small.Need)
	}
	if err != nil {
		return err
	}
	c.Budget.Close()
	share.Close()
	return nil
}
