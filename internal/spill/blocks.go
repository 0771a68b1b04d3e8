package spill

import (
	"errors"
	"fmt"
)

// blockPlace is where a block of a compressed file begins.
type blockPlace struct {
	plain  int64 // among the bytes that were written
	stored int64 // on disk
}

// behind is where the block that follows begins.
func (b blockPlace) behind(h blockInfo) blockPlace {
	return blockPlace{b.plain + int64(h.plain), b.stored + blockHead + int64(h.stored)}
}

// readBlocks fills p from byte off of what was written. Whoever reads front to
// back finds each block without looking at those before.
func (r *Reader) readBlocks(p []byte, off int64) (int, error) {
	k := <-r.dir.coders.idle
	defer func() { r.dir.coders.idle <- k }()
	r.mu.Lock()
	at := r.at
	r.mu.Unlock()
	if off < at.plain {
		at = blockPlace{}
	}
	n := 0
	for n < len(p) {
		h, err := r.head(at, k)
		if err != nil {
			return n, err
		}
		if from := off + int64(n) - at.plain; from < int64(h.plain) {
			more, err := r.block(p[n:], int(from), at, h, k)
			if err != nil {
				return n, err
			}
			if n += more; from+int64(more) < int64(h.plain) {
				break // the rest of the block may be wanted next
			}
		}
		at = at.behind(h)
	}
	r.mu.Lock()
	r.at = at
	r.mu.Unlock()
	return n, nil
}

// head is that of the block at a place.
func (r *Reader) head(at blockPlace, k *coder) (blockInfo, error) {
	b := k.stored[:blockHead]
	if _, err := r.readStored(b, at.stored); err != nil {
		return blockInfo{}, err
	}
	h, err := parseHead(b)
	if err != nil {
		return h, r.damaged(at, err)
	}
	return h, nil
}

// block copies what there is of a block from one of its bytes on to p, and
// returns how much.
func (r *Reader) block(p []byte, from int, at blockPlace, h blockInfo, k *coder) (int, error) {
	data := k.stored[blockHead:][:h.stored]
	if _, err := r.readStored(data, at.stored+blockHead); err != nil {
		return 0, err
	}
	if from == 0 && len(p) >= h.plain {
		if err := k.unpack(p, h, data); err != nil {
			return 0, r.damaged(at, err)
		}
		return h.plain, nil
	}
	if err := k.unpack(k.plain, h, data); err != nil {
		return 0, r.damaged(at, err)
	}
	return copy(p, k.plain[from:h.plain]), nil
}

// damaged gives an error its place on disk.
func (r *Reader) damaged(at blockPlace, err error) error {
	return r.dir.failed(r.name, fmt.Errorf("byte %d: %w", at.stored, err))
}

// storedSize is how much of a compressed file lies on disk up to a size of what
// was written, which a checkpoint remembered.
func (d *Dir) storedSize(name string, size int64) (_ int64, err error) {
	r, err := d.Reader(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	k := <-d.coders.idle
	defer func() { d.coders.idle <- k }()
	at := blockPlace{}
	for at.plain < size && at.stored < r.size {
		h, err := r.head(at, k)
		if err != nil {
			return 0, err
		}
		at = at.behind(h)
	}
	if at.plain != size || at.stored > r.size {
		return 0, d.failed(name, fmt.Errorf("%d bytes, of which no %d that were written can be had", r.size, size))
	}
	return at.stored, nil
}
