package arrow

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// localGap and remoteGap are how much of what is not wanted is read to
	// join two reads.
	localGap  = 4 << 10
	remoteGap = 256 << 10
	// lengthPrefix stands before every compressed buffer: its length when it
	// is decompressed; -1 says that it is stored as it is.
	lengthPrefix = 8
)

// bodies reads the buffers of record batches.
type bodies struct {
	r       direct
	scratch []byte // for compressed buffers: at least the longest one
	pool    *stream.Pool[codec.Decoder]
}

// rounded is n as buffers are laid out.
func rounded(n int64) int64 { return (n + align - 1) &^ (align - 1) }

// span is a part of the file that is read at once.
type span struct {
	off, n int64
	parts  []*part // some of no bytes among them
}

// setSpans plans the reads that bring all parts. Parts that overlap are read
// twice: what is done to one must not touch another.
func (s *bodies) setSpans(b *batch) {
	gap := int64(localGap)
	if s.r.Remote() {
		gap = remoteGap
	}
	byPlace := func(x, y *part) int { return cmp.Compare(x.off, y.off) }
	if !slices.IsSortedFunc(b.parts, byPlace) {
		slices.SortStableFunc(b.parts, byPlace)
	}
	b.spans, b.stored = b.spans[:0], 0
	first := 0
	for i, p := range b.parts {
		if p.n == 0 {
			continue
		}
		if k := len(b.spans) - 1; k >= 0 {
			last := &b.spans[k]
			// Arrays want aligned numbers.
			if free := p.off - last.off - last.n; free >= 0 && free <= gap && (p.off-last.off)%8 == 0 {
				last.n, last.parts = p.off+p.n-last.off, b.parts[first:i+1]
				continue
			}
		}
		first = i
		b.spans = append(b.spans, span{off: p.off, n: p.n, parts: b.parts[i : i+1]})
	}
	for _, sp := range b.spans {
		b.stored += rounded(sp.n)
	}
}

// read reads all spans of b to dst, one behind another, and tells the parts
// where they lie.
func (s *bodies) read(ctx context.Context, b *batch, dst []byte) error {
	for _, sp := range b.spans {
		mem := dst[:sp.n]
		dst = dst[min(rounded(sp.n), int64(len(dst))):]
		err := s.r.ReadAt(ctx, mem, sp.off)
		s.r.Drop(sp.off, sp.n)
		if err != nil {
			return err
		}
		for _, p := range sp.parts {
			if p.n > 0 {
				p.mem = mem[p.off-sp.off:][:p.n:p.n]
			}
		}
	}
	return nil
}

// measure plans the reading of a batch and finds the lengths of compressed
// parts. Where all of them fit scratch, they are read along.
func (s *bodies) measure(ctx context.Context, b *batch) error {
	s.setSpans(b)
	if b.codec == codec.None {
		return nil
	}
	if b.stored <= int64(len(s.scratch)) {
		if err := s.read(ctx, b, s.scratch); err != nil {
			return err
		}
	}
	for _, p := range b.parts {
		if p.n == 0 {
			continue
		}
		if p.n < lengthPrefix {
			return damaged("a compressed buffer of %d bytes", p.n)
		}
		var head [lengthPrefix]byte
		if p.mem != nil {
			copy(head[:], p.mem)
		} else if err := s.r.ReadAt(ctx, head[:], p.off); err != nil {
			return err
		}
		if err := p.setSize(int64(binary.LittleEndian.Uint64(head[:])), b.codec); err != nil {
			return err
		}
	}
	return nil
}

// setSize checks a length that is claimed: no codec packs more than that.
func (p *part) setSize(claimed int64, c codec.Codec) error {
	stored := p.n - lengthPrefix
	p.raw = claimed == -1
	if p.raw {
		p.size = stored
		return nil
	}
	most := 256 * (stored + 64) // LZ4: a byte stands for 255 at most
	if c == codec.Zstd {
		most = 64 << 10 * (stored + 64) // four bytes stand for a block of 128 KiB
	}
	if claimed < 0 || claimed > most {
		return damaged("a compressed buffer of %d bytes says that it has %d", stored, claimed)
	}
	p.size = claimed
	return nil
}

// room is the memory that all parts of a batch, which was measured, take when
// they are decompressed.
func (b *batch) room() int64 {
	if b.codec == codec.None {
		return b.stored
	}
	n := int64(0)
	for _, p := range b.parts {
		n += p.room()
	}
	return n
}

// room is what a compressed part takes when it is decompressed: the decoder
// may use some bytes behind it.
func (p *part) room() int64 {
	if p.size == 0 {
		return 0
	}
	return rounded(p.size + codec.Slack)
}

// fill brings all parts of a batch, which was measured, to dst.
func (s *bodies) fill(ctx context.Context, b *batch, dst []byte) error {
	if b.codec == codec.None {
		return s.read(ctx, b, dst)
	}
	at := make([]int64, len(b.parts))
	for i, p := range b.parts[:max(len(b.parts), 1)-1] {
		at[i+1] = at[i] + p.room()
	}
	if b.stored <= int64(len(s.scratch)) {
		return s.pool.Each(len(b.parts), func(i int, d *codec.Decoder) error {
			p := b.parts[i]
			return p.decompress(d, b.codec, dst[at[i]:], p.mem)
		})
	}
	for i, p := range b.parts {
		src := s.scratch[:p.n]
		err := s.r.ReadAt(ctx, src, p.off)
		s.r.Drop(p.off, p.n)
		if err == nil {
			err = p.decompress(s.pool.Own(), b.codec, dst[at[i]:], src)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decompress fills p from its stored bytes.
func (p *part) decompress(d *codec.Decoder, c codec.Codec, dst, src []byte) error {
	if p.n == 0 {
		return nil
	}
	if p.raw {
		c = codec.None
	}
	if p.size > 0 {
		p.mem = dst[:p.size:p.room()]
	} else {
		p.mem = nil
	}
	if err := d.Decompress(c, p.mem, src[lengthPrefix:]); err != nil {
		return damaged("%w", err)
	}
	p.mem = p.mem[:p.size:p.size]
	return nil
}
