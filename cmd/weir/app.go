package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/store"
)

// app is what the commands share; tests replace its parts.
type app struct {
	out, err io.Writer
	terminal func() (width int, ok bool) // of err
	formats  []format.Format
	writers  []format.Writer
	store    func() store.ReadWriter
	setup    func(memory int64) *mem.Budget
	heap     func() int64
	procs    func(n int)
}

// smallContainer is one where pages of data that the system reads ahead push out
// those that are needed: with steps of 8 MiB, 32 MiB did not get anywhere, 48
// did.
const smallContainer = 64 << 20

func newApp() *app {
	return &app{
		out: os.Stdout, err: os.Stderr,
		terminal: func() (int, bool) {
			width, _, err := term.GetSize(int(os.Stderr.Fd()))
			return width, err == nil
		},
		formats: formats(),
		writers: writers(),
		store: func() store.ReadWriter {
			limit, _ := mem.ContainerLimit()
			return store.New(store.Options{DropCache: true, NoReadAhead: limit < smallContainer, WriteCache: limit / 16})
		},
		setup: run.Setup,
		heap:  run.LiveHeap,
		procs: func(n int) { runtime.GOMAXPROCS(n) },
	}
}

// main runs one command line and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	var asked *runError
	switch {
	case code == exitDone:
	case code == exitInterrupted:
		fmt.Fprintln(a.err, "weir: interrupted")
	case errors.As(err, &asked):
		fmt.Fprintf(a.err, "weir: %v\n", err)
	default:
		fmt.Fprintf(a.err, "weir: %v\nTry 'weir --help'.\n", err)
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "Stream datasets of any size through one fixed amount of memory",
		Long: `weir streams training and evaluation data of any size through one fixed amount
of memory. You give one number, --memory; the process never uses more. Where
that is impossible it says so before reading any data, with the smallest number
that would work.

` + exitHelp,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(a.scan(), a.inspect(), a.prepare(), a.fit(), a.transform(), a.dedup(), a.tokenize(), a.pack(), a.shuffle(), a.runRecipe(), a.verify(), a.feed(), a.call(), a.version())
	return root
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(a.out, "weir version %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
