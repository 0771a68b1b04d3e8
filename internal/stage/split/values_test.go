package split_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/stage/split"
)

// signature is where 64 seeds put one value: equal for equal hashes, and for
// others once in 2^64.
func signature(t *testing.T, typ arrow.DataType, value string) string {
	t.Helper()
	rec := table(t, columns("k", typ), `{"k":`+value+`}`)
	var all []uint8
	for seed := range uint64(64) {
		c := split.Config{Names: []string{"a", "b"}, Weights: []int{1, 1}, By: []string{"k"}, Seed: seed}
		all = append(all, assign(t, assigner(t, c, rec.Schema(), source("data/a")), rec, 0)...)
	}
	return digits(all)
}

type typed struct {
	typ   arrow.DataType
	value string
}

func dictionary(t arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: t}
}

// same are values that are one from whatever file they come.
func same() map[string][]typed {
	p := arrow.PrimitiveTypes
	return map[string][]typed{
		"17": {{p.Int64, "17"}, {p.Int32, "17"}, {p.Int16, "17"}, {p.Int8, "17"}, {p.Uint64, "17"}, {p.Uint32, "17"},
			{p.Uint16, "17"}, {p.Uint8, "17"}, {p.Float64, "17"}, {p.Float32, "17"}, {arrow.FixedWidthTypes.Float16, "17"},
			{&arrow.Decimal128Type{Precision: 38}, `"17"`}, {&arrow.Decimal256Type{Precision: 40, Scale: 2}, `"17.00"`}, {dictionary(p.Int64), "17"}},
		"-3":    {{p.Int64, "-3"}, {p.Int8, "-3"}, {p.Float64, "-3"}, {&arrow.Decimal128Type{Precision: 9, Scale: 1}, `"-3.0"`}},
		"0":     {{p.Int64, "0"}, {p.Float64, "0"}, {p.Float64, "-0.0"}, {p.Uint8, "0"}},
		"2^63":  {{p.Uint64, "9223372036854775808"}, {p.Float64, "9223372036854775808"}, {&arrow.Decimal128Type{Precision: 38}, `"9223372036854775808"`}},
		"half":  {{p.Float64, "0.5"}, {p.Float32, "0.5"}, {arrow.FixedWidthTypes.Float16, "0.5"}},
		"2^64":  {{p.Float64, "18446744073709551616"}},
		"-2^63": {{p.Int64, "-9223372036854775808"}, {p.Float64, "-9223372036854775808"}},
		"text": {{arrow.BinaryTypes.String, `"abc"`}, {arrow.BinaryTypes.LargeString, `"abc"`}, {arrow.BinaryTypes.StringView, `"abc"`},
			{arrow.BinaryTypes.Binary, `"YWJj"`}, {arrow.BinaryTypes.LargeBinary, `"YWJj"`}, {&arrow.FixedSizeBinaryType{ByteWidth: 3}, `"YWJj"`},
			{dictionary(arrow.BinaryTypes.String), `"abc"`}},
		"empty":      {{arrow.BinaryTypes.String, `""`}, {arrow.BinaryTypes.Binary, `""`}},
		"text of 17": {{arrow.BinaryTypes.String, `"17"`}},
		"true":       {{arrow.FixedWidthTypes.Boolean, "true"}},
		"false":      {{arrow.FixedWidthTypes.Boolean, "false"}},
		"null":       {{p.Int64, "null"}, {arrow.BinaryTypes.String, "null"}, {arrow.Null, "null"}, {dictionary(arrow.BinaryTypes.String), "null"}},
		"day": {{arrow.FixedWidthTypes.Date32, `"1969-12-31"`}, {arrow.FixedWidthTypes.Date64, `"1969-12-31"`},
			{arrow.FixedWidthTypes.Timestamp_s, "-86400"}, {arrow.FixedWidthTypes.Timestamp_ns, "-86400000000000"},
			{&arrow.TimestampType{Unit: arrow.Microsecond}, "-86400000000"}},
		"before 1970": {{arrow.FixedWidthTypes.Timestamp_ms, "-500"}, {arrow.FixedWidthTypes.Timestamp_ns, "-500000000"}},
		"clock":       {{arrow.FixedWidthTypes.Time32s, `"00:00:17"`}, {arrow.FixedWidthTypes.Time64ns, `"00:00:17"`}},
		"17 seconds":  {{arrow.FixedWidthTypes.Duration_s, "17"}, {arrow.FixedWidthTypes.Duration_ns, "17000000000"}},
		"1.25":        {{p.Float64, "1.25"}},
		"decimal":     {{&arrow.Decimal128Type{Precision: 9, Scale: 2}, `"1.25"`}, {&arrow.Decimal256Type{Precision: 9, Scale: 3}, `"1.250"`}},
	}
}

