package split

import (
	"encoding/json"
	"fmt"
)

// pattern is what a Split splits by.
type pattern struct {
	text  string
	regex bool
}

// UnmarshalJSON reads {"String": text} or {"Regex": text}.
func (p *pattern) UnmarshalJSON(data []byte) error {
	var given map[string]string
	if err := json.Unmarshal(data, &given); err != nil || len(given) != 1 {
		return fmt.Errorf("\"pattern\" %.40q is neither {\"String\": text} nor {\"Regex\": text}", data)
	}
	for name, text := range given {
		if name != "String" && name != "Regex" {
			return fmt.Errorf("\"pattern\" %q is neither String nor Regex", name)
		}
		p.text, p.regex = text, name == "Regex"
	}
	return nil
}

// UnmarshalJSON reads a behavior by its name.
func (b *behavior) UnmarshalJSON(data []byte) error {
	at, err := oneOf("behavior", data, "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
	*b = behavior(at)
	return err
}

// UnmarshalJSON reads a scheme by its name.
func (s *scheme) UnmarshalJSON(data []byte) error {
	at, err := oneOf("prepend_scheme", data, "always", "first", "never")
	*s = scheme(at)
	return err
}

func oneOf(field string, data []byte, names ...string) (int, error) {
	var given string
	if err := json.Unmarshal(data, &given); err != nil {
		return 0, fmt.Errorf("%q is not a string", field)
	}
	for i, name := range names {
		if name == given {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q: %q is none of %q", field, given, names)
}
