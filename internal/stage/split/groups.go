package split

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"
)

// block is how many rows are hashed at once, column by column.
const block = 512

// groups decides by the values of columns.
type groups struct {
	columns []int
	names   []string
	key     uint64
	limits  []uint64
}

func newGroups(c Config, schema *arrow.Schema) (*groups, error) {
	g := &groups{names: c.By, key: xxh3.HashStringSeed("by", c.Seed), limits: limits(c.Weights)}
	for _, name := range c.By {
		i, err := hashedColumn(schema, "by", name)
		if err != nil {
			return nil, err
		}
		g.columns = append(g.columns, i)
	}
	return g, nil
}

// hashedColumn finds a column whose values can be hashed.
func hashedColumn(schema *arrow.Schema, field, name string) (int, error) {
	i, err := column(schema, field, name)
	if err != nil {
		return 0, err
	}
	if t := schema.Field(i).Type; !hashable(t) {
		return 0, usage(field, "column %q: values of type %s cannot be hashed; use numbers, texts or dates", name, t)
	}
	return i, nil
}

func (g *groups) assign(dst []uint8, rec arrow.RecordBatch, _ int, _ int64) error {
	var keys, values [block]uint64
	for at := 0; at < len(dst); at += block {
		n := min(block, len(dst)-at)
		for i := range n {
			keys[i] = g.key
		}
		for c, column := range g.columns {
			if err := hashValues(values[:n], rec.Column(column), at); err != nil {
				return fmt.Errorf("column %q: %w", g.names[c], err)
			}
			for i := range n {
				keys[i] = mix(keys[i] ^ values[i])
			}
		}
		place(dst[at:at+n], keys[:n], g.limits)
	}
	return nil
}
