package corpus

import (
	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
)

// mostReading is what a reader can make use of beyond its least.
const mostReading = 64 << 20

// directory takes what the directory and the program need out of the budget, and
// leaves the rest to the passes.
func (w *work) directory() (share *mem.Budget, end func(), err error) {
	cost, whole := w.besides(), w.Run.Budget
	if share, err = whole.Carve("dataset", cost); err != nil {
		return nil, nil, w.tooSmall(whole.Limit()-w.reading.Room(w.Run), 0)
	}
	if w.Run.Budget, err = whole.Carve("passes", whole.Free()); err != nil {
		share.Close()
		return nil, nil, err
	}
	return share, func() { w.Run.Budget.Close(); share.Close() }, nil
}

// besides is what the directory and the program need.
func (w *work) besides() int64 { return dataset.Cost(w.Out) + run.ProgramBytes }

// tooSmall refuses a memory in which reading needs so much, and what is done
// with the rows.
func (w *work) tooSmall(reading, doing int64) error {
	doing += w.besides()
	return &run.TooSmallError{Memory: w.Run.Memory, Need: reading, Write: doing, Try: run.Base + reading + reading/8 + doing + 1<<20}
}

// divide takes what a pass holds beside the reader of a reading out of the
// budget: at least so much and at most, where the reader keeps enough to be
// fast. The rest is the budget of the Config.
func (w *work) divide(r *run.Reading, name string, least, most int64) (*mem.Budget, run.Config, error) {
	c := w.Run
	c.Planned = r
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
