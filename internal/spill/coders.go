package spill

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/mem"
)

// A compressed file is blocks, each of what one Write has, or a piece of it:
//
//	4 bytes  mark
//	4 bytes  its bytes
//	4 bytes  its bytes on disk; as many: they are not compressed
//	8 bytes  checksum (xxh3) of the sizes and of what follows
//
// zstd at its fastest is taken because disk is what there is too little of: of
// rows of texts and tokens it leaves 38 to 49 %, where lz4 leaves 52 to 65 and
// s2 55 to 71, at 140 MB/s a core.
const (
	blockMark = 0x6b636c62 // "blck"
	blockHead = 20
	// mostBlock bounds what a coder holds; larger ones are not much smaller on
	// disk: a block of zstd's own is as large.
	mostBlock = 128 << 10
	// blockRoom is what a block takes on disk at most.
	blockRoom = blockHead + mostBlock + mostBlock/64 + 1024
	// encoderHeap is what compressing has on the Go heap, measured.
	encoderHeap = 1 << 20
)

// CodersCost is the memory that n of them take.
func CodersCost(n int) int64 {
	return int64(n)*(encoderHeap+codec.Zstd.Heap()) + int64(mem.BlockSize(n*(blockRoom+mostBlock)))
}

// Coders compress files, as many blocks at a time as there are of them. They are
// safe for concurrent use.
type Coders struct {
	idle  chan *coder
	lease *mem.Lease
	block *mem.Block

	plain, stored atomic.Int64
}

// coder compresses one block at a time.
type coder struct {
	encoder *zstd.Encoder
	decoder codec.Decoder
	stored  []byte // a block as it is on disk
	plain   []byte // a block of which a part is wanted
}

// OpenCoders makes n, of CodersCost(n) bytes of the share.
func OpenCoders(ctx context.Context, share *mem.Budget, n int) (*Coders, error) {
	c := &Coders{idle: make(chan *coder, n)}
	var err error
	if c.block, err = share.Map(ctx, n*(blockRoom+mostBlock)); err != nil {
		return nil, fmt.Errorf("scratch: %w", err)
	}
	if c.lease, err = share.Acquire(ctx, int64(n)*(encoderHeap+codec.Zstd.Heap())); err != nil {
		c.Close()
		return nil, fmt.Errorf("scratch: %w", err)
	}
	ram := c.block.Bytes()
	for range n {
		k := &coder{stored: ram[:blockRoom:blockRoom], plain: ram[blockRoom:][:mostBlock:mostBlock]}
		k.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(mostBlock), zstd.WithEncoderCRC(false))
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("scratch: %w", err)
		}
		c.idle <- k
		ram = ram[blockRoom+mostBlock:]
	}
	return c, nil
}

// Close gives the memory back; nil and a second call do nothing. No file of
// theirs is written or read any more.
func (c *Coders) Close() {
	if c != nil {
		c.block.Free()
		c.lease.Release()
	}
}

// Written is how many bytes the Coders were given, and how many of them they
// have put on disk.
func (c *Coders) Written() (plain, stored int64) { return c.plain.Load(), c.stored.Load() }

// Compressed is the same directory, except that what is created, appended to and
// read is compressed. Sizes and places in files are those of what was written,
// unless said otherwise; Append goes on only at the end of a Write.
func (d *Dir) Compressed(c *Coders) *Dir {
	return &Dir{path: d.path, cache: d.cache, sys: d.sys, coders: c}
}

// pack is a block of at most mostBlock bytes as it lies on disk, in the coder's
// memory.
func (k *coder) pack(p []byte) []byte {
	data := k.encoder.EncodeAll(p, k.stored[blockHead:blockHead])
	if len(data) >= len(p) {
		data = k.stored[blockHead:][:copy(k.stored[blockHead:], p)]
	}
	h := blockInfo{plain: len(p), stored: len(data)}
	le := binary.LittleEndian
	le.PutUint32(k.stored, blockMark)
	le.PutUint32(k.stored[4:], uint32(h.plain))
	le.PutUint32(k.stored[8:], uint32(h.stored))
	le.PutUint64(k.stored[12:], h.checksum(data))
	return k.stored[:blockHead+len(data)]
}

// blockInfo is what the head of a block says.
type blockInfo struct {
	plain, stored int // bytes; neither is above mostBlock
	sum           uint64
}

// ErrDamaged is wrapped by every error that says that a compressed file does not
// hold what was written.
var ErrDamaged = errors.New("a compressed block is damaged; remove the scratch directory and run again")

// parseHead reads the head of a block.
func parseHead(b []byte) (blockInfo, error) {
	le := binary.LittleEndian
	if len(b) < blockHead || le.Uint32(b) != blockMark {
		return blockInfo{}, ErrDamaged
	}
	plain, stored := le.Uint32(b[4:]), le.Uint32(b[8:])
	if plain > mostBlock || stored > plain || stored == 0 {
		return blockInfo{}, ErrDamaged
	}
	return blockInfo{int(plain), int(stored), le.Uint64(b[12:])}, nil
}

func (h blockInfo) checksum(data []byte) uint64 {
	return xxh3.HashSeed(data, uint64(h.plain)<<32|uint64(h.stored))
}

// unpack fills dst, which has room for all bytes of a block, from what lies on
// disk of it.
func (k *coder) unpack(dst []byte, h blockInfo, data []byte) error {
	if h.checksum(data) != h.sum {
		return ErrDamaged
	}
	if h.plain == h.stored {
		copy(dst, data)
		return nil
	}
	if k.decoder.Decompress(codec.Zstd, dst[:h.plain:h.plain], data) != nil {
		return ErrDamaged
	}
	return nil
}
