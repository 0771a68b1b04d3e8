package run

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/weir-data/weir/internal/mem"
)

// Base is the part of --memory that no lease pays for: the program's own
// pages, goroutine stacks, and a Go heap that holds descriptions, the S3
// client and the collector's slack. Measured: 3 MiB of anonymous pages at the
// start; while scanning, from disk or from S3 with two threads, a heap of 4 MiB
// (the collector's minimum) with 1 MiB of it live. The rest is for what the
// kernel charges a container: page tables, socket buffers, and file pages. With
// less than some 10 MiB of those, in a container of exactly --memory, code and
// data are read again and again: 16 MiB here halved the speed, 20 do not.
const Base = 20 << 20

// ProgramBytes is what the program's own pages take beside Base where more is at
// work than reading. Without it a container of exactly --memory reads its code
// again and again.
const ProgramBytes = 8 << 20

// freeHeap is the live heap that Base covers; what planning leaves above it is
// taken out of the budget.
const freeHeap = 6 << 20

// leastData is the smallest budget worth having: one page and one batch of
// anything.
const leastData = 1 << 20

// TooSmallError refuses a --memory before any data is read.
type TooSmallError struct {
	Memory int64 // what was given
	Need   int64 // what reading needs beside Base
	Write  int64 // what writing needs beside that; 0: nothing is written
	Try    int64 // what would work
}

func (e *TooSmallError) Error() string {
	writing := ""
	if e.Write > 0 {
		writing = ", writing " + mem.Format(e.Write)
	}
	return fmt.Sprintf("--memory %s is too small: reading needs %s%s beside %s for the program; try --memory %s",
		flag(e.Memory), mem.Format(e.Need), writing, mem.Format(Base), mem.Flag(e.Try))
}

// Unwrap makes errors.Is(err, mem.ErrTooSmall) hold.
func (e *TooSmallError) Unwrap() error { return mem.ErrTooSmall }

// advise adds the --memory that would do to an error that says what a share of
// it lacks, of which it gets one of so many parts.
func advise(err error, memory, parts int64) error {
	var small *mem.TooSmallError
	if memory == 0 || !errors.As(err, &small) {
		return err
	}
	return fmt.Errorf("%w; try --memory %s", err, mem.Flag(memory+parts*(small.Need-small.Limit)))
}

// flag writes the user's number back; unlike mem.Flag it never rounds up.
func flag(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%dMiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%dB", n)
}

// Setup makes memory the limit of this process. While nothing is leased the
// Go runtime may use it all, for planning; once Scan knows what planning left,
// the runtime is held to Base and that, and the rest is the budget for data.
// Call it once, before anything large is allocated. A memory that leaves
// nothing for data is refused by Scan, which knows the number that works.
func Setup(memory int64) *mem.Budget {
	// In a container of exactly that, the code that plans wants pages too: of
	// schemas with 10,000 columns it has read itself again and again.
	debug.SetMemoryLimit(max(memory, Base) / 2)
	return mem.New(max(memory-Base, 0))
}

// limitHeap tells the runtime to stay inside Base and extra bytes. A quarter
// less, because its limit is soft and does not count the program's own data.
func limitHeap(extra int64) {
	debug.SetMemoryLimit((Base + extra) / 4 * 3)
}

// LiveHeap collects garbage, gives it back to the system and returns what is
// left.
func LiveHeap() int64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// heapExtra is what a live heap needs of the budget: what Base does not cover
// and a quarter for the collector.
func heapExtra(live int64) int64 {
	return max(0, live-freeHeap) / 4 * 5
}

// HeapNeed is what of the budget the Go heap takes that planning left.
func HeapNeed() int64 { return heapExtra(LiveHeap()) }

// Settle holds the Go runtime to Base, a HeapNeed and, of what is to spare, some
// room for many threads, which it returns.
func Settle(need, spare int64, threads int) int64 {
	more := slack(spare, threads)
	limitHeap(need + more)
	return more
}

// slack is what of the memory that is to spare goes to the Go runtime: where
// many threads work, a heap that just fits is collected all the time.
func slack(spare int64, threads int) int64 {
	return min(spare/8, int64(max(1, threads))*2<<20)
}

// heapStep makes heapAdvice coarse, so that the number told today also covers
// tomorrow's slightly different heap.
const heapStep = 4 << 20

// heapAdvice is heapExtra for a number that is told to users.
func heapAdvice(live int64) int64 {
	extra := heapExtra(live)
	if extra == 0 {
		return 0
	}
	return (extra + extra/8 + heapStep) / heapStep * heapStep
}
