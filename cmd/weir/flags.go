package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/schematext"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/recipe"
)

// readFlags say what to read and how; scan and inspect have them.
type readFlags struct {
	columns    []string
	batch      int
	threads    int
	format     string
	schema     string
	sample     string
	field      string
	delimiter  string
	noHeader   bool
	nulls      []string
	wholeFiles bool
	onError    string
	logLevel   string
	logFormat  string
}

func (f *readFlags) add(c *cobra.Command, formats []format.Format) {
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.columns, "columns", nil, "columns to read, names or globs, in this order (default all)")
	fl.IntVar(&f.batch, "batch-size", 0, "most rows in a batch (default as suits the budget)")
	fl.IntVar(&f.threads, "threads", 0, "decoding threads (default the CPUs this container may use)")
	fl.StringVar(&f.format, "format", "", "read the files as "+format.OneOf(formatNames(formats))+" (default recognised)")
	fl.StringVar(&f.schema, "schema", "", "JSON file with the columns and types of formats that have none of their own,\nas 'weir inspect --json' prints it (default inferred from a sample)")
	fl.StringVar(&f.sample, "sample", "", "how much of each file to infer a schema from, 64MiB or all (default 4MiB of the first, 256KiB of 15 others)")
	fl.StringVar(&f.field, "field", "", "JSON documents: where the array of rows is, as data.items")
	fl.StringVar(&f.delimiter, "delimiter", "", "CSV: one character, or tab (default guessed)")
	fl.BoolVar(&f.noHeader, "no-header", false, "CSV: the first row is data; columns are called c0, c1, …")
	fl.StringArrayVar(&f.nulls, "null", nil, "CSV: a `word` that is null where it has no quotes; may be repeated (default the empty one)")
	fl.BoolVar(&f.wholeFiles, "whole-files", false, "text: a row a file instead of a row a line")
	fl.StringVar(&f.onError, "on-error", "fail", "records that cannot be read: fail, or skip and count them")
	fl.StringVar(&f.logLevel, "log-level", "warn", "debug, info (one record a file), warn or error")
	fl.StringVar(&f.logFormat, "log-format", "text", "text or json")
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(formats), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("on-error", cobra.FixedCompletions([]string{"fail", "skip"}, cobra.ShellCompDirectiveNoFileComp))
}

// recipe is what the flags stand for.
func (f *readFlags) recipe(paths []string) recipe.Read {
	r := recipe.Read{
		Paths: paths, Format: f.format, Columns: f.columns, Schema: f.schema, Sample: f.sample, Field: f.field,
		Delimiter: f.delimiter, NoHeader: f.noHeader, Nulls: f.nulls, WholeFiles: f.wholeFiles, BatchSize: f.batch,
	}
	if f.onError != "fail" {
		r.OnError = f.onError
	}
	return r
}

// options checks the flags and fills the defaults in.
func (f *readFlags) options() (opt format.Options, err error) {
	if f.batch < 0 {
		return opt, fmt.Errorf("--batch-size %d: a batch has at least one row", f.batch)
	}
	if f.threads < 0 {
		return opt, fmt.Errorf("--threads %d: there is at least one", f.threads)
	}
	if f.onError != "fail" && f.onError != "skip" {
		return opt, fmt.Errorf("--on-error %q: use fail or skip", f.onError)
	}
	opt = format.Options{
		Columns: f.columns, BatchRows: f.batch, Threads: f.threads,
		Field: f.field, NoHeader: f.noHeader, Nulls: f.nulls, WholeFiles: f.wholeFiles,
	}
	if opt.Threads == 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	if opt.Delimiter, err = f.delimiterByte(); err != nil {
		return opt, err
	}
	if opt.Sample, err = f.sampleBytes(); err != nil {
		return opt, err
	}
	if f.schema != "" {
		if opt.Schema, err = readSchema(f.schema); err != nil {
			return opt, fmt.Errorf("--schema %s: %w", f.schema, err)
		}
	}
	return opt, nil
}

func (f *readFlags) delimiterByte() (byte, error) {
	switch d := f.delimiter; {
	case d == "":
		return 0, nil
	case d == "tab" || d == `\t`:
		return '\t', nil
	case len(d) == 1 && !strings.Contains("\"\r\n", d):
		return d[0], nil
	}
	return 0, fmt.Errorf("--delimiter %q: use one character, such as ; or |, or tab", f.delimiter)
}

func (f *readFlags) sampleBytes() (int64, error) {
	switch f.sample {
	case "":
		return 0, nil
	case "all":
		return -1, nil
	}
	n, err := mem.Parse(f.sample, 0)
	if err != nil {
		return 0, fmt.Errorf("--sample %q is not a size; write 64MiB or all", f.sample)
	}
	return n, nil
}

// mostSchema bounds a schema file: far more than ten thousand columns take.
const mostSchema = 16 << 20

func readSchema(name string) (*arrow.Schema, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostSchema+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostSchema {
		return nil, fmt.Errorf("larger than %s", mem.Format(mostSchema))
	}
	return schematext.Parse(text)
}

// sizeFlag reads a number of bytes.
func sizeFlag(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := mem.Parse(text, 0)
	if err != nil {
		return 0, fmt.Errorf("--%s %q is not a size; write 64MiB or 2GB", name, text)
	}
	return n, nil
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
