package main

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/store"
)

// Exit codes; exitHelp is their documentation.
const (
	exitDone        = 0
	exitOther       = 1
	exitUsage       = 2
	exitBudget      = 3
	exitData        = 4
	exitStore       = 5
	exitInterrupted = 130
)

const exitHelp = `Exit codes:
  0    done; also when the reader of a pipe went away
  1    another error: the output cannot be written, or a bug in weir
  2    usage: an unknown flag, a bad value, a column that is not there
  3    --memory is too small; the message says what would work
  4    data error: a damaged, truncated, encrypted or unknown file
  5    store error: a file or bucket that is not there or cannot be read
  130  interrupted by Ctrl-C or SIGTERM; no partial file is left`

// runError is an error of a command's work, as opposed to its command line.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }

// exitCode is the code for what a command returned.
func exitCode(err error) int {
	var ran *runError
	var path *fs.PathError
	var errno syscall.Errno
	switch {
	case err == nil, errors.Is(err, run.ErrOutput) && errors.Is(err, syscall.EPIPE):
		return exitDone
	case !errors.As(err, &ran), errors.Is(err, format.ErrUsage):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, mem.ErrTooSmall):
		return exitBudget
	case errors.Is(err, run.ErrOutput):
		return exitOther
	case errors.Is(err, format.ErrData):
		return exitData
	case errors.Is(err, store.ErrStore), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrChanged),
		errors.As(err, &path), errors.As(err, &errno):
		return exitStore
	}
	return exitOther
}
