package main

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/digest"
	"github.com/weir-data/weir/internal/store"
)

// writeFlags say where rows go and how.
type writeFlags struct {
	to       string
	output   string
	codec    string
	rowGroup string
	partSize string
	hashes   []string

	writer format.Writer // after check
	how    format.WriteOptions
}

func (f *writeFlags) add(c *cobra.Command, writers []format.Writer) {
	fl := c.Flags()
	fl.StringVar(&f.to, "to", "", "write the rows as "+format.OneOf(writerNames(writers)))
	fl.StringVarP(&f.output, "output", "o", "", "file, directory (with a slash at its end: many files) or s3:// to write to, - for stdout (default - with --to)")
	fl.StringVar(&f.codec, "codec", "", "compress pages, batches or whole files: none, snappy, gzip, brotli, lz4 or zstd, with a level as zstd:9")
	fl.StringVar(&f.rowGroup, "row-group", "", "Parquet: row groups of this size in memory (default 64MiB, or less where --memory is less)")
	fl.StringVar(&f.partSize, "part-size", "", "directories: files of about this size (default 512MiB, MDS 64MiB)")
	fl.StringSliceVar(&f.hashes, "hashes", nil, "MDS: hashes of every shard, as sha1,xxh64")
	c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(writerNames(writers), cobra.ShellCompDirectiveNoFileComp))
}

// check completes the flags that depend on each other.
func (f *writeFlags) check(writers []format.Writer, threads int) (err error) {
	if f.to == "" {
		for _, flag := range []struct {
			name string
			set  bool
		}{
			{"-o " + f.output, f.output != ""}, {"--codec", f.codec != ""}, {"--row-group", f.rowGroup != ""},
			{"--part-size", f.partSize != ""}, {"--hashes", len(f.hashes) > 0},
		} {
			if flag.set {
				return fmt.Errorf("%s: say what to write with --to %s", flag.name, format.OneOf(writerNames(writers)))
			}
		}
		return nil
	}
	if f.output == "" {
		f.output = "-"
	}
	if f.writer, err = pickWriter(writers, f.to, f.output); err != nil {
		return err
	}
	f.how = format.WriteOptions{Codec: f.codec, Hashes: f.hashes, Threads: threads}
	if f.how.RowGroup, err = sizeFlag("row-group", f.rowGroup); err != nil {
		return err
	}
	f.how.PartSize, err = sizeFlag("part-size", f.partSize)
	return err
}

// target is where the flags send batches; nil: nowhere.
func (a *app) target(f *scanFlags, s store.ReadWriter) run.Target {
	var all []run.Target
	if f.digest {
		all = append(all, digestTarget)
	}
	if f.to != "" {
		files := run.Files{Store: s, URL: f.output, Writer: f.writer, Options: f.how}
		if f.output == "-" {
			files.Pipe = a.out
		}
		all = append(all, files.Target)
	}
	if len(all) == 0 {
		return nil
	}
	return run.Both(all...)
}

func digestTarget(_ context.Context, s *arrow.Schema) (run.Prepared, error) {
	d, err := digest.New(s)
	if err != nil {
		return run.Prepared{}, err
	}
	return run.Ready(d), nil
}

// largestTarget is the one that keeps most on the heap of all that scan has
// before it writes: what works with it works with every flag but --to.
func largestTarget(ctx context.Context, s *arrow.Schema) (run.Prepared, error) {
	p, err := digestTarget(ctx, s)
	if err != nil {
		return run.Ready(&run.Touch{}), nil
	}
	return p, nil
}
