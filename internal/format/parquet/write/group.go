package write

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// group is a row group under construction: pages that are being filled, those
// that are complete, and the threads that make them.
type group struct {
	*options
	*layout
	leaves []*leaf
	share  *mem.Budget
	dicts  *mem.Budget
	heap   *mem.Lease
	slots  *mem.Block
	crew   []*thread
	pool   *stream.Pool[thread]
	held   held
	// What is done with it in goroutines, one behind the other: the last, nil
	// where there is none, and those that have rows of a batch.
	busy  *stream.Future
	queue []*stream.Future
}

// open leases what is there from the beginning to the end.
func (g *group) open() (err error) {
	g.held = held{share: g.share, size: g.block}
	if g.heap, err = g.share.Acquire(context.Background(), g.layout.heap); err != nil {
		return err
	}
	if g.dicts, err = g.share.Carve("dictionaries", g.layout.dicts); err != nil {
		return err
	}
	if err = g.shareDicts(); err != nil {
		return err
	}
	if g.slots, err = g.share.Map(context.Background(), g.layout.slots); err != nil {
		return err
	}
	at := 0
	for _, l := range g.leaves {
		n := l.slotSize(g.pageOf(l))
		l.slot = g.slots.Bytes()[at : at+n : at+n]
		l.refill(g.pageOf(l))
		at += n
	}
	for range g.threads {
		t, err := newThread(g.layout, g.comp, &g.held)
		if err != nil {
			return err
		}
		g.crew = append(g.crew, t)
	}
	var next atomic.Int64
	g.pool = stream.NewPool(g.threads, func() *thread { return g.crew[next.Add(1)-1] })
	return nil
}

// shareDicts gives each leaf the memory of its dictionary: all from one, or, where
// none may take another's, a part of its own.
func (g *group) shareDicts() (err error) {
	for _, l := range g.leaves {
		if l.dicts = g.dicts; !g.steady {
			continue
		}
		if l.dicts, err = g.dicts.Carve("dictionary", g.layout.dicts/int64(len(g.leaves))); err != nil {
			return err
		}
	}
	return nil
}

// bind points leaves at the arrays of a batch.
func bind(leaves []*leaf, rec arrow.RecordBatch) {
	for _, l := range leaves {
		l.bind(rec.Column(l.column).Data())
	}
}

// then has do done behind what is being done, and end when it is over, whether
// there was an error or not.
func (g *group) then(do func() error, end func()) {
	before := g.busy
	g.busy = stream.Async(func() error {
		defer end()
		if err := before.Wait(); err != nil {
			return err
		}
		return do()
	})
}

// wait waits until nothing is being done with it.
func (g *group) wait() error {
	g.queue = nil
	return g.busy.Wait()
}

// encode adds rows of the batch that leaves are bound to.
func (g *group) encode(from, to int) error {
	return g.each(func(l *leaf, t *thread) error { return l.add(t, from, to) })
}

// flush encodes the pages that are being filled.
func (g *group) flush() error { return g.each((*leaf).flush) }

// each does something with all leaves, by all threads.
func (g *group) each(do func(*leaf, *thread) error) error {
	err := g.pool.Each(len(g.leaves), func(i int, t *thread) error { return do(g.leaves[i], t) })
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// size is what there would be in the file of it.
func (g *group) size() (n int64) {
	for _, l := range g.leaves {
		n += l.chunk.compressed + int64(l.pending()+l.chunk.dict.used)
	}
	return n
}

// clear makes room for another row group.
func (g *group) clear() {
	for _, l := range g.leaves {
		l.chunk.dict.free()
		l.chunk = chunk{}
	}
	for _, t := range g.crew {
		t.log.reset()
	}
	g.held.free()
}

// free gives all memory back.
func (g *group) free() {
	if g.pool != nil {
		g.pool.Close()
		g.pool = nil
	}
	g.clear()
	for _, t := range g.crew {
		t.free()
	}
	g.crew = nil
	g.slots.Free()
	for _, l := range g.leaves {
		if l.dicts != g.dicts {
			l.dicts.Close()
		}
	}
	g.dicts.Close()
	g.heap.Release()
}
