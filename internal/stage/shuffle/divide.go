package shuffle

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// divided is a partition that was too large, as partitions of its own.
type divided struct {
	parts *Partitions
	share *mem.Budget
	i     int   // of the one that is open
	from  int64 // rows of it to leave out
	open  source
}

// divide scatters partition i once more.
func (p *Partitions) divide(ctx context.Context, i int, from int64, share *mem.Budget) (_ *divided, err error) {
	c := p.c
	c.Name = partitionName(p.c.Name, i)
	room := share.Limit() - reserve(share.Limit())
	fan := p.weight(i)/max(room*7/10, 1) + 1
	c.Partitions = int(min(max(fan, 2), int64(mostPartitions(share.Limit()))))
	d := &divided{share: share, from: from, parts: &Partitions{c: c, form: p.form}}
	d.parts.zone = append(append(zone(nil), p.zone...), uint64(c.Partitions))
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	heap, err := share.Acquire(ctx, scatterHeap(p.form, c.Partitions))
	if err != nil {
		return nil, err
	}
	defer heap.Release()
	one := c
	one.Threads = 1
	h, err := newHands(ctx, one, share, nil)
	if err != nil {
		return nil, err
	}
	defer h.free()
	r, err := c.Scratch.Reader(c.Name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	again := rescatter{ctx, p.form, p.zone, share, int64(h.block.Cap()) + heap.Size(), h}
	if err := again.file(r, p.parts[i]); err != nil {
		return nil, fmt.Errorf("scratch: %s: %w", c.Name, err)
	}
	d.parts.parts = h.parts
	return d, nil
}

// rescatter deals the rows of a file.
type rescatter struct {
	ctx   context.Context
	form  *rows.Form
	zone  zone // of the file
	share *mem.Budget
	held  int64 // of the share
	hands *hands
}

func (s rescatter) file(r *spill.Reader, m Part) error {
	head := make([]byte, headBytes)
	left := m.Rows
	for at := int64(0); at < m.Bytes; {
		if m.Bytes-at < headBytes {
			return errDamaged
		}
		if _, err := r.ReadAt(head, at); err != nil {
			return err
		}
		size, err := blockSize(head, m.Bytes-at)
		if err != nil {
			return err
		}
		n, err := s.blockAt(r, at, int(size))
		if err != nil {
			return err
		}
		at, left = at+size, left-n
	}
	if left != 0 {
		return errDamaged
	}
	return s.hands.flush()
}

// blockAt deals the rows of one block.
func (s rescatter) blockAt(r *spill.Reader, at int64, size int) (n int64, err error) {
	ram, err := beside(s.ctx, s.share, s.held, size)
	if err != nil {
		return 0, err
	}
	defer ram.Free()
	b := ram.Bytes()
	if _, err := r.ReadAt(b, at); err != nil {
		return 0, err
	}
	var failed error
	n, err = eachRow(s.form, b, func(at, size int) {
		if failed == nil {
			failed = s.row(b, at, size)
		}
	})
	if err == nil {
		err = failed
	}
	return n, err
}

// row deals the row that lies at a place of a block.
func (s rescatter) row(b []byte, at, size int) error {
	key := binary.LittleEndian.Uint64(b[at:])
	p := int(part(s.zone.within(key), uint64(len(s.hands.parts))))
	if !s.hands.holds(size) {
		// The only row of its block, or of few: its head goes where the one of
		// the block was, or where a row was that is dealt already.
		from := at - headBytes
		return s.hands.write(p, b[from:at+size], 1)
	}
	to, ok := s.hands.take(p, size)
	if !ok {
		if err := s.hands.makeRoom(p); err != nil {
			return err
		}
		to, _ = s.hands.take(p, size)
	}
	copy(s.hands.block.Bytes()[to:], b[at:at+size])
	return nil
}

func (d *divided) next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		if d.open == nil {
			if err := d.advance(ctx); err != nil {
				return nil, err
			}
		}
		rec, err := d.open.next(ctx)
		if err != io.EOF {
			return rec, err
		}
		d.open.close()
		d.open = nil
		if err := d.parts.Remove(d.i); err != nil {
			return nil, err
		}
		d.i++
	}
}

// advance opens the next partition that has rows to give; io.EOF: there is none.
func (d *divided) advance(ctx context.Context) error {
	for d.i < d.parts.Len() && d.from >= d.parts.Rows(d.i) {
		d.from -= d.parts.Rows(d.i)
		d.i++
	}
	if d.i == d.parts.Len() {
		return io.EOF
	}
	s, err := d.parts.open(ctx, d.i, d.from, d.share)
	if err != nil {
		return err
	}
	d.open, d.from = s, 0
	return nil
}

func (d *divided) close() {
	if d.open != nil {
		d.open.close()
		d.open = nil
	}
	for i := range d.parts.c.Partitions {
		d.parts.Remove(i) // what cannot be removed here goes when scratch space is cleared
	}
}
