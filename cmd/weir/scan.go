package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/watch"
)

type scanFlags struct {
	readFlags
	writeFlags
	memory string
	digest bool
	report string
	quiet  bool
}

func (a *app) scan() *cobra.Command {
	var f scanFlags
	c := &cobra.Command{
		Use:   "scan PATH...",
		Short: "Read a dataset, in order, inside a memory budget",
		Long: `Scan reads files, directories, globs and s3:// prefixes as one dataset. Without
--to every value is read and let go, and a report is printed: rows, speed, peak
memory against the budget, and who waited for whom.

Files are recognised by what they hold, then by their names; --format decides
otherwise. With --to the rows are written: to stdout, to a file, or to a
directory of files. A file appears under its name whole or not at all.

--memory covers the whole process and takes 512MiB, 2GB or 50% (of the
container's limit, or else of RAM). Its default is 80% of the container's limit,
without one 25% of RAM.

` + exitHelp,
		Example: `  weir scan data/                                   # a report
  weir scan s3://bucket/raw/ --columns 'f*,label' --batch-size 50000 --memory 256MiB --threads 2
  weir scan 'data/*.parquet' --to jsonl -o - | head
  weir scan data/ --to arrow -o all.arrow --report report.json
  weir scan logs/ --to csv --codec zstd -o s3://bucket/csv/ --part-size 256MiB
  weir scan data/ --digest --quiet                  # one number of all rows`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error { return a.runScan(c.Context(), &f, args) },
	}
	fl := c.Flags()
	f.readFlags.add(c, a.formats)
	fl.StringVar(&f.memory, "memory", "", "memory of the whole process (default from the container's limit)")
	f.writeFlags.add(c, a.writers)
	fl.BoolVar(&f.digest, "digest", false, "print a digest of all values in order, whatever the batches")
	fl.StringVar(&f.report, "report", "", "write the report as JSON to this file, - for stdout")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress and no report; with --digest only that")
	return c
}

// config turns the flags into a reading; its errors are usage errors.
func (a *app) config(f *scanFlags, paths []string, show *watch.Progress) (run.Config, error) {
	opt, err := f.readFlags.options()
	if err != nil {
		return run.Config{}, err
	}
	if err := f.check(a.writers, opt.Threads); err != nil {
		return run.Config{}, err
	}
	if f.output == "-" && f.report == "-" {
		return run.Config{}, errors.New("--report -: stdout has the data; name a file")
	}
	log, err := f.logger(show)
	if err != nil {
		return run.Config{}, err
	}
	n, err := memoryFlag(f.memory)
	if err != nil {
		return run.Config{}, err
	}
	limit, from := mem.ContainerLimit()
	if n > limit {
		log.Warn("--memory is more than there is", "memory", mem.Format(n), "limit", mem.Format(limit), "from", from)
	}
	s := a.store()
	return run.Config{
		Paths: paths, Options: opt, Store: s, Formats: a.formats, CacheLimit: limit,
		Format: f.format, SkipBad: f.onError == "skip",
		Memory: n, Heap: a.heap, Sink: a.target(f, s), Log: log,
	}, nil
}

func (a *app) runScan(ctx context.Context, f *scanFlags, paths []string) error {
	show := &watch.Progress{Out: a.err, Width: func() int { w, _ := a.terminal(); return w }}
	c, err := a.config(f, paths, show)
	if err != nil {
		return err
	}
	a.begin(&c, f.quiet, show)
	rep, err := run.Scan(ctx, c)
	show.Clear()
	if err == nil {
		err = a.tell(f, rep)
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}

// begin sets the process up for a reading.
func (a *app) begin(c *run.Config, quiet bool, show *watch.Progress) {
	if _, ok := a.terminal(); ok && !quiet {
		c.Observe = show.Show
	}
	c.Budget = a.setup(c.Memory)
	// One more than decodes, for the consumer: with all CPUs of a large
	// machine, idle ones would only help the collector spend CPU time.
	a.procs(min(c.Options.Threads+1, max(c.Options.Threads, runtime.NumCPU())))
}

// tell writes the report where the flags want it: beside the data, never into
// it.
func (a *app) tell(f *scanFlags, rep run.Report) error {
	var text io.Writer = a.out
	if f.output == "-" || f.report == "-" {
		text = a.err
	}
	switch {
	case !f.quiet:
		io.WriteString(text, watch.Text(rep))
	case f.digest:
		fmt.Fprintln(text, rep.Digest)
	}
	switch f.report {
	case "":
		return nil
	case "-":
		return watch.JSON(a.out, rep)
	}
	file, err := os.Create(f.report)
	if err != nil {
		return fmt.Errorf("%w: %w", run.ErrOutput, err)
	}
	err = watch.JSON(file, rep)
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}
