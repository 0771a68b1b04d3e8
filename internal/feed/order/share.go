package order

import "github.com/weir-data/weir/internal/format"

// Share is who takes which samples. A step takes the next World*Batch positions
// of the order, one batch for every rank, so that all ranks take the same number
// of batches of the same sizes, and what has been taken after any step is all
// positions below one: any other Share can go on from there.
type Share struct {
	Rank, World int // World 0: one rank
	// Worker of Workers takes every Workers-th of its rank's batches; 0: one
	// worker.
	Worker, Workers int
	Batch           int // rows of a batch
	// Drop leaves the samples out that do not fill a last step. Otherwise
	// they are a step of smaller batches, all of one size, for which less
	// than World samples of that same step are repeated.
	Drop bool
}

// Sequence is an order that can be shared: an Epoch or a MixEpoch.
type Sequence interface {
	// Rows of the sequence: positions are 0 to Rows-1.
	Rows() int64
	// count adds the strata of positions [lo, hi) to c.
	count(c *tally, lo, hi int64)
	// strataFrom puts the strata of the positions from pos on into dst.
	strataFrom(dst []uint8, pos int64)
	// mixed is false where strata are of no use: no rank needs less than
	// the others' rows, and each takes positions that lie side by side.
	mixed() bool
}

func (e *Epoch) mixed() bool                       { return e.plan.opt.Shuffle }
func (e *Epoch) strataFrom(dst []uint8, pos int64) { fillStrata(dst, e.key, pos) }
func (e *Epoch) count(c *tally, lo, hi int64)      { c.add(e.key, lo, hi) }

// Check is the error that says which field cannot be.
func (s Share) Check() error {
	switch {
	case s.World < 0 || s.World > 1<<24:
		return format.Error(format.ErrUsage, "order: world size %d; it is 1 or more", s.World)
	case s.Rank < 0 || s.Rank >= s.world():
		return format.Error(format.ErrUsage, "order: rank %d of a world of %d; ranks go from 0 to %d", s.Rank, s.world(), s.world()-1)
	case s.Workers < 0 || s.Worker < 0 || s.Worker >= s.workers():
		return format.Error(format.ErrUsage, "order: worker %d of %d; workers go from 0 to %d", s.Worker, s.workers(), s.workers()-1)
	case s.Batch < 1 || s.Batch > mostRows:
		return format.Error(format.ErrUsage, "order: batches of %d rows; they have from 1 to %d", s.Batch, mostRows)
	}
	return nil
}

func (s Share) world() int   { return max(1, s.World) }
func (s Share) workers() int { return max(1, s.Workers) }

// Stride is the positions that a step takes.
func (s Share) Stride() int64 { return int64(s.world()) * int64(s.Batch) }

// Steps is how many steps, the same for all ranks, take n positions from
// position from on.
func (s Share) Steps(n, from int64) int64 {
	left := max(0, n-from)
	if s.Drop {
		return left / s.Stride()
	}
	return (left + s.Stride() - 1) / s.Stride()
}

// Next is the first step, from step on, that is this worker's.
func (s Share) Next(step int64) int64 {
	k := int64(s.workers())
	return step + ((int64(s.Worker)-step)%k+k)%k
}

// After is the position to go on from when a step has been taken; n: the epoch
// is over. With Drop what is left over is passed when the last step is taken.
func (s Share) After(n, from, step int64) int64 {
	if step+1 >= s.Steps(n, from) {
		return n
	}
	return from + (step+1)*s.Stride()
}

// span is the positions of a step and how many each rank takes.
func (s Share) span(n, from, step int64) (lo, hi, each int64) {
	lo = from + step*s.Stride()
	hi = min(n, lo+s.Stride())
	return lo, hi, (hi - lo + int64(s.world()) - 1) / int64(s.world())
}

