package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/watch"
)

type inspectFlags struct {
	readFlags
	json bool
	all  bool
}

func (a *app) inspect() *cobra.Command {
	var f inspectFlags
	c := &cobra.Command{
		Use:   "inspect PATH...",
		Short: "Describe a dataset without reading its data",
		Long: `Inspect prints the schema, the numbers of rows, files and row groups, the stored
size, the size in memory, and the smallest --memory with which scan works. The
last depends on --columns, --batch-size and --threads.

` + exitHelp,
		Example: `  weir inspect s3://bucket/raw/
  weir inspect data/ --columns 'f*' --threads 8
  weir inspect data/ --json | jq .smallest_memory`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error { return a.runInspect(c.Context(), &f, args) },
	}
	f.add(c, a.formats)
	c.Flags().BoolVar(&f.all, "all", false, "list every column of a long schema")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (a *app) runInspect(ctx context.Context, f *inspectFlags, paths []string) error {
	opt, err := f.options()
	if err != nil {
		return err
	}
	log, err := f.logger(a.err)
	if err != nil {
		return err
	}
	d, err := run.Inspect(ctx, run.Config{
		Paths: paths, Options: opt, Store: a.store(), Formats: a.formats, Heap: a.heap,
		Format: f.format, SkipBad: f.onError == "skip", Sink: largestTarget, Log: log,
	})
	if err != nil {
		return &runError{err}
	}
	if f.json {
		err = watch.DescribeJSON(a.out, d)
	} else {
		_, err = io.WriteString(a.out, watch.Describe(d, f.all))
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}
