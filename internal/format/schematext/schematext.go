// Package schematext writes schemas as JSON that a person can read and edit,
// and reads them back:
//
//	{"columns": [
//	  {"name": "id", "type": "int64", "nullable": false},
//	  {"name": "messages", "type": "list<struct<role: string, content: string>>"}
//	]}
//
// Types are spelt as Arrow's own tools print them. A column is nullable unless
// it says otherwise; inside a type, "not null" stands behind what is not.
package schematext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

// Schema is the JSON form.
type Schema struct {
	Columns []Column `json:"columns"`
}

// Column is one of a Schema. Nullable is true where it is nil.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable *bool  `json:"nullable,omitempty"`
}

// Of is the JSON form of s, with every column's Nullable told. Metadata is
// left out, and extension types are what they are stored as.
func Of(s *arrow.Schema) Schema {
	out := Schema{Columns: []Column{}}
	for _, f := range s.Fields() {
		out.Columns = append(out.Columns, Column{Name: f.Name, Type: Type(f.Type), Nullable: &f.Nullable})
	}
	return out
}

// Parse reads a Schema, or an object that has one under "schema".
func Parse(data []byte) (*arrow.Schema, error) {
	var outer struct {
		Schema  json.RawMessage `json:"schema"`
		Columns json.RawMessage `json:"columns"`
	}
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, plain(err)
	}
	switch {
	case outer.Schema != nil:
		data = outer.Schema
	case outer.Columns == nil:
		return nil, errors.New(`no "columns": [{"name": …, "type": …}, …] in it`)
	}
	var in Schema
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, plain(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value in it")
	}
	return in.schema()
}

func (s Schema) schema() (*arrow.Schema, error) {
	if len(s.Columns) == 0 {
		return nil, errors.New("a schema has at least one column")
	}
	fields := make([]arrow.Field, len(s.Columns))
	seen := make(map[string]bool)
	for i, c := range s.Columns {
		if seen[c.Name] {
			return nil, fmt.Errorf("column %q is there twice", c.Name)
		}
		seen[c.Name] = true
		t, err := ParseType(c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		fields[i] = arrow.Field{Name: c.Name, Type: t, Nullable: c.Nullable == nil || *c.Nullable}
	}
	return arrow.NewSchema(fields, nil), nil
}

// plain is a JSON error without Go's types.
func plain(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("byte %d: %s is not what %q is", kind.Offset, kind.Value, kind.Field)
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: not JSON: %w", syntax.Offset, err)
	}
	return err
}
