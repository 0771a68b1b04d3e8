package dedup

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/weir-data/weir/internal/format"
	"github.com/zeebo/xxh3"
)

// HashOptions say which values are the same.
type HashOptions struct {
	// Normalize takes text for the same that differs only in how characters
	// are composed (NFC), in case, or in white space: runs of it are one
	// space, and there is none at both ends.
	Normalize bool
}

// Hasher makes keys of rows: the same key for the same values, whatever format
// and whatever type of the same kind they came in. Text and bytes are one kind,
// integers of all widths, floating-point numbers of all widths, lists of all
// layouts; a dictionary is what it stands for. A null is a value of its own;
// all NaN are the same, and so are 0 and -0. Structs go by the order of their fields,
// maps by that of their entries.
type Hasher struct {
	columns []int
	names   []string
	normal  bool
}

// NewHasher hashes the columns that are named, by name or glob; none: all. A
// column that is not there, or of a type that cannot be hashed, is
// format.ErrUsage.
func NewHasher(schema *arrow.Schema, by []string, o HashOptions) (*Hasher, error) {
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	columns, err := format.Match(names, by)
	if err != nil {
		return nil, fmt.Errorf("dedup: %w", err)
	}
	if len(columns) == 0 {
		return nil, format.Error(format.ErrUsage, "dedup: there are no columns to go by")
	}
	h := &Hasher{columns: columns, normal: o.Normalize}
	for _, c := range columns {
		f := schema.Field(c)
		if t := refused(f.Type); t != nil {
			return nil, format.Error(format.ErrUsage, "dedup: column %q: rows cannot be told apart by values of type %s; name other columns", f.Name, t)
		}
		h.names = append(h.names, f.Name)
	}
	return h, nil
}

// Description is the same for hashers whose keys can be compared.
func (h *Hasher) Description() string {
	text, _ := json.Marshal(struct {
		Columns   []string `json:"columns"`
		Normalize bool     `json:"normalize"`
	}{h.names, h.normal}) // neither type can fail
	return string(text)
}

// Hash sets dst to the keys of rows from to to. Several goroutines may hash
// rows of one record, each with a scratch of its own.
func (h *Hasher) Hash(rec arrow.RecordBatch, from, to int, dst []Key, scratch *HashScratch) {
	dst = dst[:to-from]
	for n, c := range h.columns {
		h.column(rec.Column(c), from, dst, n > 0, scratch)
	}
}

// column hashes the rows of one column, and joins them with the keys of those
// before it.
func (h *Hasher) column(col arrow.Array, from int, dst []Key, join bool, s *HashScratch) {
	if !join && !h.normal && col.NullN() == 0 {
		switch a := col.(type) { // the usual cases, without a look at the type for each row
		case *array.String:
			for i := range dst {
				dst[i] = text(a.Value(from + i))
			}
			return
		case *array.LargeString:
			for i := range dst {
				dst[i] = text(a.Value(from + i))
			}
			return
		}
	}
	v := values{normal: h.normal, scratch: s}
	for i := range dst {
		k := v.key(col, from+i)
		if join {
			k = chain(dst[i], k)
		}
		dst[i] = k
	}
}

func text(s string) Key {
	sum := xxh3.HashString128(s)
	return Key{sum.Hi, sum.Lo}
}
