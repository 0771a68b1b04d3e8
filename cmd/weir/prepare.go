package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/recipe"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// prepareFlags become a recipe.
type prepareFlags struct {
	readFlags
	cookFlags
	memory string
	output string
	label  string
	keep   []string
	seed   uint64

	split, byRange, column, stratify string
	by                               []string
	fromDirs                         bool

	scale, impute, encode string
	maxCategories         int
	other                 bool
	dtype                 string

	codec, rowGroup, partSize string
	print                     bool
}

func (a *app) prepare() *cobra.Command {
	var f prepareFlags
	c := &cobra.Command{
		Use:   "prepare PATH... -o DIR/",
		Short: "Split, fit on train, transform and write train/val/test, in two passes",
		Long: `Prepare reads a dataset twice. The first pass fits scalers, imputers and encoders
on the rows of the train split; the second transforms all rows and writes them as
Parquet parts, a directory a split, with a manifest.json that names every part.

A run that was killed goes on where it stopped when the same command is given
again, and writes the same bytes. Splits are a function of the rows' positions (or
of --split-by columns) and the seed: the same on every machine, and when files
are added.

--scale, --impute and --encode take rules as NAME=RULE, where NAME may be a glob:
  scale   standard, minmax, maxabs, robust, log1p, clip:LO:HI, none
  impute  mean, median, most_frequent, constant:VALUE
  encode  onehot, ordinal, hash:N

` + exitHelp,
		Example: `  weir prepare raw/ -o prepared/ --label target --scale 'f*=standard' --memory 256MiB
  weir prepare s3://bucket/raw/ -o s3://bucket/prepared/ --label y --split train=80,val=10,test=10 --split-by user_id \
       --scale 'f*=standard,price=robust' --encode 'country=onehot,device=hash:64' --impute 'age=median' --dtype float32
  weir prepare raw/ -o prepared/ --label y --print-recipe > recipe.yaml && weir run recipe.yaml`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := f.recipe(args)
			if err != nil {
				return err
			}
			if f.print {
				_, err := a.out.Write(recipe.Print(r))
				return err
			}
			return a.cook(c.Context(), r, &f.readFlags, &f.cookFlags)
		},
	}
	f.add(c, a.formats)
	return c
}

func (f *prepareFlags) add(c *cobra.Command, formats []format.Format) {
	f.readFlags.add(c, formats)
	f.cookFlags.add(c)
	fl := c.Flags()
	fl.StringVar(&f.memory, "memory", "", "memory of the whole process (default from the container's limit)")
	fl.StringVarP(&f.output, "output", "o", "", "directory or s3:// prefix to write to")
	fl.StringVar(&f.label, "label", "", "the column that models learn; it is passed through")
	fl.StringSliceVar(&f.keep, "keep", nil, "other columns, names or globs, to pass through as they are")
	fl.Uint64Var(&f.seed, "seed", 0, "chooses one of many equally good splits")
	fl.StringVar(&f.split, "split", "", "names and weights of the splits (default train=80,val=10,test=10)")
	fl.StringSliceVar(&f.by, "split-by", nil, "columns whose values decide: a group never straddles")
	fl.StringVar(&f.byRange, "split-by-range", "", "a column and the bounds between splits, as ts=2024-01-01,2024-02-01")
	fl.StringVar(&f.column, "split-column", "", "the column that holds the split's name")
	fl.BoolVar(&f.fromDirs, "split-from-dirs", false, "take the splits from the directories train/, val/, test/")
	fl.StringVar(&f.stratify, "stratify", "", "split every value of this column in the same proportions")
	fl.StringVar(&f.scale, "scale", "", "scaling rules, as 'f*=standard,price=robust'")
	fl.StringVar(&f.impute, "impute", "", "what stands for nulls, as 'age=median'")
	fl.StringVar(&f.encode, "encode", "", "encoding rules, as 'country=onehot'")
	fl.IntVar(&f.maxCategories, "max-categories", 0, "most categories of an encoded column (default 1000)")
	fl.BoolVar(&f.other, "other", false, "categories beyond that are one, instead of an error")
	fl.StringVar(&f.dtype, "dtype", "", "float32 or float64, of scaled columns (default float64)")
	fl.StringVar(&f.codec, "codec", "", "of the parts: none, snappy, gzip, brotli, lz4 or zstd (default snappy)")
	fl.StringVar(&f.rowGroup, "row-group", "", "row groups of this size in memory (default 16MiB)")
	fl.StringVar(&f.partSize, "part-size", "", "rows of this size, of all splits together, make a part of each (default 256MiB)")
	fl.BoolVar(&f.print, "print-recipe", false, "print the recipe this stands for, and do nothing")
}

// recipe is what the flags stand for.
func (f *prepareFlags) recipe(paths []string) (*recipe.Recipe, error) {
	if f.output == "" {
		return nil, fmt.Errorf("say where to write with -o DIR/")
	}
	r := &recipe.Recipe{
		Memory: f.memory, Threads: f.threads, Seed: f.seed, Label: f.label, Keep: f.keep,
		Read: recipe.Read{
			Paths: paths, Format: f.format, Columns: f.columns, Schema: f.schema, Sample: f.sample, Field: f.field,
			Delimiter: f.delimiter, NoHeader: f.noHeader, Nulls: f.nulls, WholeFiles: f.wholeFiles, BatchSize: f.batch,
		},
		Write: recipe.Write{Path: f.output, Codec: f.codec, Dtype: f.dtype},
	}
	if f.onError != "fail" {
		r.Read.OnError = f.onError
	}
	if err := f.splits(&r.Split); err != nil {
		return nil, err
	}
	for _, s := range []struct{ name, rules string }{{"impute", f.impute}, {"scale", f.scale}, {"encode", f.encode}} {
		if s.rules == "" {
			continue
		}
		rules, err := scale.ParseRules(s.rules)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", s.name, err)
		}
		stage := recipe.Stage{Name: s.name, Rules: rules}
		if s.name == "encode" {
			stage.MaxCategories, stage.Other = f.maxCategories, f.other
		}
		r.Stages = append(r.Stages, stage)
	}
	for name, size := range map[string]*recipe.Size{"row-group": &r.Write.RowGroup, "part-size": &r.Write.PartSize} {
		text := f.rowGroup
		if name == "part-size" {
			text = f.partSize
		}
		n, err := sizeFlag(name, text)
		if err != nil {
			return nil, err
		}
		*size = recipe.Size(n)
	}
	return r, r.Validate()
}

// splits fills in how rows are divided.
func (f *prepareFlags) splits(c *split.Config) (err error) {
	if f.split != "" {
		if c.Names, c.Weights, err = split.ParseNames(f.split); err != nil {
			return fmt.Errorf("--split: %w", err)
		}
	}
	if f.byRange != "" {
		if c.Range, err = split.ParseRange(f.byRange); err != nil {
			return fmt.Errorf("--split-by-range: %w", err)
		}
	}
	c.By, c.Column, c.FromDirs, c.Stratify = f.by, f.column, f.fromDirs, f.stratify
	return nil
}
