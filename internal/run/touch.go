package run

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/stream"
)

// Touch is the sink of a scan that has no other: it reads every byte of every
// value once and keeps only a sum, so that reading is real and costs little.
type Touch struct{ sum uint64 }

// Write reads the batch.
func (t *Touch) Write(b *stream.Batch) error {
	for _, col := range b.Record.Columns() {
		t.sum += touch(col.Data())
	}
	return nil
}

// Close does nothing.
func (t *Touch) Close() error { return nil }

// Abort does nothing.
func (t *Touch) Abort() {}

// Sum is of all 8-byte words read; it depends on batch boundaries.
func (t *Touch) Sum() uint64 { return t.sum }

func touch(d arrow.ArrayData) (total uint64) {
	layout.Walk(d, 0, d.Len(), func(p []byte) { total += sum(p) })
	return total
}

// sum adds p up in words of 8 bytes; four sums at a time keep the loads of a
// modern core busy.
func sum(p []byte) uint64 {
	var a, b, c, d uint64
	for len(p) >= 64 {
		q := p[:64:64]
		a += binary.LittleEndian.Uint64(q[0:8]) + binary.LittleEndian.Uint64(q[32:40])
		b += binary.LittleEndian.Uint64(q[8:16]) + binary.LittleEndian.Uint64(q[40:48])
		c += binary.LittleEndian.Uint64(q[16:24]) + binary.LittleEndian.Uint64(q[48:56])
		d += binary.LittleEndian.Uint64(q[24:32]) + binary.LittleEndian.Uint64(q[56:64])
		p = p[64:]
	}
	for len(p) >= 8 {
		a += binary.LittleEndian.Uint64(p)
		p = p[8:]
	}
	for _, v := range p {
		b += uint64(v)
	}
	return a + b + c + d
}
