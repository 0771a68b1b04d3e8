package dataset

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// timing is how claims are kept alive and watched.
type timing struct {
	beat  time.Duration // a claim is renewed this often
	stale time.Duration // one that was not renewed for so long is dead
	poll  time.Duration // another's claim is looked at this often
}

var usual = timing{beat: 10 * time.Second, stale: time.Minute, poll: 500 * time.Millisecond}

// A lock of objects: every run writes a claim of its own, first as one who
// wants the directory (want-ID), and then looks whether there are others. Only
// who sees none holds it (hold-ID), and the claim stays until the end. Of two
// that begin at once at least one sees the other, since listings show every
// object that was written before; this needs no conditional request, which not
// all services know, and removing a dead claim can never hit a live one.
//
// A claim is dead when its process was of this machine and is gone, or when it
// was not renewed for a minute of this process's own clock; no two clocks are
// compared. What cannot be kept out is a process that was stopped for longer
// than that and then goes on: it finds its claim gone before its next
// checkpoint, or before its manifest, and gives up; a part that it commits
// before has the bytes that the other run writes as well, if the plan is the
// same.
type claim struct {
	d     *directory
	id    string
	stop  func() // no more beats
	beats *stream.Future
}

const (
	wants = workDir + "want-"
	holds = workDir + "hold-"
)

// claimed is what a claim's object says.
type claimed struct {
	process
	Beat int64 `json:"beat"` // makes each renewal another object
}

// mostClaim bounds the object of a claim that is read.
const mostClaim = 4 << 10

func (d *directory) claim(ctx context.Context) (lock, error) {
	c := &claim{d: d, id: rand.Text()}
	if err := c.write(ctx, wants, 0); err != nil {
		return nil, err
	}
	err := c.contend(ctx)
	if err == nil {
		err = c.write(ctx, holds, 0)
	}
	if err != nil {
		c.withdraw(ctx)
		return nil, err
	}
	if err := d.remove(ctx, wants+c.id); err != nil {
		c.withdraw(ctx)
		return nil, err
	}
	stopped := make(chan struct{})
	c.stop = sync.OnceFunc(func() { close(stopped) })
	c.beats = stream.Async(func() error { c.renew(context.WithoutCancel(ctx), stopped); return nil })
	return c, nil
}

// withdraw takes back what was written; what stays is dead with this process.
func (c *claim) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	c.d.remove(ctx, holds+c.id)
	c.d.remove(ctx, wants+c.id)
}

func (c *claim) write(ctx context.Context, kind string, beat int64) error {
	return c.d.put(ctx, kind+c.id, func(w io.Writer) error {
		return writeJSON(w, claimed{process: c.d.me(), Beat: beat})
	})
}

// others are the claims that are not c's, and whether c's own is there.
func (c *claim) others(ctx context.Context) (list []store.Object, mine bool, err error) {
	all, err := c.d.list(ctx, workDir)
	for _, o := range all {
		name := c.d.rel(o)
		switch {
		case name == wants+c.id || name == holds+c.id:
			mine = true
		case strings.HasPrefix(name, wants) || strings.HasPrefix(name, holds):
			list = append(list, o)
		}
	}
	return list, mine, err
}

// contend waits until there is no other claim, or until it is clear that
// another is alive.
func (c *claim) contend(ctx context.Context) error {
	t := c.d.clock()
	seen := make(map[string]sighting)
	for {
		list, mine, err := c.others(ctx)
		if err != nil {
			return err
		}
		if !mine {
			return refuse(ErrBusy, "%s: another run took this one for dead and writes there", c.d.url)
		}
		if len(list) == 0 {
			return nil
		}
		open := false
		for _, o := range list {
			dead, err := c.judge(ctx, o, seen, t)
			if err == nil && dead {
				err = c.d.remove(ctx, c.d.rel(o))
			}
			if err != nil {
				return err
			}
			open = open || !dead
		}
		if !open {
			continue
		}
		select {
		case <-time.After(t.poll):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", c.d.url, context.Cause(ctx))
		}
	}
}

// sighting is when a version of a claim was first seen.
type sighting struct {
	etag string
	at   time.Time
	by   process
}

// judge says whether a claim is dead, and fails for one that is alive. Of one
// that may be either it takes note.
func (c *claim) judge(ctx context.Context, o store.Object, seen map[string]sighting, t timing) (dead bool, err error) {
	name := c.d.rel(o)
	s, known := seen[name]
	if known {
		if s.etag != o.ETag {
			return false, busy(c.d.url, s.by)
		}
		return time.Since(s.at) >= t.stale, nil
	}
	me := c.d.me()
	s = sighting{etag: o.ETag, at: time.Now(), by: c.d.claimant(ctx, o)}
	seen[name] = s
	if s.by.dead(me) {
		return true, nil
	}
	here := s.by.Machine != "" && s.by.Machine == me.Machine && strings.HasPrefix(name, holds)
	first := strings.HasPrefix(name, wants) && name < wants+c.id // of two that begin at once one goes first
	if here || first {
		return false, busy(c.d.url, s.by)
	}
	if c.d.Note != nil {
		c.d.Note(fmt.Sprintf("%s: waiting up to %v to see whether %v still writes there", c.d.url, t.stale, s.by))
	}
	return false, nil
}

// claimant is who wrote a claim; one that cannot be read, since it was just
// renewed or removed, is of nobody known.
func (d *directory) claimant(ctx context.Context, o store.Object) process {
	var who claimed
	if o.Size > mostClaim {
		return who.process
	}
	err := d.read(ctx, o, o.Size, func(r io.Reader) error {
		j := newJSONReader(o.URL, r, d.Share)
		defer j.close()
		return j.value(&who)
	})
	if err != nil {
		return process{Host: "an unknown machine"}
	}
	return who.process
}

// renew writes the claim again and again, unless it was taken away. A write
// that fails is tried at the next beat: held finds out if that was too late.
// One under way is never broken off: the service might carry it out after the
// claim was removed.
func (c *claim) renew(ctx context.Context, stopped <-chan struct{}) {
	tick := time.NewTicker(c.d.clock().beat)
	defer tick.Stop()
	for beat := int64(1); ; beat++ {
		select {
		case <-stopped:
			return
		case <-tick.C:
		}
		if c.held(ctx) == nil {
			c.write(ctx, holds, beat)
		}
	}
}

func (c *claim) held(ctx context.Context) error {
	list, mine, err := c.others(ctx)
	if err != nil {
		return err
	}
	for _, o := range list {
		mine = mine && !strings.HasPrefix(c.d.rel(o), holds)
	}
	if !mine {
		return refuse(ErrLost, "%s: another run took the directory over, since this one did not show for %v", c.d.url, c.d.clock().stale)
	}
	return nil
}

func (c *claim) release(ctx context.Context) error {
	c.drop()
	return c.d.remove(ctx, holds+c.id)
}

func (c *claim) name() string { return holds + c.id }

func (c *claim) drop() {
	c.stop()
	c.beats.Wait() // it only returns nil
}

func (d *directory) clock() timing {
	if d.timing != nil {
		return *d.timing
	}
	return usual
}
