package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/weir-data/weir/internal/format"
	"github.com/zeebo/xxh3"
)

// A file of hashes is, in little endian:
//
//	8 bytes   "weirhash"
//	4 bytes   version, 1
//	4 bytes   length of the description, at most maxDescription
//	8 bytes   number of keys
//	          description: what was hashed and how, as the Hasher tells it
//	          the keys, 16 bytes each: Key[0], Key[1]; each of them once
//	16 bytes  XXH3-128 with seed 0 of all that is before: low half, high half
//
// The keys are in the order of their partitions and in that of the rows inside
// of one: the same rows make the same file, whatever memory there was.
const (
	hashMagic      = "weirhash"
	hashVersion    = 1
	hashHead       = 24
	maxDescription = 1 << 16
	hashBuffer     = 64 << 10
)

// Against takes the keys of an earlier run, as SaveHashes wrote them: rows that
// have one of them are not kept. It is called before Add, any number of times.
// The description is that of the Hasher in use: keys that were made in another
// way are format.ErrUsage, and a damaged file is format.ErrData.
func (s *Set) Against(ctx context.Context, description string, r io.Reader) error {
	if s.err != nil {
		return s.err
	}
	if s.rows != s.before {
		return errors.New("dedup: a bug in weir, please report it: earlier hashes behind rows")
	}
	block, err := s.c.Share.Map(ctx, hashBuffer)
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	defer block.Free()
	lease, err := s.c.Share.Acquire(ctx, maxDescription+hashBuffer)
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	defer lease.Release()
	in := &hashReader{in: r, buf: block.Bytes()}
	if err := in.head(description); err != nil {
		return fmt.Errorf("dedup: hashes: %w", err)
	}
	keys := make([]Key, hashBuffer/16)
	for in.count > 0 {
		n, err := in.keys(keys)
		if err != nil {
			return fmt.Errorf("dedup: hashes: %w", err)
		}
		for _, k := range keys[:n] {
			s.earlier[part(k)]++
		}
		if err := s.Add(ctx, keys[:n]); err != nil {
			return err
		}
		s.before += int64(n)
	}
	if err := in.end(); err != nil {
		return fmt.Errorf("dedup: hashes: %w", err)
	}
	return nil
}

// hashReader reads a file of hashes front to back.
type hashReader struct {
	in    io.Reader
	buf   []byte
	sum   xxh3.Hasher
	count uint64 // keys not yet read
}

func (h *hashReader) fill(n int) ([]byte, error) {
	if _, err := io.ReadFull(h.in, h.buf[:n]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = format.Error(format.ErrData, "%w", err)
		}
		return nil, err
	}
	return h.buf[:n], nil
}

func (h *hashReader) head(description string) error {
	b, err := h.fill(hashHead)
	if err != nil {
		return err
	}
	version, length := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	if string(b[:8]) != hashMagic {
		return format.Error(format.ErrData, "not a file of hashes")
	}
	if version != hashVersion || length > maxDescription {
		return format.Error(format.ErrData, "version %d with a description of %d bytes; version %d can be read", version, length, hashVersion)
	}
	h.count = binary.LittleEndian.Uint64(b[16:])
	h.sum.Write(b)
	if b, err = h.fill(min(int(length), len(h.buf))); err != nil {
		return err
	}
	h.sum.Write(b)
	if string(b) != description {
		return format.Error(format.ErrUsage, "made of %q, the rows are hashed by %q; give the same columns and options", b, description)
	}
	return nil
}

func (h *hashReader) keys(dst []Key) (int, error) {
	n := int(min(uint64(len(dst)), h.count))
	b, err := h.fill(n * 16)
	if err != nil {
		return 0, err
	}
	h.sum.Write(b)
	for i := range n {
		dst[i] = Key{binary.LittleEndian.Uint64(b[i*16:]), binary.LittleEndian.Uint64(b[i*16+8:])}
	}
	h.count -= uint64(n)
	return n, nil
}

func (h *hashReader) end() error {
	want := h.sum.Sum128()
	b, err := h.fill(16)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(b) != want.Lo || binary.LittleEndian.Uint64(b[8:]) != want.Hi {
		return format.Error(format.ErrData, "checksum differs: the file is damaged")
	}
	return nil
}
