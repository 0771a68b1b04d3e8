package stream

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func TestFirstIsWhereABatchBegins(t *testing.T) {
	for _, c := range []struct {
		rows          int64
		before, after Cursor
		object        int
		row           int64
	}{
		{5, Cursor{}, Cursor{Row: 5}, 0, 0},
		{5, Cursor{Row: 5}, Cursor{Row: 10, Offset: 99}, 0, 5},
		{5, Cursor{Row: 10}, Cursor{Object: 1}, 0, 10},        // its object ends with it
		{5, Cursor{Row: 10}, Cursor{Object: 1, Row: 5}, 1, 0}, // another object begins
		{5, Cursor{Row: 10}, Cursor{Object: 4}, 3, 0},         // a whole object, behind empty ones
		{5, Cursor{Object: 2}, Cursor{Object: 2, Row: 5}, 2, 0},
	} {
		b := &Batch{Record: array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, c.rows), After: c.after}
		if object, row := b.First(c.before); object != c.object || row != c.row {
			t.Errorf("%d rows from %v to %v: object %d, row %d; want %d, %d", c.rows, c.before, c.after, object, row, c.object, c.row)
		}
	}
}