func TestSameValueOfAnyTypeIsOneGroup(t *testing.T) {
	seen := map[string]string{}
	for name, all := range same() {
		want := signature(t, all[0].typ, all[0].value)
		for _, v := range all[1:] {
			if signature(t, v.typ, v.value) != want {
				t.Errorf("%s: %s %s is another value than %s %s", name, v.typ, v.value, all[0].typ, all[0].value)
			}
		}
		if other, ok := seen[want]; ok {
			t.Errorf("%s and %s are one value", name, other)
		}
		seen[want] = name
	}
}

func TestGroupsNeverStraddle(t *testing.T) {
	rec := people(t, 5000)
	for _, by := range [][]string{{"user"}, {"city"}, {"city", "user"}, {"label", "x"}} {
		splits := assign(t, assigner(t, split.Config{By: by}, rec.Schema(), source("data/a")), rec, 0)
		where, used := map[string]uint8{}, map[uint8]bool{}
		for row, s := range splits {
			key := ""
			for _, name := range by {
				key += fmt.Sprintf("%q", rec.Column(rec.Schema().FieldIndices(name)[0]).ValueStr(row))
			}
			if at, ok := where[key]; ok && at != s {
				t.Fatalf("by %v: group %s is in %d and %d", by, key, at, s)
			}
			where[key] = s
			used[s] = true
		}
		if len(used) < 2 {
			t.Errorf("by %v: all rows in one split", by)
		}
	}
}

func TestColumnsOfAGroupAreFramed(t *testing.T) {
	schema := columns("a", arrow.BinaryTypes.String, "b", arrow.BinaryTypes.String)
	rows := []string{`{"a":"x","b":"yz"}`, `{"a":"xy","b":"z"}`, `{"a":"z","b":"xy"}`, `{"a":"xyz"}`, `{"b":"xyz"}`, `{"a":"","b":"xyz"}`, `{}`}
	rec := table(t, schema, rows...)
	seen := map[string]int{}
	got := make([][]uint8, len(rows))
	for seed := range uint64(64) {
		c := split.Config{Names: []string{"a", "b"}, Weights: []int{1, 1}, By: []string{"a", "b"}, Seed: seed}
		for i, s := range assign(t, assigner(t, c, schema, source("data/a")), rec, 0) {
			got[i] = append(got[i], s)
		}
	}
	for i, g := range got {
		if other, ok := seen[digits(g)]; ok {
			t.Errorf("%s and %s are one group", rows[i], rows[other])
		}
		seen[digits(g)] = i
	}
}

func TestNullGroupsAreOne(t *testing.T) {
	schema := columns("k", arrow.PrimitiveTypes.Float64)
	var rows []string
	for i := range 2000 {
		rows = append(rows, []string{`{"k":null}`, `{"k":"NaN"}`, fmt.Sprintf(`{"k":%d.5}`, i)}[i%3])
	}
	rec := table(t, schema, rows...)
	splits := assign(t, assigner(t, split.Config{By: []string{"k"}}, schema, source("data/a")), rec, 0)
	for i := 3; i < len(splits); i += 3 {
		if splits[i] != splits[0] {
			t.Fatalf("nulls at rows 0 and %d are in two splits", i)
		}
	}
	for i := 4; i < len(splits); i += 3 {
		if splits[i] != splits[1] {
			t.Fatalf("NaNs at rows 1 and %d are in two splits", i)
		}
	}
	if !slices.Contains(splits, 0) || !slices.Contains(splits, 1) {
		t.Error("all rows in one split")
	}
}
