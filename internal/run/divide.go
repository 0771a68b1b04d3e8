package run

import "github.com/weir-data/weir/internal/format"

// Division is how a budget is divided among readers that work side by side,
// each with the sink or worker that takes its batches. Bytes are of one each.
type Division struct {
	Side    int // readers
	Threads int // of a reader
	Workers int // of what takes its batches
	// ReadLeast and WorkLeast are what they cannot do without, Read and Work
	// what they get.
	ReadLeast, WorkLeast int64
	Read, Work           int64
	Heap                 int64 // of all, for the Go runtime

	data format.Dataset
}

// divide takes as many readers, up to most, as fit. All get their least; of
// the rest the sink gets what it can use, but not more than half. What planning
// left on the heap, and what the runtime can use, comes first. Memory is that
// of a sink of so many threads.
func (r *Reading) divide(c Config, most int, memory func(threads int) (least, most int64)) (Division, error) {
	var live int64
	if c.Heap != nil {
		live = c.Heap()
	}
	extra := heapExtra(live)
	threads := max(1, c.Options.Threads)
	for n := most; ; n-- {
		d := Division{Side: n, Threads: threads, data: r.data}
		if n > 1 {
			d.Threads = (threads + n - 1) / n
			d.data = r.data.(format.Divider).Divide(d.Threads)
		}
		d.ReadLeast = max(d.data.Floor(), leastData)
		d.Workers = min(d.Threads, WorkerThreads)
		var workMost int64
		d.WorkLeast, workMost = memory(d.Workers)
		rest := (c.Budget.Limit()-extra)/int64(n) - d.ReadLeast - d.WorkLeast
		if rest < 0 && n > 1 {
			continue
		}
		if rest < 0 {
			need := d.ReadLeast + heapAdvice(live)
			return d, &TooSmallError{Memory: c.Memory, Need: need, Write: d.WorkLeast, Try: Base + need + d.WorkLeast}
		}
		more := slack(rest*int64(n), threads)
		d.Heap, rest = extra+more, rest-more/int64(n)
		more = min(rest/2, workMost-d.WorkLeast)
		d.Read, d.Work = d.ReadLeast+rest-more, d.WorkLeast+more
		return d, nil
	}
}

// Format is the name of what is read.
func (r *Reading) Format() string { return r.format.Name }

// Division is how Scan of a planned reading would divide the budget between it
// and a sink that needs so much; it refuses as Scan does.
func (r *Reading) Division(c Config, p Prepared) (Division, error) {
	return r.divide(c, 1, func(int) (int64, int64) { return p.Least, p.Most })
}

// PiecesDivision is how Pieces would divide the budget for n pieces; it refuses
// as Pieces does.
func (r *Reading) PiecesDivision(c Config, n int, alone bool, memory func(threads int) (least, most int64)) (Division, error) {
	return r.divide(c, r.side(c, n, alone), memory)
}

// side is how many readers make sense for n pieces: as many as there are
// threads for, where beginning in the middle costs little beside a piece.
func (r *Reading) side(c Config, n int, alone bool) int {
	_, ok := r.data.(format.Divider)
	if !ok || alone || c.SkipBad || n <= 1 || r.data.Info().LargestIn*4 > r.data.Info().InMemory {
		return 1
	}
	return max(1, min(max(1, c.Options.Threads)/strandThreads, n))
}
