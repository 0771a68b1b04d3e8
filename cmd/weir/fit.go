package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/stage/split"
	"github.com/weir-data/weir/internal/watch"
)

type paramsFlags struct {
	fitFlags
	quiet bool
}

func (a *app) fit() *cobra.Command {
	var f paramsFlags
	c := &cobra.Command{
		Use:   "fit PATH... -o PARAMS.json",
		Short: "Fit scalers, imputers and encoders, and write their parameters",
		Long: `Fit is the first pass of prepare alone: it reads a dataset once and writes the
parameters as JSON, with counts, means and categories. With --split, or another
of the flags that divide rows, they are those of the train split, as prepare with
the same flags has them in its manifest; without, those of all rows.

With --fit-from it continues an earlier fit: the parameters it writes are of the
rows that were seen then and of those it reads, as partial_fit does. The rules
are those of the earlier fit. Known categories keep their places. Medians and
quantiles (robust) cannot be continued: parameters do not hold the values.

` + exitHelp,
		Example: `  weir fit raw/ -o params.json --label y --scale 'f*=standard' --encode 'country=onehot' --memory 256MiB
  weir fit monday/ -o params.json --scale 'f*=standard' && weir fit tuesday/ --fit-from params.json -o params.json
  weir transform new/ --params params.json -o out/`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error { return a.runFit(c.Context(), &f, args) },
	}
	f.add(c, a.formats, "file or s3:// object to write the parameters to, - for stdout", "none: all rows are fitted")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "no progress and no report")
	return c
}

// check finds mistakes that are seen without looking at data.
func (f *paramsFlags) check() error {
	if f.output == "" {
		return errors.New("say where to write the parameters with -o PARAMS.json, or -o - for stdout")
	}
	st, err := os.Stat(f.output)
	if strings.HasSuffix(f.output, "/") || err == nil && st.IsDir() {
		return errors.New("-o " + f.output + ": is a directory; name a file in it")
	}
	if f.fitFrom == "" {
		return f.bounded()
	}
	return nil
}

func (a *app) runFit(ctx context.Context, f *paramsFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	r, err := f.recipe(paths)
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return err
	}
	show := &watch.Progress{Out: a.err, Width: func() int { w, _ := a.terminal(); return w }}
	c, err := a.ready(ctx, r, &f.readFlags, f.quiet, show)
	if err != nil {
		return err
	}
	if !f.splitting() {
		c.Split = split.Config{Names: []string{"all"}, Weights: []int{1}}
	}
	// The rules may be those of --fit-from.
	c.Scale.MaxCategories, c.Scale.Other = f.maxCategories, f.other
	text := a.out
	var pipe io.Writer
	if f.output == "-" {
		pipe, text = a.out, a.err
	}
	rep, params, err := prepare.Fit(ctx, c, pipe)
	show.Clear()
	if err == nil && !f.quiet {
		_, err = io.WriteString(text, watch.Fitted(rep, params))
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}
