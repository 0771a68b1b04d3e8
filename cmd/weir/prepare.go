package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/recipe"
)

// prepareFlags become a recipe.
type prepareFlags struct {
	fitFlags
	cookFlags
	codec, rowGroup, partSize string
	npy                       bool
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
--fit-from continues an earlier fit with these rows, as partial_fit does.

--npy reads the parts back, in a third pass, and writes them as arrays too. The rows
of X_train.npy are those of train/, in their order; its columns are all numbers, as
--dtype says, with NaN for null: what the rules made, and what they left alone, but
not the label, --keep and the columns that decide the split. manifest.json names
them. y_train.npy is the label: int64, or the type of a label that has fractions.

` + exitHelp,
		Example: `  weir prepare raw/ -o prepared/ --label target --scale 'f*=standard' --memory 256MiB
  weir prepare s3://bucket/raw/ -o s3://bucket/prepared/ --label y --split train=80,val=10,test=10 --split-by user_id \
       --scale 'f*=standard,price=robust' --encode 'country=onehot,device=hash:64' --impute 'age=median' --dtype float32
  weir prepare raw/ -o prepared/ --label y --scale 'f*=standard' --memory 256MiB --dry-run      # the plan, and nothing else
  weir prepare raw/ -o prepared/ --label y --print-recipe > recipe.yaml && weir run recipe.yaml`,
		Args: somePaths,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := f.recipe(args)
			if err != nil {
				return err
			}
			return a.printOrCook(c.Context(), r, &f.readFlags, &f.cookFlags)
		},
	}
	f.add(c, a.formats)
	return c
}

func (f *prepareFlags) add(c *cobra.Command, formats []format.Format) {
	f.fitFlags.add(c, formats, "directory or s3:// prefix to write to", "train=80,val=10,test=10")
	f.cookFlags.add(c)
	fl := c.Flags()
	fl.StringVar(&f.codec, "codec", "", "of the parts: none, snappy, gzip, brotli, lz4 or zstd (default snappy)")
	fl.StringVar(&f.rowGroup, "row-group", "", "row groups of this size in memory, in the largest split (default a 16th of --memory, 1MiB to 16MiB)")
	fl.StringVar(&f.partSize, "part-size", "", "rows of this size, of all splits together, make a part of each (default a 32nd of the source, 64MiB to 256MiB)")
	fl.BoolVar(&f.npy, "npy", false, "write arrays for NumPy beside the parts: X_train.npy, y_train.npy and so on")
	f.addPrint(c)
}

// recipe is what the flags stand for.
func (f *prepareFlags) recipe(paths []string) (*recipe.Recipe, error) {
	if f.output == "" {
		return nil, fmt.Errorf("say where to write with -o DIR/")
	}
	if err := f.bounded(); err != nil {
		return nil, err
	}
	r, err := f.fitFlags.recipe(paths)
	if err != nil {
		return nil, err
	}
	r.Write.Codec, r.Write.Npy = f.codec, f.npy
	if err := sizes(&r.Write, f.rowGroup, f.partSize); err != nil {
		return nil, err
	}
	return r, r.Validate()
}

// sizes fills in those of what is written.
func sizes(w *recipe.Write, rowGroup, partSize string) error {
	group, err := sizeFlag("row-group", rowGroup)
	if err != nil {
		return err
	}
	part, err := sizeFlag("part-size", partSize)
	w.RowGroup, w.PartSize = recipe.Size(group), recipe.Size(part)
	return err
}
