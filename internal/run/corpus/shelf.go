package corpus

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// shelf is what rows go through to parts: batches of fixed ends, so that parts do
// not depend on how rows were cut.
type shelf struct {
	*work
	lane      *parts.Lane
	transform *scale.Transform
	batches   *mem.Budget
	settling  *stream.Future // makes a part permanent; nil: none
}

// shelfMemory is what a shelf cannot do without, and what makes it faster.
func (w *work) shelfMemory() (least, most int64, err error) {
	one, err := w.shelfNeeds(1)
	if err != nil {
		return 0, 0, err
	}
	all, err := w.shelfNeeds(w.sideBySide())
	return one.least(), all.least() + one.outMost + parts.MoreBatches + one.files, err
}

// mostGroups is how many row groups are encoded side by side at most.
const mostGroups = 8

// sideBySide is how many row groups are encoded side by side where there is
// memory for them: one for every two threads.
func (w *work) sideBySide() int {
	if !w.Writer.Groups {
		return 1
	}
	return max(1, min(w.Run.Options.Threads/2, mostGroups))
}

// Parts of Parquet and Arrow, and of formats that make a part in memory.
const (
	usualPart = 256 << 20
	mostPart  = 64 << 20
	leastPart = 1 << 20
	// partsOfChapter is how many parts of the latter are between two checkpoints:
	// the last of them is not full.
	partsOfChapter = 8
)

// partSize is the bytes of a part. It does not change in the middle of a run.
func (w *work) partSize() int64 {
	switch {
	case w.state.Part > 0:
	case w.Config.Write.PartSize > 0:
		w.state.Part = w.Config.Write.PartSize
	case w.Writer.Index == nil:
		w.state.Part = usualPart
	default:
		row := int64(weight.New(w.out, w.out).Fixed)
		for w.state.Part = mostPart; w.state.Part > max(leastPart, w.Run.Memory/8, 4*row); {
			w.state.Part /= 2
		}
	}
	return w.state.Part
}

// chapterSize is the bytes of a chapter, of rows that are all written.
func (w *work) chapterSize() int64 {
	if w.Writer.Index == nil {
		return w.partSize()
	}
	return partsOfChapter * w.partSize()
}

// littleMemory is one where row groups of a 16th leave texts no room beside
// scratch files: 64 MiB then do not do.
const littleMemory = 128 << 20

// groupSize is the bytes of a row group. It does not change in the middle of a run.
func (w *work) groupSize() int64 {
	if w.state.Group == 0 {
		if w.state.Group = w.Config.Write.RowGroup; w.state.Group == 0 {
			share := w.Run.Memory / 16
			if w.Run.Memory < littleMemory {
				share /= 2
			}
			w.state.Group = max(parts.LeastGroup, min(share, parts.MostGroup))
		}
	}
	return w.state.Group
}

// needs are the bytes of a shelf.
type needs struct {
	design       *scale.Design
	params       *scale.Params
	opt          format.WriteOptions
	threads      int // of the copying
	block, rows  int
	queue        int64 // batches of row groups that are encoded side by side
	floor        int64 // of the copying
	files        int64
	out, outMost int64
}

func (n *needs) least() int64 {
	// A batch that is gathered, one that is moved to more memory, and one that
	// is written meanwhile.
	return n.floor + n.files + n.out + 3*int64(mem.BlockSize(n.block)) + n.queue
}

