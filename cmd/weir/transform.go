package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/watch"
)

type transformFlags struct {
	scanFlags
	params string
}

func (a *app) transform() *cobra.Command {
	var f transformFlags
	c := &cobra.Command{
		Use:   "transform PATH... --params PARAMS.json -o DIR/",
		Short: "Apply fitted parameters to other data",
		Long: `Transform scales, imputes and encodes all rows of a dataset, in their order, with
the parameters of an earlier fit or preparation: the same bits that prepare
writes for the same row. Columns that the parameters do not know pass through as
they are; one that is missing is an error.

` + exitHelp,
		Example: `  weir transform new/ --params params.json -o out/ --memory 256MiB
  weir transform s3://bucket/new/ --params s3://bucket/prepared/ -o new.parquet
  weir transform requests.jsonl --params prepared/manifest.json --to jsonl -o - | head`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error { return a.runTransform(c.Context(), &f, args) },
	}
	fl := c.Flags()
	f.readFlags.add(c, a.formats)
	fl.StringVar(&f.memory, "memory", "", "memory of the whole process (default from the container's limit)")
	fl.StringVar(&f.params, "params", "", "parameters that fit wrote, or a prepared directory or its manifest.json")
	f.writeFlags.add(c, a.writers)
	to := fl.Lookup("to")
	to.Usage += " (default parquet)"
	fl.BoolVar(&f.quiet, "quiet", false, "no progress and no report")
	return c
}

func (a *app) runTransform(ctx context.Context, f *transformFlags, paths []string) error {
	switch {
	case f.params == "":
		return errors.New("say what to apply with --params PARAMS.json, or --params DIR/ of a prepared dataset")
	case f.output == "":
		return errors.New("say where to write with -o DIR/, -o FILE, or -o - for stdout")
	case f.to == "":
		f.to = "parquet"
	}
	show := &watch.Progress{Out: a.err, Width: func() int { w, _ := a.terminal(); return w }}
	c, err := a.config(&f.scanFlags, paths, show)
	if err != nil {
		return err
	}
	a.begin(&c, f.quiet, show)
	params, err := prepare.LoadParams(ctx, a.store(), f.params, c.Budget)
	if err != nil {
		return &runError{fmt.Errorf("--params: %w", err)}
	}
	c.Sink = prepare.Transform(params, c.Options.Threads, c.Sink)
	rep, err := run.Scan(ctx, c)
	show.Clear()
	if err == nil {
		err = a.tell(&f.scanFlags, rep)
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}
