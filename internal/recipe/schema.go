package recipe

import (
	"encoding/json"
	"regexp"
	"strings"
)

// object is a piece of JSON.
type object = map[string]any

// JSONSchema is a schema (draft 7) of recipes for editors. It knows the keys
// and what each may be, not what they mean together.
func JSONSchema() []byte {
	root := section(top(), "a run of weir", &Recipe{})
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "weir recipe"
	root["type"] = "object"
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("a bug of weir: " + err.Error()) // maps of texts always marshal
	}
	return append(out, '\n')
}

// section is a mapping; of is any value of its type.
func section[T any](keys []key[T], doc string, of *T) object {
	properties, need := object{}, []string{}
	for _, k := range keys {
		properties[k.name] = k.schema(of)
		if k.need {
			need = append(need, k.name)
		}
	}
	// An empty section is the same as none, unless something must be in it.
	out := object{"type": []string{"object", "null"}, "description": doc, "properties": properties, "additionalProperties": false}
	if len(need) > 0 {
		out["required"], out["type"] = need, "object"
	}
	return out
}

// anyText is a text with or without quotes, that may look like something else.
func anyText(empty bool) object {
	out := object{"type": []string{"string", "number", "boolean"}}
	if !empty {
		out["minLength"] = 1
	}
	return out
}

func (k key[T]) schema(of *T) object {
	if k.keys != nil {
		return section(k.keys, k.doc, of)
	}
	var out object
	switch k.at(of).(type) {
	case *string:
		out = anyText(k.empty)
		if k.one != nil {
			out = oneWord(k.one)
		} else if k.pattern != "" {
			out["pattern"] = k.pattern
			if k.size {
				out["type"], out["exclusiveMinimum"] = []string{"string", "number"}, 0
			}
		}
	case *int:
		out = object{"type": "integer", "minimum": k.min, "maximum": k.max}
	case *uint64:
		out = object{"type": "integer", "minimum": 0}
	case *float64:
		out = object{"type": "number", "exclusiveMinimum": k.min, "exclusiveMaximum": k.max}
	case *bool:
		out = object{"type": "boolean"}
	case *Size:
		out = object{"type": []string{"string", "number"}, "pattern": sizePattern, "exclusiveMinimum": 0}
	case *[]string:
		list := object{"type": "array", "items": anyText(k.empty)}
		if !k.empty {
			list["minItems"] = 1
		}
		out = object{"anyOf": []object{anyText(k.empty), list}}
	case *parts:
		names := object{"type": "array", "minItems": 1, "items": anyText(false)}
		weights := object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "number", "exclusiveMinimum": 0}}
		out = object{"anyOf": []object{weights, names}}
	case *[]Stage:
		var all []object
		for _, kind := range kinds() {
			all = append(all, kind.schema())
		}
		out = object{"type": []string{"array", "null"}, "items": object{"anyOf": all}}
	}
	out["description"] = k.doc
	if k.none != "" {
		out["default"] = k.none
	}
	return out
}

func (k kind) schema() object {
	of := k.fresh()
	options := section(k.keys, k.doc, &of)
	if k.family() == corpus {
		return object{"type": "object", "required": []string{k.name}, "properties": object{k.name: options}, "additionalProperties": false}
	}
	options["properties"].(object)[k.name] = object{
		"type": "object", "minProperties": 1, "description": k.doc,
		"additionalProperties": oneWord(k.words),
	}
	options["type"], options["required"] = "object", []string{k.name}
	return options
}

// oneWord allows some words, which editors offer; those with a colon need
// something behind it.
func oneWord(words []string) object {
	var plain, patterns []string
	for _, w := range words {
		if name, _, argument := strings.Cut(w, ":"); argument {
			patterns = append(patterns, regexp.QuoteMeta(name)+":.+")
		} else {
			plain = append(plain, w)
		}
	}
	if patterns == nil {
		return object{"enum": plain}
	}
	return object{"anyOf": []object{{"enum": plain}, {"type": "string", "pattern": "^(" + strings.Join(patterns, "|") + ")$"}}}
}
