package arrow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// use looks at every value the way a consumer would who trusts it.
func use(a arrow.Array) (n int) {
	// Nulls that take no memory may be any number.
	for i := range min(a.Len(), 1000) {
		if a.IsNull(i) {
			continue
		}
		switch a := a.(type) {
		case *array.Timestamp: // its text needs a time zone that is known
			n += int(a.Value(i))
		case *array.Dictionary:
			v := array.NewSlice(a.Dictionary(), int64(a.GetValueIndex(i)), int64(a.GetValueIndex(i))+1)
			n += v.Len()
			v.Release()
		case array.ListLike:
			from, to := a.ValueOffsets(i)
			v := array.NewSlice(a.ListValues(), from, to)
			n += v.Len()
			v.Release()
		case *array.Struct, *array.Null:
		case array.Union:
			v := a.Field(a.ChildID(i))
			at := i
			if d, ok := a.(*array.DenseUnion); ok {
				at = int(d.ValueOffset(i))
			}
			e := array.NewSlice(v, int64(at), int64(at)+1)
			n += e.Len()
			e.Release()
		case *array.RunEndEncoded:
			n += a.Values().Len() - 1 - a.GetPhysicalIndex(i)
		default:
			n += len(a.ValueStr(i))
		}
	}
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			n += use(a.Field(i))
		}
	case array.Union:
		for i := range a.NumFields() {
			n += use(a.Field(i))
		}
	case array.ListLike:
		n += use(a.ListValues())
	case *array.Dictionary:
		n += use(a.Dictionary())
	case *array.RunEndEncoded:
		n += use(a.Values())
	}
	return n
}

// tryRead reads arbitrary bytes with little memory and uses what comes.
func tryRead(t *testing.T, data []byte, opt format.Options) {
	ds, err := Plan(t.Context(), sourceOf(data), opt)
	if err == nil && ds.Floor() < 16<<20 {
		share := mem.New(ds.Floor())
		defer runtestEmpty(t, share)
		var s stream.Stream
		if s, err = ds.Open(t.Context(), share, stream.Cursor{}, nil); err == nil {
			defer s.Close()
			err = useAll(t.Context(), s)
		}
	}
	if err != nil && !errors.Is(err, format.ErrData) && !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("an error of no known kind: %v", err)
	}
}

func useAll(ctx context.Context, s stream.Stream) error {
	for range 50 {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b.Rows() <= 100_000 {
			for _, c := range b.Record.Columns() {
				use(c)
			}
		}
		b.Release()
	}
	return nil
}

// FuzzRead: whatever the bytes are, nothing falls over, neither the reader nor
// who takes its batches at their word.
func FuzzRead(f *testing.F) {
	d := newDice(1)
	var types []arrow.DataType
	for i, typ := range everyType {
		types = append(types, typ)
		if len(types) == 4 || i == len(everyType)-1 {
			rec := []arrow.RecordBatch{d.table(7, types...)}
			f.Add(write(f, false, rec), byte(0))
			f.Add(write(f, true, rec), byte(2))
			f.Add(write(f, false, rec, ipc.WithLZ4()), byte(0))
			f.Add(write(f, true, rec, ipc.WithZstd()), byte(3))
			types = nil
		}
	}
	f.Add(write(f, true, []arrow.RecordBatch{d.encoded(9, texts(0, 3)), d.encoded(9, texts(0, 5))}, ipc.WithDictionaryDeltas(true)), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, rows byte) {
		tryRead(t, data, format.Options{BatchRows: int(rows)})
	})
}

// TestDamageIsNoticedOrHarmless spoils bytes of a file of every type.
func TestDamageIsNoticedOrHarmless(t *testing.T) {
	d := newDice(1)
	for i, typ := range everyType {
		rec := []arrow.RecordBatch{d.table(5, typ)}
		for k, file := range [][]byte{write(t, false, rec), write(t, true, rec, ipc.WithLZ4())} {
			for at := i % 9; at < len(file); at += 9 {
				bad := bytes.Clone(file)
				bad[at] ^= []byte{0xff, 0x01, 0x80, 0x10}[(at+k)%4]
				tryRead(t, bad, format.Options{BatchRows: 3 * k})
			}
		}
		if t.Failed() {
			t.Fatal(typ)
		}
	}
}
