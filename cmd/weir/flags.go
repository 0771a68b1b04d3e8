package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// readFlags say what to read and how; scan and inspect have them.
type readFlags struct {
	columns   []string
	batch     int
	threads   int
	logLevel  string
	logFormat string
}

func (f *readFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.columns, "columns", nil, "columns to read, names or globs, in this order (default all)")
	fl.IntVar(&f.batch, "batch-size", 0, "most rows in a batch (default as suits the budget)")
	fl.IntVar(&f.threads, "threads", 0, "decoding threads (default the CPUs this container may use)")
	fl.StringVar(&f.logLevel, "log-level", "warn", "debug, info (one record a file), warn or error")
	fl.StringVar(&f.logFormat, "log-format", "text", "text or json")
}

// options checks the flags and fills the defaults in.
func (f *readFlags) options() (format.Options, error) {
	if f.batch < 0 {
		return format.Options{}, fmt.Errorf("--batch-size %d: a batch has at least one row", f.batch)
	}
	if f.threads < 0 {
		return format.Options{}, fmt.Errorf("--threads %d: there is at least one", f.threads)
	}
	threads := f.threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return format.Options{Columns: f.columns, BatchRows: f.batch, Threads: threads}, nil
}

// logger writes to w as the flags say.
func (f *readFlags) logger(w io.Writer) (*slog.Logger, error) {
	var opt slog.HandlerOptions
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %q: use debug, info, warn or error", f.logLevel)
	}
	opt.Level = level
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, &opt)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &opt)), nil
	}
	return nil, fmt.Errorf("--log-format %q: use text or json", f.logFormat)
}

// memoryFlag turns --memory into bytes; without one it is derived from the
// container's limit.
func memoryFlag(flag string) (int64, error) {
	if flag == "" {
		n, _ := mem.Default()
		return n, nil
	}
	whole, _ := mem.ContainerLimit()
	n, err := mem.Parse(flag, whole)
	if err != nil {
		return 0, fmt.Errorf("--memory: %w", err)
	}
	return n, nil
}

// somePaths is the rule for positional arguments.
func somePaths(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("name at least one file, directory, glob or s3:// prefix")
	}
	return nil
}
