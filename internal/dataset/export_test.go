package dataset

import (
	"bytes"
	"context"
	"time"

	"github.com/weir-data/weir/internal/mem"
)

// Impatient makes claims that are given up soon, for tests.
func (at Place) Impatient() Place {
	at.timing = &timing{beat: 20 * time.Millisecond, stale: 150 * time.Millisecond, poll: 5 * time.Millisecond}
	return at
}

// Silent makes claims that are not renewed.
func (at Place) Silent() Place {
	at.timing = &timing{beat: time.Hour, stale: 150 * time.Millisecond, poll: 5 * time.Millisecond}
	return at
}

// Elsewhere makes claims in the name of a process of another machine.
func (at Place) Elsewhere() Place {
	at.owner = &process{Host: "elsewhere", PID: 1, Machine: "another"}
	return at
}

// Died makes claims in the name of a process that was here and is gone.
func (at Place) Died(pid int) Place {
	p := self()
	p.PID, p.Started = pid, "0"
	at.owner = &p
	return at
}

// Claims takes a lock of objects, whatever the store is.
func Claims(ctx context.Context, at Place) (release func() error, held func() error, err error) {
	d, leave, err := at.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := d.claim(ctx)
	if err != nil {
		leave()
		return nil, nil, err
	}
	return func() error { leave(); return l.release(ctx) }, func() error { return l.held(ctx) }, nil
}

// SegmentParts is how many parts make a segment.
const SegmentParts = segmentParts

// ReadManifest reads a manifest from memory.
func ReadManifest(data []byte, share *mem.Budget, visit Visit) (*Manifest, error) {
	j := newJSONReader("manifest.json", bytes.NewReader(data), share)
	defer j.close()
	return readManifest(j, visit)
}
