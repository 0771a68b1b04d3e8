package call

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stream"
)

// bitRows are answered at a time.
const bitRows = 1 << 19

// firsts finds the rows that are the first of their kind: by a seen, which answers
// now and then, while that has room, and the rows behind by a dedup.Set, which answers
// in the end.
type firsts struct {
	config  dedup.Config
	seen    *seen      // nil: keys go to the set
	set     *dedup.Set // nil: they do not
	short   bool       // keys are cut
	earlier int64      // keys in the set before the first row that it has to answer
	later   int64      // rows that it has to answer
}

// openFirsts takes memory of the share as it needs it: less for short keys.
func openFirsts(c dedup.Config, expect int64, short bool, pool *stream.Pool[dedup.HashScratch]) (*firsts, error) {
	f := &firsts{config: c, short: short}
	if !short {
		var err error
		f.set, err = dedup.Open(c)
		return f, err
	}
	// A set of this share must be able to take over: its slabs, and a chunk for
	// each of its partitions, are a twentieth each.
	f.seen = newSeen(c.Share, c.Share.Free()-max(dedup.Floor, c.Share.Limit()/8), expect, pool)
	return f, nil
}

// known takes keys, before those of all rows, whose rows are not the first of their
// kind. None of them is short.
func (f *firsts) known(ctx context.Context, keys []dedup.Key) error {
	f.earlier += int64(len(keys))
	return f.set.Add(ctx, keys)
}

// add takes the keys of the next rows, batchRows at most, which it may change, and
// writes the answers that there are.
func (f *firsts) add(ctx context.Context, keys []dedup.Key, out *bitWriter) error {
	if f.seen != nil {
		if done, err := f.look(keys, out); done || err != nil {
			return err
		}
		if err := f.handOver(ctx); err != nil {
			return err
		}
	}
	if f.short {
		for i, k := range keys {
			keys[i] = cut(k)
		}
	}
	f.later += int64(len(keys))
	return f.set.Add(ctx, keys)
}

// look gives keys to the seen; false: it has no room for them.
func (f *firsts) look(keys []dedup.Key, out *bitWriter) (bool, error) {
	if !f.seen.full(len(keys)) && f.seen.add(keys) {
		return true, nil
	}
	if settled, err := f.seen.settle(out.put); !settled || err != nil {
		return false, err
	}
	return f.seen.add(keys), nil
}

// handOver opens a set for what the seen has no room for, with all that it has.
func (f *firsts) handOver(ctx context.Context) (err error) {
	if f.set, err = dedup.Open(f.config); err != nil {
		return err
	}
	err = f.seen.drain(func(keys []dedup.Key, pending bool) error {
		if pending {
			f.later += int64(len(keys))
		} else {
			f.earlier += int64(len(keys))
		}
		return f.set.Add(ctx, keys)
	})
	f.seen.close()
	f.seen = nil
	return err
}

// finish writes the answers that were not there before.
func (f *firsts) finish(ctx context.Context, dir *spill.Dir, out *bitWriter) error {
	if f.seen != nil {
		settled, err := f.seen.settle(out.put)
		if err == nil && !settled {
			err = f.handOver(ctx)
		}
		if err != nil {
			return err
		}
	}
	if f.later > 0 {
		kept, err := f.set.Finish(ctx)
		if err != nil {
			return err
		}
		f.set.Close()
		f.set = nil
		bits, err := kept.Open(ctx, dir, f.config.Share)
		if err != nil {
			return err
		}
		defer bits.Close()
		words := make([]uint64, bitRows/64)
		for row := int64(0); row < f.later; row += bitRows {
			n := min(bitRows, f.later-row)
			if err := bits.Read(f.earlier+row, int(n), words); err != nil {
				return err
			}
			if err := out.putAll(words, int(n)); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

// close gives all memory back. Of nil it does nothing.
func (f *firsts) close() {
	if f == nil {
		return
	}
	f.seen.close()
	if f.set != nil {
		f.set.Close()
	}
}

// bitWriter writes bits, the first as the lowest of the first byte.
type bitWriter struct {
	out    io.WriterAt
	at     int64 // of the next byte
	word   uint64
	n      int // bits of word
	buffer []byte
}

// putAll adds the first n bits of words; those behind them in the last are 0.
func (w *bitWriter) putAll(words []uint64, n int) error {
	for i := 0; i < n; i += 64 {
		if err := w.put(words[i/64], min(64, n-i)); err != nil {
			return err
		}
	}
	return nil
}

// put adds the lowest n bits of a word, 64 at most; all others are 0.
func (w *bitWriter) put(word uint64, n int) error {
	w.word |= word << w.n
	if w.n+n < 64 {
		w.n += n
		return nil
	}
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, w.word)
	w.word = word >> (64 - w.n) // 0 for a shift of 64
	w.n += n - 64
	if len(w.buffer) < bitRows/8 {
		return nil
	}
	return w.write()
}

func (w *bitWriter) write() error {
	_, err := w.out.WriteAt(w.buffer, w.at)
	w.at += int64(len(w.buffer))
	w.buffer = w.buffer[:0]
	return err
}

// flush writes what is left, up to the end of a word.
func (w *bitWriter) flush() error {
	if w.n > 0 {
		w.buffer = binary.LittleEndian.AppendUint64(w.buffer, w.word)
		w.word, w.n = 0, 0
	}
	return w.write()
}
