package recipe_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/weir-data/weir/internal/recipe"
)

// beyond are the mistakes that a schema cannot see: what keys mean together,
// and numbers that look right.
var beyond = []string{
	"a size of nothing", "a merge", "a tag", "stages out of order", "a stage twice", "names without weights",
	"weights where a column decides", "a name that is no directory", "two rules for a split", "too many bounds",
	"shingles without a threshold", "a unit without a threshold", "a check without a threshold", "text and chat", "text and alpaca", "chat and alpaca",
	"tools without chat", "a template without chat", "a template's name without chat", "a mask without turns", "corpus stages out of order", "a corpus stage twice",
	"stages of a corpus after those of a table", "stages of a table after those of a corpus", "a label of a corpus", "columns of a table that a corpus keeps",
	"a fit of a corpus", "splits of a corpus", "arrays of a corpus", "a dtype of a corpus", "scratch files of a table", "scratch files in a bucket", "a table as arrow",
}

func TestSchemaAgreesWithParse(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(recipe.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range blocks(t, "testdata/print.txt") {
		if why := refuse(schema, document(t, c.text)); why != "" {
			t.Errorf("%s: the schema refuses what Parse accepts: %s", c.name, why)
		}
	}
	for _, c := range blocks(t, "testdata/errors.txt") {
		if strings.Contains(c.want, "not YAML") || strings.Contains(c.want, "alias") || strings.Contains(c.want, "brackets") || c.name == "two documents" {
			continue
		}
		if why := refuse(schema, document(t, c.text)); (why == "") != slices.Contains(beyond, c.name) {
			t.Errorf("%s: the schema says %q", c.name, why)
		}
	}
}

// document is the text as JSON has it.
func document(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// refuse is a validator for the words that the schema uses; empty: accepted.
func refuse(schema map[string]any, v any) string {
	for word, want := range schema {
		if why := rule(schema, word, want, v); why != "" {
			return why
		}
	}
	return ""
}

func rule(schema map[string]any, word string, want, v any) string {
	bad := func(no bool) string {
		if no {
			return fmt.Sprintf("%v: %s %v", v, word, want)
		}
		return ""
	}
	number, isNumber := v.(float64)
	text, isText := v.(string)
	list, isList := v.([]any)
	fields, isObject := v.(map[string]any)
	switch word {
	case "$schema", "title", "description", "default", "properties":
		return ""
	case "type":
		types, ok := want.([]any)
		if !ok {
			types = []any{want}
		}
		return bad(!slices.ContainsFunc(types, func(t any) bool { return isType(t.(string), v) }))
	case "enum":
		return bad(!slices.ContainsFunc(want.([]any), func(w any) bool { return reflect.DeepEqual(w, v) }))
	case "pattern":
		return bad(isText && !regexp.MustCompile(want.(string)).MatchString(text))
	case "minLength":
		return bad(isText && len(text) < int(want.(float64)))
	case "minItems", "minProperties":
		return bad((isList || isObject) && len(list)+len(fields) < int(want.(float64)))
	case "minimum":
		return bad(isNumber && number < want.(float64))
	case "exclusiveMinimum":
		return bad(isNumber && number <= want.(float64))
	case "exclusiveMaximum":
		return bad(isNumber && number >= want.(float64))
	case "maximum":
		return bad(isNumber && number > want.(float64))
	case "required":
		return bad(isObject && slices.ContainsFunc(want.([]any), func(k any) bool { _, ok := fields[k.(string)]; return !ok }))
	case "anyOf":
		return bad(!slices.ContainsFunc(want.([]any), func(s any) bool { return refuse(s.(map[string]any), v) == "" }))
	case "items":
		for _, item := range list {
			if why := refuse(want.(map[string]any), item); why != "" {
				return why
			}
		}
		return ""
	case "additionalProperties":
		return members(schema, want, fields)
	}
	return "the schema has a word that the test does not know: " + word
}

// members refuses keys of an object that are neither listed nor allowed.
func members(schema map[string]any, others any, fields map[string]any) string {
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range fields {
		inner, known := properties[name].(map[string]any)
		if !known {
			if inner, known = others.(map[string]any); !known {
				return "unknown " + name
			}
		}
		if why := refuse(inner, value); why != "" {
			return name + ": " + why
		}
	}
	return ""
}

func isType(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	}
	return name == "object"
}
