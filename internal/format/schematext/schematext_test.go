package schematext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/schematext"
	"github.com/weir-data/weir/internal/run/runtest"
)

// types is how types are spelt: the first word is printed, all are read.
var types = [][]string{
	{"null"}, {"bool", "boolean"}, {"int8"}, {"uint64"}, {"float16", "halffloat"}, {"float32", "float"}, {"float64", "double"},
	{"string", "utf8"}, {"large_string", "large_utf8"}, {"binary"}, {"string_view"},
	{"date32", "date32[day]"}, {"date64", "date64[ms]"}, {"time32[ms]"}, {"time64[ns]", "time64[ ns ]"}, {"duration[s]"},
	{"timestamp[us]"}, {"timestamp[us, tz=UTC]", "timestamp[us,tz=UTC]"}, {"timestamp[s, tz=Europe/Berlin]"},
	{`timestamp[ns, tz="+01:00"]`, "timestamp[ns, tz=+01:00]"},
	{"decimal128(20, 3)", "decimal(20,3)"}, {"decimal256(76, -2)"}, {"decimal32(9, 9)"}, {"fixed_size_binary[5]"},
	{"list<int32>", "list<item: int32>", "list<item: int32, nullable>"}, {"list<element: int32 not null>"},
	{"large_list<list<string not null>>"}, {"fixed_size_list<float32>[3]"},
	{"map<string, int64>"}, {"map<string, int64 not null, keys_sorted>"},
	{"struct<>"}, {"struct<role: string, content: string not null>", "struct<role:utf8,content:utf8 not null>"},
	{`struct<"a b": int64, "": bool, "say \"x\"": list<größe: int8>>`},
	{"dictionary<values=string, indices=int16>"}, {"dictionary<values=struct<a: int8>, indices=uint8, ordered>"},
}

func TestTypesReadAsTheyAreSpelt(t *testing.T) {
	for _, spellings := range types {
		for _, s := range spellings {
			got, err := schematext.ParseType(s)
			if err != nil {
				t.Error(err)
				continue
			}
			if text := schematext.Type(got); text != spellings[0] {
				t.Errorf("%s is printed as %s, want %s", s, text, spellings[0])
			}
		}
	}
}

func TestSchemasReadBack(t *testing.T) {
	want := runtest.Schema()
	data, err := json.Marshal(map[string]any{"rows": 3, "schema": schematext.Of(want)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := schematext.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	bare, err := schematext.Parse([]byte(`{"columns":[{"name":"x","type":"int64"},{"name":"y","type":"utf8","nullable":false}]}`))
	if err != nil || !bare.Field(0).Nullable || bare.Field(1).Nullable || bare.Field(1).Type.ID() != arrow.STRING {
		t.Errorf("%v, %v", bare, err)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"columns":[{"name":"x","type":"int46"}]}`:                                     `column "x": type "int46": at "int46": a type such as int64`,
		`{"columns":[{"name":"x","type":"list<int8"}]}`:                                 `it ends where '>' should be`,
		`{"columns":[{"name":"x","type":"struct<a int8>"}]}`:                            `at "int8>": ':' should be there`,
		`{"columns":[{"name":"x","type":"decimal128(39, 1)"}]}`:                         `a number from 1 to 38 should be there`,
		`{"columns":[{"name":"x","type":"fixed_size_binary[99999999999999999999]"}]}`:   `a number from 0 to 2147483647`,
		`{"columns":[{"name":"x","type":"timestamp[day]"}]}`:                            `one of s, ms, us, ns`,
		`{"columns":[{"name":"x","type":"dictionary<values=string, indices=string>"}]}`: `an integer type`,
		`{"columns":[{"name":"x","type":"int8"},{"name":"x","type":"int8"}]}`:           `column "x" is there twice`,
		`{"columns":[{"name":"x","typ":"int8"}]}`:                                       `"typ"`,
		`{"columns":[{"name":"x","type":7}]}`:                                           `number is not what "columns.type" is`,
		`{"columns":[]}`:                                                                `at least one column`,
		`{"fields":[]}`:                                                                 `no "columns"`,
		`{"columns"`:                                                                    `not JSON`,
		`[1]`:                                                                           `array`,
		`{"columns":[{"name":"x","type":"` + strings.Repeat("list<", 100) + `"}]}`:      `nested deeper than 64`,
	} {
		if _, err := schematext.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want …%s…", text, err, want)
		}
	}
}

func FuzzParseType(f *testing.F) {
	for _, spellings := range types {
		for _, s := range spellings {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := schematext.ParseType(text)
		if err != nil {
			return
		}
		printed := schematext.Type(first)
		second, err := schematext.ParseType(printed)
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, printed, err)
		}
		if again := schematext.Type(second); again != printed || !arrow.TypeEqual(first, second) {
			t.Fatalf("%q, then %q", printed, again)
		}
	})
}
