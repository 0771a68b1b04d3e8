package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/recipe"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/watch"
)

// cookFlags are those of a recipe's run that are not in the recipe.
type cookFlags struct {
	force  bool
	quiet  bool
	dry    bool
	show   int  // examples of duplicates
	check  bool // of tokens
	report string
	print  bool // the recipe, and nothing else
}

func (f *cookFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.force, "force", false, "replace a finished dataset, or another recipe's unfinished one")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "print what would be done, with the memory of each pass, and write nothing")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "no progress and no report")
	c.Flags().StringVar(&f.report, "report", "", "write a report with columns before and after to this file: a page if it ends in .html, else .json")
}

// addPrint is for commands whose flags become a recipe.
func (f *cookFlags) addPrint(c *cobra.Command) {
	c.Flags().BoolVar(&f.print, "print-recipe", false, "print the recipe this stands for, and do nothing")
}

// printOrCook does with a recipe made of flags what these ask for.
func (a *app) printOrCook(ctx context.Context, r *recipe.Recipe, read *readFlags, f *cookFlags) error {
	if f.print {
		_, err := a.out.Write(recipe.Print(r))
		return err
	}
	return a.cook(ctx, r, read, f)
}

// runRecipe is the command that runs a file.
func (a *app) runRecipe() *cobra.Command {
	var f cookFlags
	read := readFlags{onError: "fail", logLevel: "warn", logFormat: "text"}
	var schema bool
	c := &cobra.Command{
		Use:   "run RECIPE.yaml",
		Short: "Run a recipe",
		Long: `Run does what a recipe says, as --print-recipe prints it. A mistake in it is shown
with its line and column and the nearest right word. Editors find them while you
type, and complete keys, with the JSON schema that --schema prints.

` + exitHelp,
		Example: `  weir prepare raw/ -o prepared/ --label y --scale 'f*=standard' --print-recipe > recipe.yaml
  weir run recipe.yaml
  weir run --schema > weir.schema.json              # first line of a recipe: # yaml-language-server: $schema=weir.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && !schema || len(args) > 0 && schema {
				return errors.New("name one recipe, or ask for their --schema")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if schema {
				_, err := a.out.Write(recipe.JSONSchema())
				return err
			}
			text, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			r, err := recipe.Parse(text, args[0])
			if err != nil {
				return err
			}
			return a.cook(c.Context(), r, &read, &f)
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of recipes, and do nothing")
	f.add(c)
	return c
}

// cook carries a recipe out.
func (a *app) cook(ctx context.Context, r *recipe.Recipe, read *readFlags, f *cookFlags) error {
	file := reportFile(f.report)
	if err := file.check(); err != nil {
		return err
	}
	if r.Corpus() {
		return a.cookCorpus(ctx, r, read, f)
	}
	show := &watch.Progress{Out: a.err, Width: func() int { w, _ := a.terminal(); return w }}
	c, err := a.ready(ctx, r, read, f.quiet, show)
	if err != nil {
		return err
	}
	line := new(watch.Timeline)
	c.Force, c.Shapes = f.force, file != ""
	c.Run.Observe = watch.All(line.Observe, c.Run.Observe)
	if f.dry {
		return a.plan(ctx, c)
	}
	rep, err := prepare.Run(ctx, c)
	show.Clear()
	if err == nil {
		err = a.told(watch.Prepare(rep, c, line), f.quiet, file)
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}

// plan tells what a preparation would do.
func (a *app) plan(ctx context.Context, c prepare.Config) error {
	p, err := prepare.Plan(ctx, c)
	if err != nil {
		return &runError{err}
	}
	_, err = io.WriteString(a.out, watch.Planned(p))
	return err
}

// told tells what a preparation did.
func (a *app) told(p watch.Preparation, quiet bool, file reportFile) error {
	p.Ended = time.Now().UTC().Truncate(time.Second)
	if !quiet {
		if _, err := io.WriteString(a.out, p.Text()); err != nil {
			return err
		}
	}
	return file.write(&p)
}

// ready is cookConfig, and then all that is needed before the first pass.
func (a *app) ready(ctx context.Context, r *recipe.Recipe, read *readFlags, quiet bool, show *watch.Progress) (prepare.Config, error) {
	c, err := a.cookConfig(r, read, show)
	if err != nil {
		return c, err
	}
	a.begin(&c.Run, quiet, show)
	if r.FitFrom != "" {
		if c.Prior, err = prepare.LoadParams(ctx, c.Store, r.FitFrom, c.Run.Budget); err != nil {
			return c, &runError{fmt.Errorf("fit_from: %w", err)}
		}
	}
	return c, nil
}

// cookConfig turns a recipe into a preparation; its errors are usage errors.
func (a *app) cookConfig(r *recipe.Recipe, read *readFlags, show io.Writer) (prepare.Config, error) {
	c, log, err := a.readConfig(r, read, show)
	if err != nil {
		return prepare.Config{}, err
	}
	return prepare.Config{
		Run: c, Store: a.store(), Out: r.Write.Path, Split: r.SplitConfig(), Scale: r.ScaleConfig(),
		Writer: parquet.Writer(), Write: r.Write.Options(c.Options.Threads), Npy: r.Write.Npy,
		Recipe: plain(r), Seed: r.Seed, Version: "weir " + version,
		Note: func(text string) { log.Warn(text) },
	}, nil
}

// plain is a recipe without what changes no output, which does not tell two
// recipes apart.
func plain(r *recipe.Recipe) string {
	p := *r
	p.Memory, p.Threads, p.Read.BatchSize, p.Scratch, p.ScratchCodec = "", 0, 0, "", ""
	return string(recipe.Print(&p))
}

// readConfig is how a recipe's rows are read; its errors are usage errors.
func (a *app) readConfig(r *recipe.Recipe, read *readFlags, show io.Writer) (run.Config, *slog.Logger, error) {
	log, err := read.logger(show)
	if err != nil {
		return run.Config{}, nil, err
	}
	n, err := memoryFlag(r.Memory)
	if err != nil {
		return run.Config{}, nil, r.Blame("memory", err)
	}
	threads := r.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	opt := r.Read.Options(threads)
	if r.Read.Schema != "" {
		if opt.Schema, err = readSchema(r.Read.Schema); err != nil {
			return run.Config{}, nil, r.Blame("read.schema", err)
		}
	}
	limit, _ := mem.ContainerLimit()
	return run.Config{
		Paths: r.Read.Paths, Options: opt, Format: r.Read.Format, Store: a.store(), Formats: a.formats, CacheLimit: limit,
		Memory: n, Heap: a.heap, SkipBad: r.Read.OnError == "skip", Log: log,
	}, log, nil
}

// verify is the command that checks a prepared directory.
func (a *app) verify() *cobra.Command {
	var memory string
	c := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check a prepared dataset against its manifest",
		Long: `Verify reads the manifest and every part of a prepared dataset. A part that is
missing, cut, altered or not of it is named, and the exit code is 4.

` + exitHelp,
		Example: `  weir verify prepared/
  weir verify s3://bucket/prepared/ --memory 256MiB`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.runVerify(c.Context(), args[0], memory) },
	}
	c.Flags().StringVar(&memory, "memory", "", "memory of the whole process (default from the container's limit)")
	return c
}

func (a *app) runVerify(ctx context.Context, url, memory string) error {
	n, err := memoryFlag(memory)
	if err != nil {
		return err
	}
	budget := a.setup(n)
	res, err := prepare.Verify(ctx, a.store(), a.formats, url, budget,
		func(text string) { fmt.Fprintln(a.out, text) })
	if err != nil {
		return &runError{err}
	}
	fmt.Fprint(a.out, watch.Verified(res))
	return nil
}
