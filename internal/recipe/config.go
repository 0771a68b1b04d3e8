package recipe

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// Validate checks what the keys mean together, for recipes that were parsed
// and for those made of flags. Its errors are format.ErrUsage and name the
// field, at its place in the text where there is one.
func (r *Recipe) Validate() error {
	if err := check(top(), "", r, r); err != nil {
		return err
	}
	if err := r.checkFamily(); err != nil {
		return err
	}
	var m *split.Mistake
	if err := r.SplitConfig().Validate(); errors.As(err, &m) {
		field := m.Field
		if field == "names" || field == "weights" {
			field = "into"
		}
		return r.wrong("split."+field, m.Err.Error())
	}
	return r.checkStages()
}

// check holds the fields of a section to what their keys allow, so that a
// recipe made of flags can be printed and parsed.
func check[T any](keys []key[T], field string, of *T, r *Recipe) error {
	for _, k := range keys {
		path := join(field, k.name)
		if k.keys != nil {
			if k.need || !isZero(k, of) {
				if err := check(k.keys, path, of, r); err != nil {
					return err
				}
			}
			continue
		}
		var why string
		switch v := k.at(of).(type) {
		case *string:
			if why = k.missing(*v == ""); *v != "" {
				var sink string
				why = k.plain(&sink, *v)
			}
			if !utf8.ValidString(*v) {
				why = "it is not in UTF-8"
			}
		case *int:
			if why = k.missing(*v == 0); *v != 0 && (int64(*v) < k.min || int64(*v) > k.max) {
				why = fmt.Sprintf("%d is not %d to %d", *v, k.min, k.max)
			}
		case *float64:
			if *v != 0 && !k.between(*v) {
				why = fmt.Sprintf("%v is not between %d and %d", *v, k.min, k.max)
			}
		case *Size:
			if *v < 0 {
				why = fmt.Sprintf("%d is not a size", *v)
			}
		case *[]string:
			why = k.missing(len(*v) == 0)
			for _, text := range *v {
				if text == "" && !k.empty || !utf8.ValidString(text) {
					why = "a text of it is empty or not in UTF-8"
				}
			}
		}
		if why != "" {
			return r.wrong(path, why)
		}
	}
	return nil
}

func (k key[T]) missing(empty bool) string {
	if k.need && empty {
		return "it is missing: " + k.doc
	}
	return ""
}

// wrong names the key of a field too: beside its place, for the line may be
// long, and without one, for it is all there is.
func (r *Recipe) wrong(field, why string) error {
	return r.Blame(field, fmt.Errorf("%q: %s", last(field), why))
}

// SplitConfig is how rows are divided.
func (r *Recipe) SplitConfig() split.Config {
	c := r.Split
	c.Seed = r.Seed
	return c
}

// ScaleConfig is what the stages do.
func (r *Recipe) ScaleConfig() scale.Config {
	c := scale.Config{Label: r.Label, Keep: r.Keep, Dtype: r.Write.Dtype}
	for _, s := range r.Stages {
		switch s.Name {
		case "impute":
			c.Impute = s.Rules
		case "scale":
			c.Scale = s.Rules
		case "encode":
			c.Encode, c.MaxCategories, c.Other = s.Rules, s.MaxCategories, s.Other
		}
	}
	return c
}

// Options are those of reading, without the schema, which lies in the file
// that Schema names, and without what is done with bad records.
func (r Read) Options(threads int) format.Options {
	opt := format.Options{
		Columns: r.Columns, BatchRows: r.BatchSize, Threads: threads, Field: r.Field,
		NoHeader: r.NoHeader, Nulls: r.Nulls, WholeFiles: r.WholeFiles,
	}
	switch r.Sample {
	case "":
	case "all":
		opt.Sample = -1
	default:
		opt.Sample, _ = mem.Parse(r.Sample, 0) // Validate has seen it
	}
	switch r.Delimiter {
	case "":
	case "tab":
		opt.Delimiter = '\t'
	default:
		opt.Delimiter = r.Delimiter[0]
	}
	return opt
}

// Options are those of writing.
func (w Write) Options(threads int) format.WriteOptions {
	return format.WriteOptions{Codec: w.Codec, RowGroup: int64(w.RowGroup), PartSize: int64(w.PartSize), Threads: threads}
}
