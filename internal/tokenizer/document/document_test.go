package document

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

// rebuild makes of a Value what encoding/json makes of its text.
func rebuild(v Value) (any, bool) {
	switch v.Kind() {
	case '{':
		m, whole := map[string]any{}, true
		_ = v.Members(func(key, value Value) error {
			name, ok := key.AppendText(nil)
			inner, fine := rebuild(value)
			m[string(name)] = inner
			whole = whole && ok && fine
			return nil
		})
		return m, whole
	case '[':
		list, whole := []any{}, true
		_ = v.Elements(func(value Value) error {
			inner, fine := rebuild(value)
			list = append(list, inner)
			whole = whole && fine
			return nil
		})
		return list, whole
	case '"':
		text, ok := v.AppendText(nil)
		return string(text), ok
	}
	var x any
	_ = json.Unmarshal(v, &x)
	return x, true
}

var documents = []string{
	`{"a": [1, -2.5e3 , true,null ], "b\n\u00e9\ud83d\ude00\/" : {"c":{}} , "d":[], "e":"\"\\"}`,
	` [ ] `, `"x"`, `17`, `{"a":1,"a":2}`, `["\ud800"]`, `["\ud800\u0041"]`, "[\"\\u00E9\xff\"]", `[[["]"]],{"}":"{"}]`,
}

func TestWalkSeesWhatTheStandardParserSees(t *testing.T) {
	for _, text := range documents {
		check(t, []byte(text))
	}
}

func check(t *testing.T, data []byte) {
	v, err := Parse(data)
	var want any
	if (json.Unmarshal(data, &want) == nil) != (err == nil) {
		t.Fatalf("%q: %v", data, err)
	}
	if err != nil {
		return
	}
	got, whole := rebuild(v)
	if whole && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %v, want %v", data, got, want)
	}
	if !whole && utf8.Valid(data) && !json.Valid(data) {
		t.Fatalf("%q: text was refused", data)
	}
}

func TestHalfSurrogatesAreNoText(t *testing.T) {
	for _, text := range []string{`"\ud800"`, `"\udc00x"`, `"\ud800\ud800"`, `"\ud800\n00000"`} {
		if _, ok := Value(text).AppendText(nil); ok {
			t.Errorf("%s was taken for text", text)
		}
	}
}

func TestMemberIsTheLastOfItsName(t *testing.T) {
	v := Value(`{"a":1,"a":[2]}`)
	if got := string(v.Member("a")); got != "[2]" {
		t.Errorf("a is %s", got)
	}
	if !v.Member("b").Null() || v.Member("b").Kind() != 0 {
		t.Error("b is there")
	}
}

func FuzzWalk(f *testing.F) {
	for _, text := range documents {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}
