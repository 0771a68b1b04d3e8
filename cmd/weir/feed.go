package main

import (
	"errors"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/feed"
	"github.com/weir-data/weir/internal/format"
)

// feed is the command that hands batches to another process, or shows one.
func (a *app) feed() *cobra.Command {
	fd := -1
	sample := false
	cfg := feed.Config{Mode: "matrix", BatchSize: 8, DropLast: false, Sources: []feed.Source{{}}}
	c := &cobra.Command{
		Use:   "feed PATH... --print-sample",
		Short: "Show what a model will see",
		Long: `Feed makes the batches that weir.loader gives to Python. With --print-sample the
first one is printed: names, types and shapes of its tensors, and some rows.

` + exitHelp,
		Example: `  weir feed prepared/ --split train --features 'f*' --label target --print-sample
  weir feed prepared/ --label target --shuffle --seed 7 --batch-size 4 --print-sample`,
		RunE: func(c *cobra.Command, args []string) error {
			env := a.feedEnv()
			if fd >= 0 {
				if err := feed.Serve(c.Context(), fd, env); err != nil {
					return &runError{err}
				}
				return nil
			}
			if !sample {
				return errors.New("say --print-sample; batches for Python are made by weir.loader")
			}
			if err := somePaths(c, args); err != nil {
				return err
			}
			cfg.Sources[0].Paths = args
			if len(cfg.Columns) > 0 {
				cfg.Mode, cfg.Tensors = "columns", true
			}
			if err := feed.Sample(c.Context(), env, cfg, a.out); err != nil {
				return &runError{err}
			}
			return nil
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&sample, "print-sample", false, "print the first batch")
	fl.StringVar(&cfg.Sources[0].Split, "split", "", "of a directory that weir prepare made (default train)")
	fl.StringSliceVar(&cfg.Features, "features", nil, "columns of the matrix, names or globs (default all numbers but the label)")
	fl.StringVar(&cfg.Label, "label", "", "the column of labels")
	fl.StringSliceVar(&cfg.Columns, "columns", nil, "columns one by one instead of a matrix")
	fl.StringVar(&cfg.Dtype, "dtype", "", "float32, float16, bfloat16 or float64 (default float32)")
	fl.IntVar(&cfg.BatchSize, "batch-size", 8, "rows of the batch")
	fl.BoolVar(&cfg.Shuffle, "shuffle", false, "in the order of a seed")
	fl.Uint64Var(&cfg.Seed, "seed", 0, "of the order")
	fl.StringVar(&cfg.Memory, "memory", "", "memory of the whole process (default from the container's limit)")
	fl.IntVar(&fd, "fd", -1, "socket of the process that asks")
	fl.MarkHidden("fd")
	return c
}

func (a *app) feedEnv() feed.Env {
	return feed.Env{
		Store: a.store(), Formats: a.formats, Version: version,
		Memory: memoryFlag, Setup: a.setup,
		Threads: func() int { return runtime.GOMAXPROCS(0) },
		Options: func(r feed.Read) (format.Options, error) {
			f := readFlags{
				format: r.Format, schema: r.Schema, sample: r.Sample, field: r.Field, delimiter: r.Delimiter,
				noHeader: r.NoHeader, nulls: r.Nulls, wholeFiles: r.WholeFiles, onError: r.OnError,
			}
			if f.onError == "" {
				f.onError = "fail"
			}
			opt, err := f.options()
			if err != nil {
				err = format.Error(format.ErrUsage, "%w", err)
			}
			return opt, err
		},
	}
}
