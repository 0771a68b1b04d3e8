// Package split says which split (train, val, test) each row belongs to.
//
// The answer depends on the row and the configuration alone, never on batch
// sizes, threads, machines or the rows around it, so rows keep their split when
// more are appended. What decides is one of
//   - the row's position: the object's name in the dataset and the row's number
//     in the object, hashed with the seed;
//   - the values of some columns, hashed: rows that agree in all of them are in
//     one split;
//   - a column's range, for time series;
//   - a column that holds the split's name, or a directory that is called so;
//   - the row's turn among the rows of its label (stratified), which is the one
//     rule that looks at the rows before.
//
// An object's name is its URL without the fixed part of the path that listed
// it: data/, s3://bucket/raw/ and raw/*.csv all give part-7.csv for the file of
// that name directly below them. A dataset that is copied elsewhere, or to
// which objects are added, keeps its splits; one whose objects are renamed or
// cut differently does not, and is better split by columns.
package split

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// Config says how rows are divided. The zero value is train=80,val=10,test=10
// by position.
type Config struct {
	// Names of the splits, in order; empty: train, val and test, or, with one
	// bound, train and test.
	Names []string
	// Weights are the shares of the splits, one a name, of any sum. Splits by
	// Range, Column and FromDirs have none.
	Weights []int
	// Seed chooses one of many equally good divisions.
	Seed uint64

	// At most one of the following decides.

	// By names columns whose values decide: a group never straddles. A value
	// is the same one from every format: integers of every width and floats
	// without a fraction are one number, texts and binaries are their bytes,
	// dates and timestamps of every unit are instants. All nulls are one
	// value, and so are all NaNs.
	By []string
	// Range divides by the order of one column.
	Range Range
	// Column names a column that holds the split's name, as text or integer.
	Column string
	// FromDirs takes the innermost directory of the object's URL that has a
	// split's name.
	FromDirs bool

	// Stratify names a label column. Of each label, every run of rows as long
	// as the sum of the weights, divided by what they have in common, is
	// divided exactly, in an order drawn from seed and label: of 25 rows of a
	// label 80/10/10 puts 2 or 3 into val, wherever they lie. Rows must be
	// assigned in order, and what is appended must come last. It goes with
	// position only.
	Stratify string
}

// Range is a column and the bounds between the splits: rows below the first
// are in the first split, rows from the last on are in the last. Rows without
// a value are an error.
type Range struct {
	Column string
	// Bounds are numbers, dates (2024-01-31) or times (2024-01-31T12:30:00),
	// which are UTC where no offset stands behind them.
	Bounds []string
}

// Source is where the rows come from.
type Source struct {
	Paths   []string // files, directories, prefixes and globs, as they were given
	Objects []string // the URLs that were listed, in the order of reading
}

// Assigner assigns rows. It is safe for concurrent use unless the splits are
// stratified.
type Assigner struct {
	names  []string
	source Source
	rule   rule
}

// rule is one way to decide.
type rule interface {
	// assign fills dst for the rows of rec, which begin at row first of an
	// object. Errors name the row and the cause.
	assign(dst []uint8, rec arrow.RecordBatch, object int, first int64) error
}

// New prepares to assign rows of a schema. A configuration that does not fit
// is a Mistake, which is format.ErrUsage.
func New(c Config, schema *arrow.Schema, source Source) (*Assigner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.filled()
	a := &Assigner{names: c.Names, source: source}
	var err error
	switch {
	case len(c.By) > 0:
		a.rule, err = newGroups(c, schema)
	case c.Range.Column != "":
		a.rule, err = newRanges(c, schema)
	case c.Column != "":
		a.rule, err = newNamed(c, schema)
	case c.FromDirs:
		a.rule, err = newDirs(c, source.Objects)
	case c.Stratify != "":
		a.rule, err = newStrata(c, schema)
	default:
		a.rule = newPositions(c, source)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Names are those of the splits, in the order that Assign counts them.
func (a *Assigner) Names() []string { return slices.Clone(a.names) }

// Assign sets dst[i] to the split of row i of rec. All rows are of one object,
// an index into Source.Objects, and follow each other in it from firstRow on. A
// row that belongs nowhere is format.ErrData; dst is then of no use.
func (a *Assigner) Assign(dst []uint8, rec arrow.RecordBatch, object int, firstRow int64) error {
	if object < 0 || object >= len(a.source.Objects) || int64(len(dst)) < rec.NumRows() || firstRow < 0 {
		return fmt.Errorf("split: object %d, row %d: not rows of the source", object, firstRow)
	}
	if err := a.rule.assign(dst[:rec.NumRows()], rec, object, firstRow); err != nil {
		return fmt.Errorf("split: %s: %w", a.source.Objects[object], err)
	}
	return nil
}

// Cost is the most bytes the Assigner will come to hold on the Go heap beyond
// a few KiB; more than zero for stratified splits only.
func (a *Assigner) Cost() int64 {
	if s, ok := a.rule.(*strata); ok {
		return s.cost()
	}
	return 0
}

// State is what a later Assigner of the same configuration needs to go on
// behind the rows that this one was given; nil where it needs nothing.
func (a *Assigner) State() []byte {
	if s, ok := a.rule.(*strata); ok {
		return s.state()
	}
	return nil
}

// Restore goes on from a State; one of another configuration is
// format.ErrData.
func (a *Assigner) Restore(state []byte) error {
	if s, ok := a.rule.(*strata); ok {
		return s.restore(state)
	}
	if len(state) != 0 {
		return format.Error(format.ErrData, "split: a state where there is none")
	}
	return nil
}

// column finds a column that a field of the configuration names.
func column(schema *arrow.Schema, field, name string) (int, error) {
	found := schema.FieldIndices(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		var names []string
		for _, f := range schema.Fields() {
			names = append(names, f.Name)
		}
		return 0, usage(field, "no column is called %q; there are %s", name, few(names))
	}
	return 0, usage(field, "%d columns are called %q", len(found), name)
}
