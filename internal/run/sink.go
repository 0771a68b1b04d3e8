package run

import (
	"errors"

	"github.com/weir-data/weir/internal/stream"
)

// Sink takes batches. Write borrows the batch: the caller releases it. After
// the last Write exactly one of Close and Abort is called; Close makes what
// was written permanent, Abort leaves nothing behind.
type Sink interface {
	Write(*stream.Batch) error
	Close() error
	Abort()
}

// Digester is a Sink that knows a digest of all rows once it is closed.
type Digester interface{ Digest() string }

// Tee writes every batch to all sinks in turn.
type Tee []Sink

// Write stops at the first sink that fails.
func (t Tee) Write(b *stream.Batch) error {
	for _, s := range t {
		if err := s.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// Close closes all; once one has failed, the others are aborted.
func (t Tee) Close() error {
	var errs []error
	for _, s := range t {
		if len(errs) > 0 {
			s.Abort()
			continue
		}
		if err := s.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Abort aborts all.
func (t Tee) Abort() {
	for _, s := range t {
		s.Abort()
	}
}

// Digest is that of the first sink that has one.
func (t Tee) Digest() string {
	for _, s := range t {
		if d, ok := s.(Digester); ok {
			return d.Digest()
		}
	}
	return ""
}
