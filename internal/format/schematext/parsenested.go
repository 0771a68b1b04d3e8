package schematext

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// nested reads types that hold others; nil where name is none of them.
func (p *parser) nested(name string, depth int) (arrow.DataType, error) {
	switch name {
	case "list", "large_list", "fixed_size_list":
		return p.list(name, depth)
	case "struct":
		return p.structure(depth)
	case "map":
		return p.mapping(depth)
	case "dictionary":
		return p.dictionary(depth)
	}
	return nil, nil
}

func (p *parser) list(name string, depth int) (arrow.DataType, error) {
	if err := p.need("<"); err != nil {
		return nil, err
	}
	f, err := p.field(depth, itemName)
	if err != nil {
		return nil, err
	}
	if err := p.need(">"); err != nil {
		return nil, err
	}
	switch name {
	case "list":
		return arrow.ListOfField(f), nil
	case "large_list":
		return arrow.LargeListOfField(f), nil
	}
	n, err := p.brackets(1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return arrow.FixedSizeListOfField(int32(n), f), nil
}

// field reads "name: type not null"; where there is another name to fall back
// on, "name: " may be missing.
func (p *parser) field(depth int, other string) (arrow.Field, error) {
	start := p.at
	name, err := p.word()
	if err != nil {
		return arrow.Field{}, err
	}
	if !p.eat(":") {
		if other == "" {
			return arrow.Field{}, p.wrong("':'")
		}
		p.at, name = start, other
	}
	t, err := p.typ(depth)
	return arrow.Field{Name: name, Type: t, Nullable: !p.notNull()}, err
}

func (p *parser) notNull() bool {
	start := p.at
	if p.eat("not ") && p.eat("null") {
		return true
	}
	p.at = start
	// The Go library's own words.
	if p.eat(", nullable") {
		return false
	}
	p.at = start
	return false
}

func (p *parser) structure(depth int) (arrow.DataType, error) {
	if err := p.need("<"); err != nil {
		return nil, err
	}
	var fields []arrow.Field
	for !p.eat(">") {
		if len(fields) > 0 {
			if err := p.need(","); err != nil {
				return nil, err
			}
		}
		f, err := p.field(depth, "")
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return arrow.StructOf(fields...), nil
}

func (p *parser) mapping(depth int) (arrow.DataType, error) {
	if err := p.need("<"); err != nil {
		return nil, err
	}
	key, err := p.typ(depth)
	if err != nil {
		return nil, err
	}
	if err := p.need(","); err != nil {
		return nil, err
	}
	value, err := p.typ(depth)
	if err != nil {
		return nil, err
	}
	t := arrow.MapOf(key, value)
	t.SetItemNullable(!p.notNull())
	if p.eat(",") {
		if err := p.need("keys_sorted"); err != nil {
			return nil, err
		}
		t.KeysSorted = true
	}
	return t, p.need(">")
}

func (p *parser) dictionary(depth int) (arrow.DataType, error) {
	if err := p.need("<"); err != nil {
		return nil, err
	}
	if err := p.need("values="); err != nil {
		return nil, err
	}
	value, err := p.typ(depth)
	if err != nil {
		return nil, err
	}
	if err := p.need(","); err != nil {
		return nil, err
	}
	if err := p.need("indices="); err != nil {
		return nil, err
	}
	start := p.at
	index, err := p.typ(depth)
	if err != nil {
		return nil, err
	}
	if !arrow.IsInteger(index.ID()) {
		p.at = start
		return nil, p.wrong("an integer type")
	}
	t := &arrow.DictionaryType{IndexType: index, ValueType: value}
	if p.eat(",") {
		if err := p.need("ordered"); err != nil {
			return nil, err
		}
		t.Ordered = true
	}
	return t, p.need(">")
}
