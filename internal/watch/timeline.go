package watch

import (
	"sync"
	"time"

	"github.com/weir-data/weir/internal/run"
)

// timelineMost is how many points a Timeline keeps. When they are full every
// second one goes, and from then on half as many come.
const timelineMost = 256

// Timeline keeps how much memory a process had at what time, over readings one
// after the other, in bounded room. The zero value serves. All methods are safe
// for concurrent use.
type Timeline struct {
	mu      sync.Mutex
	points  []Point
	passes  []float64     // when each reading began, in seconds
	every   time.Duration // of the points
	began   time.Duration // of the reading at hand, by the clock of all
	last    time.Duration // of the observation before, by the reading's clock
	highest Point         // since the last point that was kept
}

// Point is the memory of a process at a time.
type Point struct {
	Seconds float64 `json:"seconds"` // since the first reading began
	Bytes   int64   `json:"bytes"`   // the most since the point before
}

// Observe takes note of an observation. One of an earlier time than the one
// before belongs to the next reading.
func (t *Timeline) Observe(o run.Observation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.Elapsed < t.last || t.passes == nil {
		t.began += t.last
		t.passes = append(t.passes, t.began.Seconds())
	}
	t.last = o.Elapsed
	now := t.began + o.Elapsed
	t.highest.Seconds, t.highest.Bytes = now.Seconds(), max(t.highest.Bytes, o.Memory)
	if n := len(t.points); n > 0 && now.Seconds()-t.points[n-1].Seconds < t.every.Seconds() {
		return
	}
	if len(t.points) == timelineMost {
		t.halve(now)
	}
	t.points = append(t.points, t.highest)
	t.highest = Point{}
}

// halve joins two points to one each.
func (t *Timeline) halve(now time.Duration) {
	for i := range timelineMost / 2 {
		a, b := t.points[2*i], t.points[2*i+1]
		t.points[i] = Point{Seconds: b.Seconds, Bytes: max(a.Bytes, b.Bytes)}
	}
	t.points = t.points[:timelineMost/2]
	t.every = now / (timelineMost / 2)
}

// Points are what was kept, in the order of time.
func (t *Timeline) Points() []Point {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Point(nil), t.points...)
}

// Passes is when each reading began, in seconds since the first did.
func (t *Timeline) Passes() []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]float64(nil), t.passes...)
}

// All calls every one of some observers that is not nil.
func All(observers ...func(run.Observation)) func(run.Observation) {
	return func(o run.Observation) {
		for _, observe := range observers {
			if observe != nil {
				observe(o)
			}
		}
	}
}
