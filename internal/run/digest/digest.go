// Package digest makes one number of all rows of a stream: the same for the
// same names, types and values in the same order, however the rows were cut
// into batches and whatever lies under nulls.
//
// Every column, and every level of a nested one, has three sums of its own:
// the runs of valid and null rows, the lengths of valid strings and lists, and
// the bytes of valid values. Each is a sum over a stream of bytes that does
// not know where a batch ended. The digest is a hash over all sums.
package digest

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stream"
)

// Sink takes the digest of the batches written to it.
type Sink struct {
	columns []*node
	rows    int64
}

// New makes a digest for batches of one schema. It fails for types whose
// values it cannot read: unions and run-end encoding.
func New(schema *arrow.Schema) (*Sink, error) {
	s := &Sink{}
	for _, f := range schema.Fields() {
		n, err := newNode(f.Name, f.Type)
		if err != nil {
			return nil, format.Error(format.ErrUsage, "digest: column %q: %w; --columns chooses others", f.Name, err)
		}
		s.columns = append(s.columns, n)
	}
	return s, nil
}

// Write adds the rows of a batch.
func (s *Sink) Write(b *stream.Batch) error {
	s.Add(b.Record)
	return nil
}

// Add adds the rows of a record.
func (s *Sink) Add(rec arrow.RecordBatch) {
	for i, n := range s.columns {
		d := rec.Column(i).Data()
		n.add(d, 0, d.Len())
	}
	s.rows += rec.NumRows()
}

// Close does nothing: a digest is complete after every Write.
func (s *Sink) Close() error { return nil }

// Abort does nothing.
func (s *Sink) Abort() {}

// Digest is that of all rows so far: 32 hex digits.
func (s *Sink) Digest() string {
	h := xxh3.New128()
	word(h, uint64(s.rows))
	word(h, uint64(len(s.columns)))
	for _, n := range s.columns {
		n.fold(h)
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

func word(h *xxh3.Hasher128, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	h.Write(b[:])
}
