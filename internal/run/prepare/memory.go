package prepare

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
)

const (
	// lightRow is the bytes up to which a row needs no memory of its own.
	lightRow = parts.MostBatch / 8
	// heapChange is how much more the heap may have a moment later.
	heapChange = 1 << 20
	// guessed is how many columns one-hot encoding may make in a number that is
	// told to users before it is known.
	guessed = 1000
)

// needs are the bytes of the second pass.
type needs struct {
	transform int64
	deal      int64
	block     int // of a batch
	rows      int // the most of one
	batches   int64
	out       int64 // the least of a lane
	outMost   int64
}

func (n needs) sum(lanes int) int64 {
	return n.transform + n.deal + n.batches + n.out*int64(lanes)
}

// needs counts what a writer of so many threads holds beside its files.
func (w *work) needs(out *arrow.Schema, p *scale.Params, group int64, threads int) needs {
	lanes := int64(len(w.assign.Names()))
	least, most := store.WriteCost(w.Out)
	floor := w.design.TransformFloor(p, threads)
	block, rows := parts.BatchSize(w.reading.Schema(), out, parts.BatchBytes(group))
	return needs{
		transform: floor + p.Size() + w.lookCost(out),
		deal:      dealBytes + 2*w.assign.Cost(),
		block:     block, rows: rows,
		// A batch of each lane; one that is moved to more memory, for the
		// heaviest row, and one that is written meanwhile.
		batches: (lanes+2)*int64(mem.BlockSize(block)) + w.heavy()/4*5,
		// While a part becomes permanent the next is written.
		out: least, outMost: 2 * most,
	}
}

// heavy is what the heaviest row needs beside what there is for every row; 0
// where the fit is not done.
func (w *work) heavy() int64 { return max(0, w.state.Heavy-lightRow) }

// groupSizes are the row groups that come into question, the largest first: a
// sixteenth of --memory at most, whatever threads there are.
func (w *work) groupSizes() []int64 {
	switch {
	case w.state.Group > 0:
		return []int64{w.state.Group}
	case w.Write.RowGroup > 0:
		return []int64{w.Write.RowGroup}
	}
	var out []int64
	for g := int64(parts.MostGroup); g >= parts.LeastGroup; g /= 2 {
		if g <= max(w.Run.Memory/16, parts.LeastGroup) {
			out = append(out, g)
		}
	}
	return out
}

// writeMemory is what a writer of so many threads needs for a row group.
func (w *work) writeMemory(out *arrow.Schema, p *scale.Params, group int64, threads int) (least, most int64, err error) {
	_, files, err := w.laneOptions(out, group, threads)
	if err != nil {
		return 0, 0, err
	}
	n, lanes := w.needs(out, p, group, threads), len(files)
	least = n.sum(lanes) + total(files)
	return least, least + int64(lanes)*(n.outMost-n.out) + parts.MoreBatches, nil
}

// passesLeast is what the passes behind the fit need at least of what the first
// one has, if it finds p.
func (w *work) passesLeast(p *scale.Params) (int64, error) {
	out, err := w.design.Out(p)
	if err != nil {
		return 0, err
	}
	sizes := w.groupSizes()
	least, _, err := w.writeMemory(out, p, sizes[len(sizes)-1], min(w.Run.Options.Threads, run.WorkerThreads))
	if err != nil {
		return 0, err
	}
	// Parameters, their text, and what is counted of the columns stay on the
	// heap between the passes.
	heap := 3*p.Size() + w.lookCost(out)/lookings + 256*int64(out.NumFields())
	return max(least+w.reading.Later(w.Run, heap), w.arraysLeast(out)), nil
}

// chooseGroup takes the largest row group that there is room for, with some to
// spare because the heap is never twice the same, and the smallest where there
// is none for any.
func (w *work) chooseGroup(out *arrow.Schema, p *scale.Params) error {
	room := w.reading.Room(w.Run)
	for _, w.state.Group = range w.groupSizes() {
		least, _, err := w.writeMemory(out, p, w.state.Group, run.WorkerThreads)
		if err != nil || least+heapChange <= room {
			return err
		}
	}
	return nil
}

// laneOptions are the options of every lane where the largest split has row
// groups of so many bytes, and the memory of its files.
func (w *work) laneOptions(out *arrow.Schema, group int64, threads int) (opts []format.WriteOptions, bytes []int64, err error) {
	names := w.assign.Names()
	heaviest := 0
	if len(w.Split.Weights) > 0 {
		heaviest = slices.Max(w.Split.Weights)
	}
	row := int64(weight.New(w.reading.Schema(), out).Fixed)
	for i := range names {
		opt := w.Write
		opt.RowGroup, opt.Threads = group, threads
		switch {
		case heaviest > 0:
			opt.RowGroup = int64(float64(group) * float64(w.Split.Weights[i]) / float64(heaviest))
		case i != w.train:
			opt.RowGroup = group / 4
		}
		opt.RowGroup = max(opt.RowGroup, min(group, parts.LeastGroup), 64*row)
		least, _, err := w.Writer.Memory(out, opt)
		if err != nil {
			return nil, nil, err
		}
		// A row that is larger than a page is one, raw and compressed.
		opts, bytes = append(opts, opt), append(bytes, least+2*w.heavy())
	}
	return opts, bytes, nil
}

func total(n []int64) (sum int64) {
	for _, v := range n {
		sum += v
	}
	return sum
}
