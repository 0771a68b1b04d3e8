package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// dialect is one way of writing a codec's blocks.
type dialect struct {
	name   string
	codec  Codec
	encode func(data []byte) []byte
}

var dialects = []dialect{
	{"none", None, bytes.Clone},
	{"snappy", Snappy, snappyEncode},
	{"snappy literal", Snappy, snappyLiteral},
	{"gzip", Gzip, func(b []byte) []byte { return gzipMember(b) }},
	{"gzip members", Gzip, func(b []byte) []byte {
		return append(gzipMember(b[:len(b)/3]), gzipMember(b[len(b)/3:])...)
	}},
	{"brotli", Brotli, func(b []byte) []byte { return brotliBlock(b, 5, 0) }},
	{"brotli small window", Brotli, func(b []byte) []byte { return brotliBlock(b, 4, 16) }},
	{"lz4 bare", LZ4, lz4Encode},
	{"lz4 hadoop", LZ4, func(b []byte) []byte { return hadoopEncode(b, 1<<30, 1<<30) }},
	{"lz4 hadoop series", LZ4, func(b []byte) []byte { return hadoopEncode(b, 100_000, 1<<30) }},
	{"lz4 hadoop chunks", LZ4, func(b []byte) []byte { return hadoopEncode(b, 200_000, 70_000) }},
	{"lz4 frame", LZ4, func(b []byte) []byte { return frameEncode(b, 0x60) }},
	{"lz4 frame sums", LZ4, func(b []byte) []byte { return frameEncode(b, 0x7c) }},
	{"lz4 frames", LZ4, func(b []byte) []byte {
		skip := []byte{0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}
		return append(append(skip, frameEncode(b[:len(b)/2], 0x64)...), frameEncode(b[len(b)/2:], 0x70)...)
	}},
	{"lz4_raw", LZ4Raw, lz4Encode},
	{"zstd", Zstd, func(b []byte) []byte { return zstdFrame(b, true) }},
	{"zstd unsized", Zstd, func(b []byte) []byte { return zstdFrame(b, false) }},
	{"zstd frames", Zstd, func(b []byte) []byte {
		return append(zstdFrame(b[:len(b)/2], false), zstdFrame(b[len(b)/2:], false)...)
	}},
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func gzipMember(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Name = "a name"
	must(w.Write(b))
	must(0, w.Close())
	return out.Bytes()
}

func brotliBlock(b []byte, level, window int) []byte {
	var out bytes.Buffer
	w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: level, LGWin: window})
	must(w.Write(b))
	must(0, w.Close())
	return out.Bytes()
}

func zstdFrame(b []byte, sized bool) []byte {
	if sized {
		w := must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))
		defer w.Close()
		return w.EncodeAll(b, nil)
	}
	var out bytes.Buffer
	w := must(zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10)))
	for len(b) > 0 {
		n := min(len(b), 100_000)
		must(w.Write(b[:n]))
		must(0, w.Flush())
		b = b[n:]
	}
	must(0, w.Close())
	return out.Bytes()
}

// snappyEncode works in blocks of 64 KiB, as the C++, Rust, Java and plain Go
// encoders do; klauspost's looks back further.
func snappyEncode(b []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(len(b)))
	for len(b) > 0 {
		part := b[:min(len(b), 64<<10)]
		b = b[len(part):]
		block := snappy.Encode(nil, part)
		_, n := binary.Uvarint(block)
		out = append(out, block[n:]...)
	}
	return out
}

// snappyLiteral writes literals only, of every length of header.
func snappyLiteral(b []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(len(b)))
	for i := 0; len(b) > 0; i++ {
		n := min(len(b), []int{1, 16, 17, 60, 61, 256, 257, 65536, 70000}[i%9])
		switch k := n - 1; {
		case k < 60:
			out = append(out, byte(k<<2))
		case k < 1<<8:
			out = append(out, 60<<2, byte(k))
		case k < 1<<16:
			out = append(out, 61<<2, byte(k), byte(k>>8))
		case i%2 == 0:
			out = append(out, 62<<2, byte(k), byte(k>>8), byte(k>>16))
		default:
			out = append(out, 63<<2, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
		}
		out = append(out, b[:n]...)
		b = b[n:]
	}
	return out
}

