package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/digest"
	"github.com/weir-data/weir/internal/watch"
)

type scanFlags struct {
	readFlags
	memory string
	to     string
	output string
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

--memory covers the whole process and takes 512MiB, 2GB or 50% (of the
container's limit, or else of RAM). Its default is 80% of the container's limit,
without one 25% of RAM.

` + exitHelp,
		Example: `  weir scan data/                                   # a report
  weir scan s3://bucket/raw/ --columns 'f*,label' --batch-size 50000 --memory 256MiB --threads 2
  weir scan 'data/*.parquet' --to jsonl -o - | head
  weir scan data/ --to arrow -o all.arrow --report report.json
  weir scan data/ --digest --quiet                  # one number of all rows`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error { return a.runScan(c.Context(), &f, args) },
	}
	fl := c.Flags()
	f.add(c)
	fl.StringVar(&f.memory, "memory", "", "memory of the whole process (default from the container's limit)")
	fl.StringVar(&f.to, "to", "", "write the rows as arrow (IPC stream), jsonl or csv")
	fl.StringVarP(&f.output, "output", "o", "", "file to write to, - for stdout (default - with --to)")
	fl.BoolVar(&f.digest, "digest", false, "print a digest of all values in order, whatever the batches")
	fl.StringVar(&f.report, "report", "", "write the report as JSON to this file, - for stdout")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress and no report; with --digest only that")
	c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"arrow", "jsonl", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// check completes the flags that depend on each other.
func (f *scanFlags) check() error {
	if f.to == "" && f.output != "" {
		return fmt.Errorf("-o %s: say what to write with --to arrow, jsonl or csv", f.output)
	}
	if _, ok := writers[f.to]; f.to != "" && !ok {
		return fmt.Errorf("--to %q: use arrow, jsonl or csv", f.to)
	}
	if f.to != "" && f.output == "" {
		f.output = "-"
	}
	if f.output == "-" && f.report == "-" {
		return fmt.Errorf("--report -: stdout has the data; name a file")
	}
	return nil
}

// config turns the flags into a reading; its errors are usage errors.
func (a *app) config(f *scanFlags, paths []string, show *watch.Progress) (run.Config, error) {
	if err := f.check(); err != nil {
		return run.Config{}, err
	}
	opt, err := f.options()
	if err != nil {
		return run.Config{}, err
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
	return run.Config{
		Paths: paths, Options: opt, Store: a.store(), Formats: a.formats, CacheLimit: limit,
		Memory: n, Heap: a.heap, Sink: a.sink(f), Log: log,
	}, nil
}

func (a *app) runScan(ctx context.Context, f *scanFlags, paths []string) error {
	show := &watch.Progress{Out: a.err, Width: func() int { w, _ := a.terminal(); return w }}
	c, err := a.config(f, paths, show)
	if err != nil {
		return err
	}
	if _, ok := a.terminal(); ok && !f.quiet {
		c.Observe = show.Show
	}
	c.Budget = a.setup(c.Memory)
	// One more than decodes, for the consumer: with all CPUs of a large
	// machine, idle ones would only help the collector spend CPU time.
	a.procs(min(c.Options.Threads+1, max(c.Options.Threads, runtime.NumCPU())))
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

// sink is where the flags send batches.
func (a *app) sink(f *scanFlags) func(*arrow.Schema) (run.Sink, error) {
	return func(s *arrow.Schema) (run.Sink, error) {
		var all run.Tee
		if f.digest {
			d, err := digest.New(s)
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
		if f.to != "" {
			out, err := a.output(f, s)
			if err != nil {
				return nil, err
			}
			all = append(all, out)
		}
		if len(all) == 0 {
			return &run.Touch{}, nil
		}
		return all, nil
	}
}

func (a *app) output(f *scanFlags, s *arrow.Schema) (run.Sink, error) {
	if f.output == "-" {
		return run.Pipe(a.out, writers[f.to], s)
	}
	return run.Output(f.output, writers[f.to], s)
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
