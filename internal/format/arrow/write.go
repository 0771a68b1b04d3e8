// Package arrow reads and writes Arrow IPC streams.
package arrow

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weir-data/weir/internal/stream"
)

// Writer writes batches as they are: buffers go to the output without a copy,
// but for the offsets and bitmaps of arrays that begin in the middle of their
// buffers.
type Writer struct{ w *ipc.Writer }

// NewWriter begins a stream. A stream without batches still has its schema.
func NewWriter(w io.Writer, schema *arrow.Schema) (*Writer, error) {
	return &Writer{ipc.NewWriter(w, ipc.WithSchema(schema))}, nil
}

// Write writes b as one record batch.
func (a *Writer) Write(b *stream.Batch) error {
	if err := a.w.Write(b.Record); err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	return nil
}

// Close ends the stream.
func (a *Writer) Close() error {
	if err := a.w.Close(); err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	return nil
}
