// Package profile sums up columns as they stream by: how many values, nulls
// and NaNs, their mean, deviation and range, and the shape of a few of them.
// It is for people to look at; nothing is decided by it.
package profile

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Profile sums up the columns of record batches of one schema. Mean and Std
// are the same for the same batches in the same order; batches cut elsewhere
// change their last digits, and only these.
type Profile struct {
	schema *arrow.Schema
	cols   []moments
}

// Column is what is known of one column. Numbers that nothing is known of are
// nil: those of text, of a column without values, of squares beyond float64.
type Column struct {
	Name string
	Type arrow.DataType
	// Rows are values, nulls, NaNs and infinite values. Of columns that are
	// not numbers all that is not null is a value.
	Count, Nulls, NaNs, Infs int64
	Mean, Std, Min, Max      *float64 // of the values; Std divides by Count
}

// New begins a profile of all columns of a schema.
func New(schema *arrow.Schema) *Profile {
	p := &Profile{schema: schema, cols: make([]moments, schema.NumFields())}
	for i := range p.cols {
		p.cols[i] = begun()
	}
	return p
}

// Cost is about the bytes on the Go heap of a Profile of a schema, and of what
// Append gives.
func Cost(schema *arrow.Schema) int64 { return 1<<10 + 256*int64(schema.NumFields()) }

// Add adds the rows of a batch, or those that rows names. The batch has the
// schema of New.
func (p *Profile) Add(rec arrow.RecordBatch, rows []int32) {
	for i, col := range rec.Columns() {
		p.AddColumn(i, col, rows)
	}
}

// AddColumn adds to column i alone. Different columns may be added to by
// different goroutines at the same moment.
func (p *Profile) AddColumn(i int, col arrow.Array, rows []int32) {
	m := &p.cols[i]
	if !Numeric(col.DataType()) {
		n, nulls := present(col, rows)
		m.count += n
		m.nulls += nulls
		return
	}
	if rows == nil && col.NullN() == 0 {
		switch a := col.(type) {
		case *array.Float64:
			addFloats(m, a.Float64Values())
			return
		case *array.Float32:
			addFloats(m, a.Float32Values())
			return
		}
	}
	var buf [scratch]float64
	in := chunks{col: col, rows: rows}
	for v, nulls, ok := in.next(&buf); ok; v, nulls, ok = in.next(&buf) {
		m.nulls += int64(nulls)
		addFloats(m, v)
	}
}

// Merge adds what o has seen, of the same schema.
func (p *Profile) Merge(o *Profile) {
	for i := range p.cols {
		p.cols[i].join(&o.cols[i])
	}
}

// Columns is what is known so far, in the order of the schema.
func (p *Profile) Columns() []Column {
	out := make([]Column, len(p.cols))
	for i := range out {
		f, m := p.schema.Field(i), &p.cols[i]
		out[i] = Column{Name: f.Name, Type: f.Type, Count: m.count, Nulls: m.nulls, NaNs: m.nans, Infs: m.infs}
		if Numeric(f.Type) {
			out[i].Mean, out[i].Std, out[i].Min, out[i].Max = m.numbers()
		}
	}
	return out
}

// Numeric says that a column of a type has a mean: integers, floats, booleans.
func Numeric(t arrow.DataType) bool {
	id := t.ID()
	return id == arrow.BOOL || arrow.IsInteger(id) || arrow.IsFloating(id)
}

// present counts rows that are not null and rows that are.
func present(col arrow.Array, rows []int32) (n, nulls int64) {
	if rows == nil {
		nulls = int64(col.NullN())
		return int64(col.Len()) - nulls, nulls
	}
	if col.NullN() > 0 {
		for _, r := range rows {
			if col.IsNull(int(r)) {
				nulls++
			}
		}
	}
	return int64(len(rows)) - nulls, nulls
}
