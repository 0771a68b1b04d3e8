package csv

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// pick chooses the columns to read among names, which are the first object's.
func (p *planning) pick(names []string) error {
	columns, err := p.available(names)
	if err != nil {
		return err
	}
	called := make([]string, len(columns))
	for i, c := range columns {
		called[i] = c.field.Name
	}
	chosen, err := format.Match(called, p.opt.Columns)
	if err != nil {
		return err
	}
	p.columns = make([]sampled, len(names))
	for _, i := range chosen {
		p.picked = append(p.picked, columns[i])
		p.columns[columns[i].name].wanted = true
		if t := columns[i].field.Type; t != nil {
			// What is known need not be inferred.
			p.columns[columns[i].name].kind = strings_
			if _, err := puts(t); err != nil {
				return format.Error(format.ErrUsage, "column %q: %w", called[i], err)
			}
		}
	}
	p.names = names
	return nil
}

// available is the columns of the file, or those of the schema.
func (p *planning) available(names []string) ([]column, error) {
	var out []column
	if p.opt.Schema == nil {
		for i, n := range names {
			out = append(out, column{name: i, field: arrow.Field{Name: n, Nullable: true}})
		}
		return out, nil
	}
	fields := p.opt.Schema.Fields()
	if p.opt.NoHeader && len(fields) != len(names) {
		return nil, format.Error(format.ErrUsage, "%s in the schema, %d in the first line", plural(len(fields), "column"), len(names))
	}
	taken := map[int]bool{}
	for i, f := range fields {
		at := i
		if !p.opt.NoHeader {
			if at = slices.Index(names, f.Name); at < 0 {
				return nil, format.Error(format.ErrUsage, "no column %q, which the schema has; it has %s", f.Name, few(names))
			}
		}
		if taken[at] {
			return nil, format.Error(format.ErrUsage, "the schema has the column %q twice", f.Name)
		}
		taken[at] = true
		f.Nullable = true
		out = append(out, column{name: at, field: f, given: true})
	}
	return out, nil
}
