package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// placed is an error as a person reads it: the place, then what is wrong
// there. Tests and callers find kind, and cause if there is one, by errors.Is.
type placed struct {
	place string
	text  string
	kind  error
	cause error
}

func (e *placed) Error() string { return e.place + ": " + e.text }

func (e *placed) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func notFound(place, text string) error {
	return &placed{place: place, text: text, kind: ErrNotFound}
}

func changed(place, text string) error {
	return &placed{place: place, text: ErrChanged.Error() + ": " + text, kind: ErrChanged}
}

// system places an error of the operating system.
func system(place string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", place, err)
}

// stopped is the error for a caller who does not want to wait any longer.
func stopped(place string, ctx context.Context) error {
	return fmt.Errorf("%s: %w", place, context.Cause(ctx))
}

// rangeOf names a part of an object, both ends included, as S3 does.
func rangeOf(url string, off int64, n int) string {
	return fmt.Sprintf("%s: bytes %d-%d", url, off, off+int64(n)-1)
}

// checkRange says whether [off, off+n) lies within size.
func checkRange(url string, off int64, n int, size int64) error {
	switch {
	case off < 0:
		return fmt.Errorf("%s: offset %d is negative", url, off)
	case int64(n) > size-off:
		return fmt.Errorf("%s: beyond the end at %d: %w", rangeOf(url, off, n), size, io.ErrUnexpectedEOF)
	}
	return nil
}
