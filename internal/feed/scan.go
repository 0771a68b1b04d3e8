package feed

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/feed/tensor"
	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// scanner hands records over as they are read.
type scanner struct {
	*loader
	data   format.Dataset
	share  *mem.Budget
	frames *frames
}

// run reads all.
func (s *scanner) run(ctx context.Context, out outlet) error {
	in, err := s.data.Open(ctx, s.share, stream.Cursor{}, nil)
	if err != nil {
		return err
	}
	defer in.Close()
	out = timed{out, &s.stats}
	rows := int64(0)
	for {
		began := time.Now()
		b, err := in.Next(ctx)
		s.stats.reading.Add(int64(time.Since(began)))
		if errors.Is(err, io.EOF) {
			return out.End(0, rows)
		}
		if err != nil {
			return err
		}
		rows += b.Rows()
		err = s.send(out, b, rows)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// send sends a batch, in parts where it is larger than a batch may be.
func (s *scanner) send(out outlet, b *stream.Batch, after int64) error {
	w, err := s.frames.frame.Open([]arrow.RecordBatch{b.Record})
	if err != nil {
		return err
	}
	n := int(b.Rows())
	for from := 0; from < n; from += s.BatchSize {
		k := min(s.BatchSize, n-from)
		slot, layout, err := s.frames.take(out, tensor.Piece{Window: w, From: from, N: k})
		if err != nil {
			return err
		}
		bytes := int64(len(slot.Bytes()))
		if err := out.Send(slot, wire.Batch{Rows: int64(k), Layout: layout, Position: after - int64(n-from-k)}); err != nil {
			return err
		}
		s.stats.sent(int64(k), bytes)
	}
	return nil
}
