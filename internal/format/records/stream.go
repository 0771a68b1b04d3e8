package records

import (
	"context"
	"fmt"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stream"
)

func (s *reading) Cursor() stream.Cursor { return s.cursor }

// Next puts results in their places: rows and lines are counted here, where
// they come in order.
func (s *reading) Next(ctx context.Context) (*stream.Batch, error) {
	for {
		r, err := s.results.Next(ctx)
		if err != nil {
			return nil, err
		}
		if r.object != s.cursor.Object {
			s.cursor = stream.Cursor{Object: r.object}
			s.line, s.known = 0, true
		}
		// Places in a piece are counted from where the piece began.
		begun := s.line - r.before
		for _, b := range r.bad {
			s.Options.Bad(s.place(r, b, begun))
		}
		if r.err != nil {
			r.drop()
			return nil, s.place(r, r.err, begun)
		}
		s.line += r.lines
		if r.after < 0 {
			s.cursor = stream.Cursor{Object: r.object + 1}
			s.line, s.known = 0, true
		} else {
			s.cursor.Offset = r.after
		}
		if r.record == nil {
			continue
		}
		if r.after >= 0 {
			s.cursor.Row += r.record.NumRows()
		}
		return &stream.Batch{Record: r.record, After: s.cursor, Last: r.after < 0}, nil
	}
}

// place says where in which file a record is.
func (s *reading) place(r *result, b *Bad, begun int64) error {
	file := s.Source.Objects[r.object].URL
	at := fmt.Sprintf("byte %d", r.offset+int64(b.At))
	if b.Line >= 0 && s.known {
		at = fmt.Sprintf("line %d, %s", begun+b.Line+1, at)
	}
	return format.Error(format.ErrData, "%s: %s: %s: %w", s.Name, file, at, b.Err)
}

// Close ends the reading.
func (s *reading) Close() error {
	s.results.Close()
	s.feeder.close()
	s.spare.Close()
	return nil
}
