package tensor

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
)

// target is memory for rows: those of a store lie whole one after the other,
// those of a batch as a matrix and a vector.
type target struct {
	rows  int
	x, y  []byte
	xStep int // bytes from row to row
	yStep int
}

// Store is rows of a window, whole, one after the other.
type Store struct{ target }

// Batch is rows as Layout.Tensors describes them.
type Batch struct{ target }

// StoreSize is the bytes of a store of so many rows.
func (l *Layout) StoreSize(rows int) int { return rows * l.row }

// NewStore makes a store of memory that begins at a multiple of 8. Too little
// of it is mem.ErrTooSmall.
func (l *Layout) NewStore(ram []byte, rows int) (*Store, error) {
	if need := l.StoreSize(rows); rows < 0 || len(ram) < need {
		return nil, &mem.TooSmallError{Share: "tensor: store", Need: int64(need), Limit: int64(len(ram))}
	}
	ram = ram[:rows*l.row]
	s := &Store{target{rows: rows, x: ram, xStep: l.row}}
	if l.label != nil && rows > 0 {
		s.y, s.yStep = ram[l.y:], l.row
	}
	return s, nil
}

// Rows is the number of rows it has room for.
func (s *Store) Rows() int { return s.rows }

// BatchSize is the bytes of a batch of so many rows.
func (l *Layout) BatchSize(rows int) int {
	if l.label == nil {
		return l.xBytes(rows)
	}
	return aligned(l.xBytes(rows)) + rows*l.label.dtype.Size()
}

// NewBatch makes a batch of memory that begins at a multiple of 8. Too little
// of it is mem.ErrTooSmall.
func (l *Layout) NewBatch(ram []byte, rows int) (*Batch, error) {
	if need := l.BatchSize(rows); rows < 0 || len(ram) < need {
		return nil, &mem.TooSmallError{Share: "tensor: batch", Need: int64(need), Limit: int64(len(ram))}
	}
	b := &Batch{target{rows: rows, x: ram[:l.xBytes(rows)], xStep: l.width * l.dtype.Size()}}
	if l.label != nil {
		b.y, b.yStep = ram[aligned(len(b.x)):l.BatchSize(rows)], l.label.dtype.Size()
	}
	return b, nil
}

// Fill makes rows [at, at+n) of s of the n rows of rec, a record of the schema
// that was planned for. A null is NaN; in a label of integers it is ErrData, as
// is a label that int64 has not. Several goroutines may fill other rows at the
// same time.
func (l *Layout) Fill(s *Store, at int, rec arrow.RecordBatch) error {
	return l.fill(&s.target, at, rec)
}

// Direct makes rows of b of rec, as Fill does those of a store.
func (l *Layout) Direct(b *Batch, at int, rec arrow.RecordBatch) error {
	return l.fill(&b.target, at, rec)
}

// Gather copies rows of s, in the order of rows, to rows of b from at on.
func (l *Layout) Gather(b *Batch, at int, s *Store, rows []int32) error {
	if err := b.within(at, len(rows)); err != nil {
		return err
	}
	for _, r := range rows {
		if uint(r) >= uint(s.rows) {
			return fmt.Errorf("tensor: row %d of a store of %d rows", r, s.rows)
		}
	}
	w := b.xStep
	x := b.x[at*w : (at+len(rows))*w]
	if l.label == nil {
		gather(x, w, s.x, s.xStep, rows)
		return nil
	}
	y := b.y[at*b.yStep : (at+len(rows))*b.yStep]
	switch b.yStep {
	case 8:
		for i, r := range rows {
			from := int(r) * s.xStep
			row := s.x[from : from+l.row]
			copy(x[i*w:(i+1)*w], row)
			binary.NativeEndian.PutUint64(y[i*8:], binary.NativeEndian.Uint64(row[l.y:]))
		}
	case 4:
		for i, r := range rows {
			from := int(r) * s.xStep
			row := s.x[from : from+l.row]
			copy(x[i*w:(i+1)*w], row)
			binary.NativeEndian.PutUint32(y[i*4:], binary.NativeEndian.Uint32(row[l.y:]))
		}
	default:
		gather(x, w, s.x, s.xStep, rows)
		gather(y, b.yStep, s.y, s.yStep, rows)
	}
	return nil
}

// gather copies w bytes of every row.
func gather(dst []byte, w int, src []byte, step int, rows []int32) {
	for i, r := range rows {
		copy(dst[i*w:(i+1)*w], src[int(r)*step:])
	}
}

// Range copies n rows of s from from on to rows of b from at on.
func (l *Layout) Range(b *Batch, at int, s *Store, from, n int) error {
	if err := b.within(at, n); err != nil {
		return err
	}
	if err := s.within(from, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	slide(b.x[at*b.xStep:], b.xStep, s.x[from*s.xStep:], s.xStep, n)
	if l.label != nil {
		slide(b.y[at*b.yStep:], b.yStep, s.y[from*s.yStep:], s.yStep, n)
	}
	return nil
}

// slide copies w bytes of each of n rows.
func slide(dst []byte, w int, src []byte, step, n int) {
	if step == w {
		copy(dst[:n*w], src)
		return
	}
	for i := range n {
		copy(dst[i*w:(i+1)*w], src[i*step:])
	}
}

// within says that there are rows [at, at+n).
func (t *target) within(at, n int) error {
	if at < 0 || n < 0 || at > t.rows-n {
		return fmt.Errorf("tensor: rows %d to %d of %d", at, at+n, t.rows)
	}
	return nil
}
