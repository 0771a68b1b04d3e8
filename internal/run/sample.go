package run

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-data/weir/internal/mem"
)

const (
	sampleEvery  = 20 * time.Millisecond
	observeEvery = 5 // samples
)

// sampler watches this process's memory while batches flow.
type sampler struct {
	rows, bytes atomic.Int64 // delivered so far
	peak        int64        // valid after stop
	quit, done  chan struct{}
}

// sample starts a sampler; stop ends it. Observe, where not nil, is called
// with every fifth sample and a last time at the end.
func sample(observe func(memory int64)) *sampler {
	s := &sampler{quit: make(chan struct{}), done: make(chan struct{})}
	go s.loop(observe)
	return s
}

// loop is the one goroutine outside stream: it only looks, so that a long
// decode between two batches does not hide a peak.
func (s *sampler) loop(observe func(int64)) {
	defer close(s.done)
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		now := mem.Usage()
		s.peak = max(s.peak, now)
		if observe != nil && n%observeEvery == 0 {
			observe(now)
		}
		select {
		case <-tick.C:
		case <-s.quit:
			now = mem.Usage()
			s.peak = max(s.peak, now)
			if observe != nil {
				observe(now)
			}
			return
		}
	}
}

// stop takes a last sample and ends the goroutine. A second call does nothing.
func (s *sampler) stop() {
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	<-s.done
}

// cpuSeconds is the processor time of this process so far.
func cpuSeconds() float64 {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano()).Seconds()
}