// lz4Encode is a plain greedy encoder.
func lz4Encode(b []byte) []byte {
	var out []byte
	table := make([]int, 1<<14)
	start := 0
	for i := 0; i+12 < len(b); {
		key := binary.LittleEndian.Uint32(b[i:])
		h := key * 2654435761 >> 18
		at := table[h] - 1
		table[h] = i + 1
		if at < 0 || i-at > 65535 || binary.LittleEndian.Uint32(b[at:]) != key {
			i++
			continue
		}
		n := 4
		for i+n < len(b)-5 && b[i+n] == b[at+n] {
			n++
		}
		out = lz4Sequence(out, b[start:i], i-at, n)
		i += n
		start = i
	}
	return lz4Sequence(out, b[start:], 0, 0)
}

// lz4Sequence appends literals and a match; n of 0 ends the block.
func lz4Sequence(out, lit []byte, off, n int) []byte {
	token := min(len(lit), 15) << 4
	if n > 0 {
		token |= min(n-4, 15)
	}
	out = append(out, byte(token))
	length := func(n int) {
		if n -= 15; n < 0 {
			return
		}
		for ; n >= 255; n -= 255 {
			out = append(out, 255)
		}
		out = append(out, byte(n))
	}
	length(len(lit))
	out = append(out, lit...)
	if n > 0 {
		out = append(out, byte(off), byte(off>>8))
		length(n - 4)
	}
	return out
}

func hadoopEncode(b []byte, size, chunk int) []byte {
	var out []byte
	for first := true; len(b) > 0 || first; first = false {
		part := b[:min(len(b), size)]
		b = b[len(part):]
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		for first := true; len(part) > 0 || first; first = false {
			block := lz4Encode(part[:min(len(part), chunk)])
			part = part[min(len(part), chunk):]
			out = binary.BigEndian.AppendUint32(out, uint32(len(block)))
			out = append(out, block...)
		}
	}
	return out
}

// frameEncode writes independent blocks of 64 KiB, every third one stored.
func frameEncode(b []byte, flags byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	out = append(out, flags, 4<<4)
	if flags&8 != 0 {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(b)))
	}
	out = append(out, byte(xxh32Of(out[4:])>>8))
	all := b
	for i := 0; len(b) > 0; i++ {
		part := b[:min(len(b), 64<<10)]
		b = b[len(part):]
		block, bit := lz4Encode(part), uint32(0)
		if i%3 == 2 || len(block) > len(part) {
			block, bit = part, 1<<31
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(len(block))|bit)
		out = append(out, block...)
		if flags&0x10 != 0 {
			out = binary.LittleEndian.AppendUint32(out, xxh32Of(block))
		}
	}
	out = append(out, 0, 0, 0, 0)
	if flags&4 != 0 {
		out = binary.LittleEndian.AppendUint32(out, xxh32Of(all))
	}
	return out
}

// text is words by their rank, as in a language.
func text(n int) []byte { return allText()[:n:n] }

var allText = sync.OnceValue(func() []byte {
	const n = 8 << 20
	r := rand.New(rand.NewPCG(1, 2))
	words := make([][]byte, 20_000)
	for i := range words {
		w := make([]byte, 2+r.IntN(9))
		for j := range w {
			w[j] = byte('a' + min(r.IntN(26), r.IntN(26)))
		}
		words[i] = w
	}
	zipf := rand.NewZipf(r, 1.2, 8, uint64(len(words)-1))
	var b []byte
	for len(b) < n {
		b = append(append(b, words[zipf.Uint64()]...), ' ')
	}
	return b[:n]
})

// floats is a walk of doubles, as a numeric column has them.
func floats(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b []byte
	x := 100.0
	for len(b) < n {
		x += math.Round(r.NormFloat64()*4) / 4
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b[:n]
}

func noise(n int) []byte { return allNoise()[:n:n] }

var allNoise = sync.OnceValue(func() []byte {
	const n = 4 << 20
	r := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
})

// patterns repeats short patterns of all lengths: copies that overlap.
func patterns(n int) []byte {
	var b []byte
	for p := 1; len(b) < n; p = p%40 + 1 {
		pat := noise(p + len(b)%7)
		for range 1 + (p*37)%50 {
			b = append(b, pat...)
		}
	}
	return b[:n]
}

type sample struct {
	name string
	data []byte
}

func samples(n int) []sample {
	return []sample{
		{"text", text(n)}, {"floats", floats(n)}, {"noise", noise(n)},
		{"zeros", make([]byte, n)}, {"patterns", patterns(n)},
	}
}

// each runs f for every dialect.
func each(t *testing.T, f func(t *testing.T, d dialect)) {
	for _, d := range dialects {
		t.Run(fmt.Sprint(d.name), func(t *testing.T) { f(t, d) })
	}
}
