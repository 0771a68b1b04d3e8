// Package datasettest is a store for tests that stops at every step, so that
// each can be made to fail, or to be the last that a process does.
package datasettest

import (
	"context"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// Steps is a store that calls Step before and after each operation with its
// name: "before commit s3://b/out/manifest.json". An error before is the
// operation's, which is not done; an error after it stands for an answer that
// was lost. Operations are list, open, read, create, write, commit and remove.
type Steps struct {
	store.ReadWriter
	Step func(name string) error
}

// do makes one operation of two steps.
func (s Steps) do(what, url string, op func() error) error {
	if err := s.Step("before " + what + " " + url); err != nil {
		return err
	}
	if err := op(); err != nil {
		return err
	}
	return s.Step("after " + what + " " + url)
}

// List makes Steps a store.Store.
func (s Steps) List(ctx context.Context, pattern string) (list []store.Object, err error) {
	err = s.do("list", pattern, func() (err error) {
		list, err = s.ReadWriter.List(ctx, pattern)
		return err
	})
	return list, err
}

// Open makes Steps a store.Store.
func (s Steps) Open(ctx context.Context, o store.Object) (store.Reader, error) {
	r := reader{steps: s, url: o.URL}
	err := s.do("open", o.URL, func() (err error) {
		r.Reader, err = s.ReadWriter.Open(ctx, o)
		return err
	})
	if err != nil && r.Reader != nil {
		r.Reader.Close()
	}
	return r, err
}

type reader struct {
	store.Reader
	steps Steps
	url   string
}

func (r reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	return r.steps.do("read", r.url, func() error { return r.Reader.ReadAt(ctx, p, off) })
}

// Create makes Steps a store.Creator.
func (s Steps) Create(ctx context.Context, url string, share *mem.Budget) (store.Output, error) {
	o := output{steps: s, url: url}
	err := s.do("create", url, func() (err error) {
		o.Output, err = s.ReadWriter.Create(ctx, url, share)
		return err
	})
	if err != nil && o.Output != nil {
		o.Output.Abort()
	}
	return o, err
}

type output struct {
	store.Output
	steps Steps
	url   string
}

func (o output) Write(p []byte) (n int, err error) {
	err = o.steps.do("write", o.url, func() (err error) {
		n, err = o.Output.Write(p)
		return err
	})
	return n, err
}

func (o output) Commit(ctx context.Context) error {
	err := o.steps.do("commit", o.url, func() error { return o.Output.Commit(ctx) })
	if err != nil {
		o.Output.Abort()
	}
	return err
}

// Remove makes Steps a store.Creator.
func (s Steps) Remove(ctx context.Context, url string) error {
	return s.do("remove", url, func() error { return s.ReadWriter.Remove(ctx, url) })
}

// Sweep makes Steps a store.Creator.
func (s Steps) Sweep(ctx context.Context, url string) error {
	return s.do("sweep", url, func() error { return s.ReadWriter.Sweep(ctx, url) })
}
