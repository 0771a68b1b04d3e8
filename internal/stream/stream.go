// Package stream moves batches: Batch, the pull seam Stream, and the only
// goroutines of the data path (Prefetch and Workers).
package stream

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// Batch is some rows and the memory that holds them. Whoever got it from Next
// releases it once or hands it on. Arrow arrays taken from it keep its memory
// under lease while they are retained.
type Batch struct {
	Record arrow.RecordBatch
	After  Cursor // where a stream goes on that is reopened behind this batch
	Last   bool   // of its row group, or the format's word for it
	// Objects, if not nil, is the object of each row, which is its only one.
	// Otherwise the rows follow each other in one object.
	Objects []int
}

// First is the place of a batch's first row, for one whose rows lie in one
// object: before is After of the batch before it, or where the stream was
// opened.
func (b *Batch) First(before Cursor) (object int, row int64) {
	if n := b.Rows(); b.After.Row >= n {
		return b.After.Object, b.After.Row - n
	}
	// The batch ends its object, and the cursor stands at the next.
	if object = b.After.Object - 1; object == before.Object {
		row = before.Row
	}
	return object, row
}

// Rows is the number of rows.
func (b *Batch) Rows() int64 { return b.Record.NumRows() }

// Release gives the memory back. The batch must not be used afterwards.
func (b *Batch) Release() {
	if b != nil && b.Record != nil {
		b.Record.Release()
		b.Record = nil
	}
}

// Cursor is a place between two rows of a stream: a plain value that can be
// stored and used in another process.
type Cursor struct {
	Object int   `json:"object"` // index in the sorted list of objects
	Row    int64 `json:"row"`    // rows of that object that lie before
	// Offset is where, in the object's decompressed bytes, the row begins;
	// 0: the format finds it by Row.
	Offset int64 `json:"offset,omitempty"`
}

// Stream is pulled for batches.
type Stream interface {
	// Schema is the same for every batch.
	Schema() *arrow.Schema
	// Next returns the next batch, which the caller owns, or io.EOF. After an
	// error the stream can only be closed. Not safe for concurrent use. The
	// memory for batches is bounded: a caller that keeps one while it asks for
	// the next may wait for itself; whoever must keep rows copies them into a
	// share of its own.
	Next(ctx context.Context) (*Batch, error)
	// Cursor is the place after the last batch that Next returned.
	Cursor() Cursor
	// Close ends the work and gives all memory back except that of batches
	// the caller still owns. It is idempotent.
	Close() error
}

// Waits counts nanoseconds that one side of a pipeline stood still for another.
type Waits struct {
	Store    atomic.Int64 // decoding waited for bytes
	Decode   atomic.Int64 // the consumer waited for a batch
	Consumer atomic.Int64 // decoding waited for the consumer to take one
}