// Positions appends to dst this rank's samples of a step: ascending, and then
// those that other ranks have too, as many as repeated says. Steps are counted
// from position from, and are below Steps.
func (s Share) Positions(dst []int64, seq Sequence, from, step int64) (positions []int64, repeated int) {
	lo, hi, each := s.span(seq.Rows(), from, step)
	a := int64(s.Rank) * each
	b := a + each
	all := hi - lo
	dst = s.pick(dst, seq, lo, hi, min(a, all), min(b, all))
	for i := max(a, all); i < b; i++ {
		dst = s.pick(dst, seq, lo, hi, i%all, i%all+1)
		repeated++
	}
	return dst, repeated
}

// pick appends those of the positions [lo, hi) that are number a to b when they
// are sorted by stratum and position.
func (s Share) pick(dst []int64, seq Sequence, lo, hi, a, b int64) []int64 {
	if a >= b {
		return dst
	}
	if !seq.mixed() || b-a == hi-lo {
		for pos := lo + a; pos < lo+b; pos++ {
			dst = append(dst, pos)
		}
		return dst
	}
	// Of each stratum, how many to pass and how many then to take.
	var pass, take, c tally
	seq.count(&c, lo, hi)
	for i, n := range c {
		pass[i] = min(max(a, 0), n)
		take[i] = min(max(b, 0), n) - pass[i]
		a, b = a-n, b-n
	}
	var buf [8192]uint8 // to begin in a mix costs some microseconds
	for pos := lo; pos < hi; {
		some := buf[:min(int64(len(buf)), hi-pos)]
		seq.strataFrom(some, pos)
		for i, t := range some {
			switch {
			case pass[t] > 0:
				pass[t]--
			case take[t] > 0:
				take[t]--
				dst = append(dst, pos+int64(i))
			}
		}
		pos += int64(len(some))
	}
	return dst
}

// layers is the strata [s0, s1) that hold all samples that this rank and worker
// takes of the positions [lo, hi), when it began at position from.
func (s Share) layers(seq Sequence, from, lo, hi int64) (s0, s1 int) {
	// Below four rounds a step the strata are all needed soon.
	all := s.world() == 1 || s.Stride() < 4*strata
	s0, s1 = strata, 0
	steps := s.Steps(seq.Rows(), from)
	for t := s.Next(max(0, lo-from) / s.Stride()); t < steps && from+t*s.Stride() < hi; t = s.Next(t + 1) {
		l, h, each := s.span(seq.Rows(), from, t)
		if all || int64(s.Rank+1)*each > h-l { // repeated samples may be of any
			return 0, strata
		}
		var c tally
		seq.count(&c, l, h)
		a, b := int64(s.Rank)*each, int64(s.Rank+1)*each
		for i, n := range c {
			if a < n && b > 0 && n > 0 {
				s0, s1 = min(s0, i), max(s1, i+1)
			}
			a, b = a-n, b-n
		}
	}
	return min(s0, s1), s1
}

// Narrow leaves those rows of a window of the epoch out that a share takes no
// sample of when it takes its steps from position from on.
func (e *Epoch) Narrow(w *Window, s Share, from int64) {
	if e.mixed() {
		s0, s1 := s.layers(e, from, w.First, w.First+w.Rows)
		w.hold(int64(w.start[s0]), int64(w.start[s1]))
	} else {
		lo, hi := s.reach(e.Rows(), from, w.First, w.First+w.Rows)
		w.hold(lo-w.First, hi-w.First)
	}
}

// reach is the positions [first, last) around all those of [lo, hi) that this
// rank and worker takes where ranks take positions side by side.
func (s Share) reach(n, from, lo, hi int64) (first, last int64) {
	first, last = hi, lo
	steps := s.Steps(n, from)
	for t := s.Next(max(0, lo-from) / s.Stride()); t < steps && from+t*s.Stride() < hi; t = s.Next(t + 1) {
		l, h, each := s.span(n, from, t)
		a, b := l+int64(s.Rank)*each, l+int64(s.Rank+1)*each
		if b > h {
			a, b = l, h // some are repeated
		}
		if a < hi && b > lo {
			first, last = min(first, max(a, lo)), max(last, min(b, hi))
		}
	}
	return min(first, last), last
}