// shelfNeeds are those of a shelf that encodes so many row groups side by side.
func (w *work) shelfNeeds(groups int) (n needs, err error) {
	if n.design, err = scale.Plan(w.out, scale.Config{}); err != nil {
		return n, err
	}
	n.params = n.design.Expect(0)
	n.opt = w.Config.Write
	n.opt.PartSize = w.partSize()
	n.threads = min(max(1, w.Run.Options.Threads), run.WorkerThreads)
	n.opt.RowGroup, n.opt.Threads, n.opt.Groups = w.groupSize(), n.threads, groups
	if groups > 1 {
		n.opt.Threads = min(w.Run.Options.Threads/groups, run.WorkerThreads)
		n.queue = int64(groups) * (w.state.Group + w.state.Group/4)
	}
	n.block, n.rows = parts.BatchSize(w.out, w.out, parts.BatchBytes(w.state.Group))
	n.floor = n.design.TransformFloor(n.params, n.threads)
	if n.files, _, err = w.Writer.Memory(w.out, n.opt); err != nil {
		return n, err
	}
	least, most := store.WriteCost(w.Out)
	n.out, n.outMost = least, 2*most
	return n, nil
}

func (w *work) openShelf(ctx context.Context, share *mem.Budget) (_ *shelf, err error) {
	n, err := w.shelfNeeds(w.sideBySide())
	for err == nil && n.opt.Groups > 1 && n.least() > share.Free() {
		n, err = w.shelfNeeds(n.opt.Groups - 1)
	}
	if err != nil {
		return nil, err
	}
	s := &shelf{work: w}
	defer func() {
		if err != nil {
			s.abort()
		}
	}()
	spare := share.Free() - n.least()
	made := parts.Maker{Store: w.Store, Prefix: strings.TrimRight(w.Out, "/") + "/" + split + "/", Schema: w.out, Writer: w.Writer, Options: n.opt}
	s.lane = &parts.Lane{Maker: made, Next: w.data.Splits()[0].Parts, Ctx: ctx, Block: n.block, Batch: int64(parts.BatchBytes(w.state.Group))}
	if s.lane.Files, err = share.Carve("writing", n.files+max(0, min(n.files, spare/4))); err != nil {
		return nil, err
	}
	if s.lane.Outs, err = share.Carve("output", n.out+max(0, min(n.outMost, spare/4))); err != nil {
		return nil, err
	}
	if s.transform, err = n.design.NewTransform(n.params, share, n.threads); err != nil {
		return nil, err
	}
	if s.batches, err = share.Carve("batches", share.Free()); err != nil {
		return nil, err
	}
	s.lane.Batches, s.lane.Rows = s.batches, s.transform.Gather(n.rows)
	return s, nil
}

func (s *shelf) add(rec arrow.RecordBatch, rows, weights []int32) error {
	return s.lane.Add(rec, rows, weights)
}

// end ends a part, and makes it permanent with a checkpoint behind it while the
// next is written.
func (s *shelf) end(ctx context.Context, c dataset.Checkpoint) error {
	e, err := s.lane.End()
	if err != nil || e == nil {
		return err
	}
	if err := s.settle(); err != nil {
		e.Drop()
		return err
	}
	state, err := s.encode()
	if err != nil {
		e.Drop()
		return err
	}
	s.settling = stream.Async(func() error {
		part, err := e.Commit(ctx)
		if err != nil {
			return err
		}
		c.State, c.Parts = state, append(e.Full, part)
		return s.data.Checkpoint(ctx, c)
	})
	return nil
}

// settle waits until all parts that have ended are permanent.
func (s *shelf) settle() error { return s.settling.Wait() }

func (s *shelf) abort() {
	s.settle() // its error, if any, is known or of no use
	if s.lane != nil {
		s.lane.Close()
	}
	if s.transform != nil {
		s.transform.Close()
	}
	s.batches.Close()
}

// shelved is the outlet of rows that are not shuffled.
type shelved struct {
	*shelf
	ctx context.Context
}

func (s shelved) chapter(at stream.Cursor) error {
	return s.end(s.ctx, dataset.Checkpoint{Pass: passWrite, Cursor: at})
}

// close ends the last part; a checkpoint behind it would not be gone on from.
func (s shelved) close() error {
	if err := s.end(s.ctx, dataset.Checkpoint{Pass: passOrder}); err != nil {
		return err
	}
	return s.settle()
}
