// Package store is where bytes lie: local disk and S3. Reads are ranged and
// whole: a Reader never returns short or stale data with a nil error. Writes
// are whole too: an object appears when it is committed, or not at all.
package store

import (
	"context"
	"errors"
	"io"

	"github.com/weir-data/weir/internal/mem"
)

// Errors that callers and tests tell apart; every error of this package that
// is not the caller's mistake wraps one of them or comes from the system.
var (
	ErrNotFound = errors.New("not found")
	ErrChanged  = errors.New("object changed while it was read")
	ErrStore    = errors.New("store error") // gave up after retries
)

// Object is one file or key as it was listed.
type Object struct {
	URL  string // what users see: s3://bucket/key, or the path as given
	Size int64
	ETag string // S3's ETag; for files, size and mtime; "" where unknown
}

// Reader reads one version of one object. All methods are safe for concurrent
// use.
type Reader interface {
	// ReadAt fills p from offset off or fails; it never returns less than
	// len(p) bytes without an error. Asking beyond the end is
	// io.ErrUnexpectedEOF. It fails with ErrChanged when the object is no
	// longer the version that was listed.
	ReadAt(ctx context.Context, p []byte, off int64) error
	// Size is the object's length.
	Size() int64
	// Remote says that a read costs a round trip, so that larger and earlier
	// reads pay.
	Remote() bool
	// Drop says that [off, off+n) will not be read again soon; a local reader
	// may take it out of the page cache, and from the first call on leaves
	// reading ahead to Want.
	Drop(off, n int64)
	// Want says that [off, off+n) will be read soon. It does not wait.
	Want(off, n int64)
	io.Closer
}

// Store lists and opens.
type Store interface {
	// List returns the objects that a pattern names, sorted by URL: a file, a
	// directory or prefix (all objects below it), or a glob. No object is
	// ErrNotFound.
	List(ctx context.Context, pattern string) ([]Object, error)
	// Open prepares to read o as it was listed.
	Open(ctx context.Context, o Object) (Reader, error)
}

// Creator writes.
type Creator interface {
	// Create begins an object, in the place of any that is there; missing
	// directories are made. Its memory is leased from share, of which it
	// needs what WriteCost says, and is back after Commit or Abort. The
	// context is that of all writing: when it ends, so do Writes under way.
	Create(ctx context.Context, url string, share *mem.Budget) (Output, error)
	// Remove takes an object away. One that is not there is no error.
	Remove(ctx context.Context, url string) error
	// Sweep takes away what writers left that were killed below a directory or
	// prefix, which ends in a slash: hidden files, uploads without an end.
	// Nobody may be writing there.
	Sweep(ctx context.Context, url string) error
}

// Output is one object being written. It is not safe for concurrent use.
// Exactly one of Commit and Abort ends it; an Abort after a Commit, whatever
// that returned, does nothing.
type Output interface {
	// Write does not keep p. After an error only Abort is of use.
	io.Writer
	// Patch overwrites bytes that were written already and lie in the first
	// PatchBytes of the object.
	Patch(p []byte, off int64) error
	// Commit makes the object appear, whole and durable. When it fails,
	// nothing is left but what was there before.
	Commit(ctx context.Context) error
	// Abort leaves nothing behind.
	Abort()
}

// PatchBytes is how much of an object's beginning Output.Patch reaches.
const PatchBytes = 4 << 10

// ReadWriter is a Store that writes, and has connections to close. It may be
// used again after Close.
type ReadWriter interface {
	Store
	Creator
	io.Closer
}
