package parquet

import (
	"context"
	"errors"
	"time"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

var (
	errData = format.ErrData
	errSum  = damaged("checksum does not match")
)

// damaged makes an error that is the data's fault.
func damaged(text string, args ...any) error { return format.Error(format.ErrData, text, args...) }

// source gives the stored bytes of one column chunk.
type source interface {
	// peek returns n bytes at off if they were read ahead, else nil. They are
	// valid until done is called.
	peek(off int64, n int) (b []byte, done func())
	// read fills dst from off.
	read(ctx context.Context, dst []byte, off int64) error
	// take is read for bytes that will not be read again.
	take(ctx context.Context, dst []byte, off int64) error
	// held says that the bytes at off were read ahead.
	held(off int64) bool
	// trim says that nothing before off will be asked for again.
	trim(off int64)
	// want says what will be read next.
	want(off, n int64)
	// size is the length of the file.
	size() int64
}

// direct reads from the store when asked.
type direct struct {
	r     store.Reader
	waits *stream.Waits
}

func (d direct) peek(int64, int) ([]byte, func()) { return nil, nil }
func (d direct) held(int64) bool                  { return false }
func (d direct) trim(int64)                       {}
func (d direct) want(off, n int64)                { d.r.Want(off, n) }
func (d direct) size() int64                      { return d.r.Size() }

func (d direct) read(ctx context.Context, dst []byte, off int64) error {
	start := time.Now()
	err := d.r.ReadAt(ctx, dst, off)
	d.waits.Store.Add(int64(time.Since(start)))
	if err != nil {
		return &readError{err}
	}
	return nil
}

func (d direct) take(ctx context.Context, dst []byte, off int64) error {
	err := d.read(ctx, dst, off)
	d.r.Drop(off, int64(len(dst)))
	return err
}

// readError marks what the store said, so that it is not taken for damage.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// fromStore says that err is not the fault of the bytes.
func fromStore(err error) bool {
	var r *readError
	return errors.As(err, &r) || errors.Is(err, mem.ErrTooSmall) || errors.Is(err, errData)
}
