package near

import (
	"fmt"

	"github.com/weir-data/weir/internal/mem"
)

// layout is how the share is used to solve a set.
type layout struct {
	threads int // that look for pairs
	table   int // bytes of each one's table
	buffer  int // bytes of each one's buffer for reading

	direct  bool  // all rows are one window, and pairs are joined as they are found
	window  int64 // rows of a window, a multiple of 64
	windows int
	region  int // bytes of memory of a window's pairs on their way to disk

	checkers int // threads that check pairs
	chunk    int // bytes of pairs that each of them sorts
	arena    int // bytes of n-grams that each of them compares others with, with an exact check
}

const (
	leastBuffer = 16 << 10
	mostBuffer  = 256 << 10
	// pairsHeld is how many pairs a thread collects before it hands them on.
	pairsHeld = 512
	leastHeld = 16 * pairsHeld
	// checkBuffer is what a thread reads of the sketches at a time.
	checkBuffer = 64 << 10
	leastChunk  = 64 << 10
	mostChunk   = 16 << 20
	mostArena   = 64 << 20
	mostPairs   = 32 << 20
	// answers is what the files of bits take.
	answers = 256 << 10
)

// Least is the least share for so many rows, with an eighth more at most, so
// that a run can be refused before it begins.
func Least(rows int64, o Options, threads int) int64 {
	need := int64(Floor)
	for {
		if _, ok := divide(need, rows, 0, max(threads, 1), o); ok {
			return need
		}
		need += need / 8
	}
}

// plan divides the share.
func (s *Set) plan() (layout, error) {
	var most int64
	for p := range parts {
		most = max(most, s.keys.entries(p))
	}
	limit := s.c.Share.Limit()
	l, ok := divide(limit, s.rows, most, s.c.Threads, s.c.Options)
	if !ok {
		need := Least(s.rows, s.c.Options, s.c.Threads)
		return l, fmt.Errorf("%d rows: %w", s.rows, &mem.TooSmallError{Share: "dedup", Need: need, Limit: limit})
	}
	return l, nil
}

// divide finds a layout for rows of which a partition has most; false: so many
// windows would be needed that their files cannot be kept account of. Where all
// rows find room beside the tables, pairs never go to disk.
func divide(limit, rows, most int64, threads int, o Options) (l layout, ok bool) {
	limit -= accounts
	l.window = (rows + 63) &^ 63
	l.windows = 1
	if whole := int64(mem.BlockSize(int(min(4*l.window, limit)))); !o.checks() && 4*l.window < limit && whole <= limit/2 {
		l.direct = true
		l.solvers(limit-whole, most, threads)
		return l, true
	}
	files := limit / 8
	pairs := min(limit/4, mostPairs)
	l.solvers(limit-files-pairs, most, threads)

	row, checking := int64(windowRow), int64(0)
	switch {
	case o.Check:
		row += sketchBytes
		l.checkers = int(min(int64(threads), max(limit/4/(leastChunk+checkBuffer), 1)))
		l.chunk = share(limit/8, l.checkers, mostChunk)
		checking = int64(l.checkers) * int64(l.chunk+checkBuffer) / 16 * 17
	case o.Exact:
		l.checkers = int(min(int64(threads), max(limit/4/int64(judgeBytes(leastChunk, leastChunk)), 1)))
		l.chunk, l.arena = share(limit/16, l.checkers, mostChunk), share(limit/8, l.checkers, mostArena)
		checking = int64(l.checkers) * int64(judgeBytes(l.chunk, l.arena)) / 16 * 17
	}
	room := (limit - files - pairs - checking - answers) / 17 * 16
	l.window = min(room/row, 1<<windowBits) &^ 63
	l.windows = int((rows + l.window - 1) / l.window)
	if int64(l.windows)*2*fanAccount > files {
		return l, false
	}
	each := (rows + int64(l.windows) - 1) / int64(max(l.windows, 1))
	l.window = (each + 63) &^ 63
	l.region = int(pairs/17*16) / max(l.windows, 1)
	return l, true
}

// share is what one of several has of memory: pages, within bounds.
func share(memory int64, among int, most int64) int {
	return int(min(max(memory/int64(among), leastChunk), most)) &^ 4095
}

// solvers divides memory between the threads that look for pairs. The fewer
// there are, the fewer times a partition has to be read whose table does not
// fit.
func (l *layout) solvers(memory, most int64, threads int) {
	want := slotsFor(most) * slotBytes
	for n := threads; ; n-- {
		each := memory / int64(n) / 17 * 16 // a block costs up to a sixteenth more than it has
		l.threads, l.buffer = n, int(min(mostBuffer, max(leastBuffer, each/16)))&^4095
		room := each - int64(l.buffer) - leastHeld
		l.table = int(min(want, room)) / slotBytes * slotBytes
		if n == 1 || want <= room {
			return
		}
	}
}
