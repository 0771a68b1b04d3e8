package csv

import (
	"context"
	"fmt"

	"github.com/weir-data/weir/internal/format"
	engine "github.com/weir-data/weir/internal/format/records"
)

// Format reads CSV and TSV files, compressed or not.
//
// Fields are divided by one byte, Options.Delimiter: tab in files called .tsv
// or .tab, | in .psv, and else the one of , tab ; | that the first records
// agree about. A field that begins with a quote ends with the next one that is
// not doubled, and may have delimiters and lines in it; quotes elsewhere are
// text. Lines end with \n or \r\n. A byte order mark is dropped, empty lines
// are passed over; in files of one column they are nulls.
//
// Names come from the first line. A column without a name is called by its
// place (c3), one with the name of another gets a number (x_1). Other files
// have the same columns, in any order.
//
// Types come from Options.Schema, which then says which columns there are and
// in which order (by name, and without a header by place), or from a sample:
//
//   - bool: true and false, all lower, all upper or one upper letter
//   - int64: digits; with a needless zero or a plus they stay a string, and so
//     do columns of integers that are too large
//   - float64: numbers, nan, inf and infinity in any case; also where some
//     are integers
//   - date32: 2024-02-29
//   - timestamp[us]: a date, T or a space, and 12:34, 12:34:56 or up to six
//     decimals; also where some are dates. With a zone (Z, +01, +0100, +01:00)
//     in any of them it is timestamp[us, UTC], and UTC is meant where there is
//     none
//   - string: all else, and what has no values
//
// With a schema, booleans may also be 1, t, y, yes and 0, f, n, no, binary is
// base64, durations are integers, decimals are not rounded.
//
// Fields without quotes that are one of Options.Nulls, else the empty ones,
// are null. An empty field of a column that is not of strings is always null.
func Format() format.Format {
	return format.Format{Name: "csv", Inline: true, Sniff: sniff, Plan: Plan}
}

// Plan looks at a sample for the types, and at every header.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	switch opt.Delimiter {
	case quote, '\r', '\n':
		return nil, format.Error(format.ErrUsage, "csv: %q cannot be a delimiter", opt.Delimiter)
	}
	p := &planning{src: src, opt: opt, none: newNulls(opt.Nulls), object: make([]int, len(src.Objects)), orders: map[string]int{}}
	for i := range p.object {
		p.object[i] = unseen
	}
	if opt.Delimiter != 0 {
		p.dialect = newDialect(opt.Delimiter)
	}
	v, err := engine.Sample(ctx, "csv", src, opt, p.visit)
	if err != nil {
		return nil, err
	}
	for i := range src.Objects {
		if p.object[i] != unseen {
			continue
		}
		if err := p.readHeader(ctx, i); err != nil {
			return nil, fmt.Errorf("csv: %s: %w", src.Objects[i].URL, err)
		}
	}
	if p.names == nil {
		return nil, format.Error(format.ErrData, "csv: %s: no header and no rows", src.Objects[0].URL)
	}
	return p.dataset(v)
}
