// Package meta reads what Parquet files say about themselves: footers, page
// headers and offset indexes.
//
// A footer is never in memory as a whole. It passes through a small window;
// what is kept is the schema and twelve bytes a row group, all paid for by a
// lease. The column chunks of a row group are read from the footer again when
// they are asked for. Any bytes may come: the answer is an error that wraps
// format.ErrData, never a panic, and never memory for a length that is only
// claimed.
package meta

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// File is the footer of a Parquet file. Its methods are safe for concurrent
// use.
type File struct {
	Schema    *Schema
	Rows      int64
	CreatedBy string // the writer, "" if unknown or absurdly long

	name   string
	lease  *mem.Lease
	first  []int64  // the first row of each row group, and the number of rows
	groups []uint32 // where each row group is described in the footer
	pad    int64    // bytes that chunks may be longer than stated

	mu  sync.Mutex
	win window
}

// tailSize is what is read of a file's end before the footer's length is
// known. Most footers fit.
const tailSize = 64 << 10

// magicSize is the length of the magic at both ends of a file.
const magicSize = 4

// fixedCost pays for File, its window's bookkeeping and the like.
const fixedCost = 4 << 10

// Read reads the footer of the file that users know as name. Chunks needs r
// later, so r must stay open until then; Close leaves it open. All memory is
// leased from share; where it does not have it, Read waits without holding
// any, and fails with mem.ErrTooSmall if it can never have it. Errors name the
// file.
func Read(ctx context.Context, r store.Reader, name string, share *mem.Budget) (*File, error) {
	need := min(tailSize, r.Size()) + fixedCost
	for {
		lease, err := share.Acquire(ctx, need)
		if err != nil {
			return nil, fmt.Errorf("parquet: %s: footer: %w", name, err)
		}
		pay := &account{lease: lease}
		f, err := read(ctx, r, pay)
		if err == nil {
			lease.Shrink(pay.used)
			f.lease, f.name = lease, name
			return f, nil
		}
		lease.Release()
		more := new(needError)
		if !errors.As(err, &more) {
			return nil, fmt.Errorf("parquet: %s: %w", name, err)
		}
		need = more.n
		if roomy := need + need/2; roomy < share.Limit()/2 {
			need = roomy
		}
	}
}

// Close gives the memory back. A nil file and a second call do nothing.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lease.Release()
	f.win.buf = nil
}

// Leased is the number of bytes that the file pays for until Close.
func (f *File) Leased() int64 { return f.lease.Size() }

// Groups is the number of row groups.
func (f *File) Groups() int { return len(f.groups) }

// Group is the first row of row group i, counted from the beginning of the
// file, and its number of rows.
func (f *File) Group(i int) (firstRow, rows int64) {
	return f.first[i], f.first[i+1] - f.first[i]
}

// account holds what is in memory against a lease.
type account struct {
	lease *mem.Lease
	used  int64
}

// needError ends an attempt whose lease cannot grow to n bytes now.
type needError struct{ n int64 }

func (e *needError) Error() string { return "needs " + mem.Format(e.n) }

// pay counts n more bytes before they are allocated. The lease grows in
// steps, as far as there is room, so that it is not asked for every name.
func (a *account) pay(n int64) error {
	a.used += n
	short := a.used - a.lease.Size()
	if short <= 0 || a.lease.TryGrow(short+a.used/4) || a.lease.TryGrow(short) {
		return nil
	}
	return &needError{a.used}
}

// free ends what pay counted.
func (a *account) free(n int64) { a.used -= n }

// read is one attempt at reading the footer.
func read(ctx context.Context, r store.Reader, pay *account) (*File, error) {
	f := &File{}
	if err := f.open(ctx, r, pay); err != nil {
		return nil, err
	}
	if err := f.footer(ctx, pay); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	return f, nil
}

// open finds the footer and puts the window over its beginning.
func (f *File) open(ctx context.Context, r store.Reader, pay *account) error {
	size := r.Size()
	if size < 3*magicSize {
		return bad("%d bytes are too short for a Parquet file", size)
	}
	tail := make([]byte, min(tailSize, size))
	if err := pay.pay(int64(len(tail)) + fixedCost); err != nil {
		return err
	}
	defer pay.free(int64(len(tail)))
	if err := readAll(ctx, r, tail, size-int64(len(tail))); err != nil {
		return err
	}
	head := tail[:magicSize]
	if size > int64(len(tail)) {
		head = make([]byte, magicSize)
		if err := readAll(ctx, r, head, 0); err != nil {
			return err
		}
	}
	if err := checkMagic(head, tail[len(tail)-magicSize:]); err != nil {
		return err
	}
	tail = tail[:len(tail)-magicSize]
	length := int64(binary.LittleEndian.Uint32(tail[len(tail)-4:]))
	tail = tail[:len(tail)-4]
	f.win = window{r: r, start: size - 2*magicSize - length, length: length}
	if f.win.start < magicSize {
		return bad("a footer of %d bytes in a file of %d: damaged or cut off", length, size)
	}
	keep := min(length, windowSize)
	if err := pay.pay(keep); err != nil {
		return err
	}
	f.win.buf = make([]byte, 0, keep)
	if length <= int64(len(tail)) {
		f.win.buf = append(f.win.buf, tail[int64(len(tail))-length:]...)
	}
	return nil
}

// readAll is ReadAt for bytes that the file's size says are there.
func readAll(ctx context.Context, r store.Reader, p []byte, off int64) error {
	err := r.ReadAt(ctx, p, off)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", bad("cut off after it was listed"), err)
	}
	return err
}

func checkMagic(head, tail []byte) error {
	switch {
	case string(tail) == "PARE" || string(head) == "PARE":
		return bad("encrypted: weir cannot read files with an encrypted footer")
	case string(head) != "PAR1":
		return bad("not a Parquet file: it begins with %q, not with %q", head, "PAR1")
	case string(tail) != "PAR1":
		return bad("not a whole Parquet file: it ends with %q, not with %q", tail, "PAR1")
	}
	return nil
}
