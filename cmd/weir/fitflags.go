package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/recipe"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// fitFlags say what to fit on which rows; fit and prepare have them.
type fitFlags struct {
	readFlags
	memory  string
	output  string
	label   string
	keep    []string
	seed    uint64
	fitFrom string

	split, byRange, column, stratify string
	by                               []string
	fromDirs                         bool

	scale, impute, encode string
	maxCategories         int
	other                 bool
	dtype                 string
}

// add adds them; output and unsplit are the help of -o and the default of
// --split.
func (f *fitFlags) add(c *cobra.Command, formats []format.Format, output, unsplit string) {
	f.readFlags.add(c, formats)
	fl := c.Flags()
	fl.StringVar(&f.memory, "memory", "", "memory of the whole process (default from the container's limit)")
	fl.StringVarP(&f.output, "output", "o", "", output)
	fl.StringVar(&f.label, "label", "", "the column that models learn; it is passed through")
	fl.StringSliceVar(&f.keep, "keep", nil, "other columns, names or globs, to pass through as they are")
	fl.Uint64Var(&f.seed, "seed", 0, "chooses one of many equally good splits")
	fl.StringVar(&f.split, "split", "", "names and weights of the splits (default "+unsplit+")")
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
	fl.StringVar(&f.fitFrom, "fit-from", "", "continue the fit of these parameters, or of a prepared directory, with its rules")
}

// recipe is what the flags stand for; whoever has more of them adds these, and
// validates.
func (f *fitFlags) recipe(paths []string) (*recipe.Recipe, error) {
	r := &recipe.Recipe{
		Memory: f.memory, Threads: f.threads, Seed: f.seed, Label: f.label, Keep: f.keep, FitFrom: f.fitFrom,
		Read: f.readFlags.recipe(paths), Write: recipe.Write{Path: f.output, Dtype: f.dtype},
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
	return r, nil
}

// bounded refuses a bound on categories that nothing is encoded with.
func (f *fitFlags) bounded() error {
	if (f.maxCategories != 0 || f.other) && f.encode == "" {
		return errors.New("--max-categories and --other are of --encode, which is not given")
	}
	return nil
}

// splitting says that rows are divided at all.
func (f *fitFlags) splitting() bool {
	return f.split+f.byRange+f.column+f.stratify != "" || len(f.by) > 0 || f.fromDirs
}

// splits fills in how rows are divided.
func (f *fitFlags) splits(c *split.Config) (err error) {
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
