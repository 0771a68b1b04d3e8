package main

import (
	"errors"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/call"
	"github.com/weir-data/weir/internal/store"
)

// call is the command that works for functions of the Python package.
func (a *app) call() *cobra.Command {
	return &cobra.Command{
		Use:    "call",
		Short:  "Work for another process, which asks on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := call.Serve(c.Context(), os.Stdin, os.Stdout, call.Env{
				Store: a.store(), Formats: a.formats, Memory: memoryFlag, Setup: a.setup, Heap: a.heap,
				Threads: func() int { return runtime.GOMAXPROCS(0) }, Kind: kind,
			})
			if err != nil {
				return &runError{err}
			}
			return nil
		},
	}
}

// kind is the exit code of an error as a word.
func kind(err error) string {
	switch exitCode(&runError{err}) {
	case exitUsage:
		return "usage"
	case exitBudget:
		return "memory"
	case exitData:
		return "data"
	case exitStore:
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound) {
			return "missing"
		}
		return "store"
	}
	return "other"
}
