package write

import (
	"encoding/binary"
	"math/bits"
)

// Blocks of differences, as most writers make them: each block has its
// smallest difference, each miniblock a width of its own.
const (
	deltaBlock = 128
	deltaMini  = 32
	deltaMinis = deltaBlock / deltaMini
)

// deltaBytes is the room that the differences of n integers of width bytes
// need: a header, the heads of blocks, a miniblock filled up, and what the last
// store writes behind its end.
func deltaBytes(n, width int) int {
	heads := 16 + binary.MaxVarintLen64 + (n/deltaBlock+1)*(binary.MaxVarintLen64+deltaMinis)
	return heads + (n+deltaMini)*width + 8
}

// packDeltas encodes integers of width bytes, of which there is one at least,
// behind dst as DELTA_BINARY_PACKED. dst has the room that deltaBytes asks for.
func packDeltas[T int32 | int64](dst []byte, v []T, width int) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	dst = binary.AppendVarint(dst, int64(v[0]))
	var block [deltaBlock]T
	for len(v) > 1 {
		n := min(len(v)-1, deltaBlock)
		least := differences(block[:n], v[:n+1])
		// What fills the last miniblock up takes no bits.
		for i := n; i < (n+deltaMini-1)&^(deltaMini-1); i++ {
			block[i] = least
		}
		dst = packBlock(dst, block[:(n+deltaMini-1)&^(deltaMini-1)], least, ^uint64(0)>>(64-8*width))
		v = v[n:]
	}
	return dst
}

// differences sets d to what each of v but the first, of which there is one at
// least, is above the one before, modulo the width of integers, and returns the
// smallest.
func differences[T int32 | int64](d, v []T) T {
	last, least := v[0], v[1]-v[0]
	v = v[1:]
	// Four at a time, so that the smallest is not waited for.
	for ; len(v) >= 4 && len(d) >= 4; v, d = v[4:], d[4:] {
		x, up := (*[4]T)(v), (*[4]T)(d)
		a, b, c, e := x[0]-last, x[1]-x[0], x[2]-x[1], x[3]-x[2]
		up[0], up[1], up[2], up[3] = a, b, c, e
		last, least = x[3], min(least, min(min(a, b), min(c, e)))
	}
	for i, x := range v {
		up := x - last
		d[i] = up
		last, least = x, min(least, up)
	}
	return least
}

// packBlock appends a block, whole miniblocks of differences, each cut to mask.
func packBlock[T int32 | int64](dst []byte, block []T, least T, mask uint64) []byte {
	dst = binary.AppendVarint(dst, int64(least))
	widths := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	var above [deltaMini]uint64
	for m := 0; len(block) > 0; m++ {
		all := uint64(0)
		for i, x := range (*[deltaMini]T)(block) {
			above[i] = uint64(x-least) & mask
			all |= above[i]
		}
		block = block[deltaMini:]
		width := bits.Len64(all)
		dst[widths+m] = uint8(width)
		at := len(dst)
		dst = dst[:at+deltaMini/8*width]
		switch {
		case width == 0:
		case width <= mostPaired:
			packPairs(dst[at:cap(dst)], &above, uint(width))
		default:
			packWords(dst[at:], &above, uint(width))
		}
	}
	return dst
}

// mostPaired is the width up to which two values and the bits of an unfinished
// byte are less than a word.
const mostPaired = 28

// packPairs packs values of up to mostPaired bits to the beginning of dst, and
// writes up to 8 bytes behind them. Inlined, it has too few registers.
//
//go:noinline
func packPairs(dst []byte, v *[deltaMini]uint64, width uint) {
	acc, have, at := uint64(0), uint(0), 0
	for i := 0; i < deltaMini; i += 2 {
		acc |= (v[i] | v[i+1]<<(width&63)) << (have & 63)
		binary.LittleEndian.PutUint64(dst[at:], acc)
		have += 2 * width
		at += int(have >> 3)
		acc >>= have &^ 7 & 63
		have &= 7
	}
}

// packWords packs values of any width to the whole of dst.
func packWords(dst []byte, v *[deltaMini]uint64, width uint) {
	acc, have := uint64(0), uint(0)
	for _, x := range v {
		acc |= x << have
		if have += width; have >= 64 {
			binary.LittleEndian.PutUint64(dst, acc)
			dst = dst[8:]
			have -= 64
			acc = x >> (width - have)
		}
	}
	if have > 0 { // half a word: 32 values of a width are a multiple of 32 bits
		binary.LittleEndian.PutUint32(dst, uint32(acc))
	}
}
