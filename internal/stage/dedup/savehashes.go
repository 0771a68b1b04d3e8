package dedup

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// SaveHashes has Finish write the keys of the rows that are kept, for Against
// of a later run.
func (s *Set) SaveHashes(description string, w io.Writer) { s.description, s.save = description, w }

// saveHashes goes over all partitions once more.
func (s *Set) saveHashes(ctx context.Context, answers *[parts]series, count int64) error {
	if len(s.description) > maxDescription {
		return fmt.Errorf("hashes: a bug in weir, please report it: a description of %d bytes", len(s.description))
	}
	block, err := s.c.Share.Map(ctx, 3*hashBuffer)
	if err != nil {
		return err
	}
	defer block.Free()
	b := block.Bytes()
	out := &hashWriter{out: s.save, buf: b[2*hashBuffer : 2*hashBuffer]}
	head := append([]byte(hashMagic), make([]byte, hashHead-len(hashMagic))...)
	binary.LittleEndian.PutUint32(head[8:], hashVersion)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(s.description)))
	binary.LittleEndian.PutUint64(head[16:], uint64(count))
	out.put(append(head, s.description...))
	for p := range s.parts {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		keys := s.parts[p].scan(s.c.Scratch, s.arena, b[:hashBuffer])
		kept := wordsIn{scan: answers[p].scan(s.c.Scratch, s.arena, b[hashBuffer:2*hashBuffer])}
		if err := out.partition(byte(p), &keys, &kept, s.earlier[p]); err != nil {
			return err
		}
	}
	return out.end()
}

// hashWriter writes a file of hashes.
type hashWriter struct {
	out io.Writer
	buf []byte
	sum xxh3.Hasher
	err error
}

// put writes p, which is short.
func (h *hashWriter) put(p []byte) {
	if len(h.buf)+len(p) > cap(h.buf) {
		h.flush()
	}
	if len(p) > cap(h.buf) {
		h.write(p)
		return
	}
	h.buf = append(h.buf, p...)
}

func (h *hashWriter) flush() {
	h.write(h.buf)
	h.buf = h.buf[:0]
}

func (h *hashWriter) write(p []byte) {
	if h.err == nil {
		h.sum.Write(p)
		_, h.err = h.out.Write(p)
	}
}

// partition writes the keys that are kept, but for those of earlier runs.
func (h *hashWriter) partition(p byte, keys *scan, kept *wordsIn, skip int64) error {
	for {
		b, err := keys.next()
		if err != nil || len(b) == 0 {
			return err
		}
		for ; len(b) > 0; b = b[keyBytes:] {
			keep, err := kept.bit()
			if err != nil {
				return err
			}
			if skip--; skip >= 0 || !keep {
				continue
			}
			low, high := unpack(b)
			k := whole(p, low, high)
			var e [16]byte
			binary.LittleEndian.PutUint64(e[:], k[0])
			binary.LittleEndian.PutUint64(e[8:], k[1])
			h.put(e[:])
		}
		if h.err != nil {
			return h.err
		}
	}
}

func (h *hashWriter) end() error {
	h.flush()
	sum := h.sum.Sum128()
	var e [16]byte
	binary.LittleEndian.PutUint64(e[:], sum.Lo)
	binary.LittleEndian.PutUint64(e[8:], sum.Hi)
	h.write(e[:])
	return h.err
}
