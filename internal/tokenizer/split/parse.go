package split

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/onig"
)

// Parse reads the "pre_tokenizer" of a tokenizer.json. Null is a splitter that gives every text whole. A type or an option
// that is not known is an error that names it.
func Parse(spec json.RawMessage) (Splitter, error) {
	c := &chain{}
	if trimmed := bytes.TrimSpace(spec); len(trimmed) == 0 || string(trimmed) == "null" {
		return c, nil
	}
	if err := c.parse(spec, 0); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if n := len(c.stages); n > 0 {
		if _, last := c.stages[n-1].(byteChars); last {
			c.byteLevel, c.stages = true, c.stages[:n-1]
		}
	}
	if err := c.checkFirst(); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	c.fuse()
	return c, nil
}

// maxNesting is how deep sequences may stand in sequences.
const maxNesting = 32

// options are the fields of every type; each type says which ones it knows, and which it must have.
type options struct {
	Type             string            `json:"type"`
	AddPrefixSpace   *bool             `json:"add_prefix_space"`
	TrimOffsets      *bool             `json:"trim_offsets"`
	UseRegex         *bool             `json:"use_regex"`
	Pattern          *pattern          `json:"pattern"`
	Behavior         *behavior         `json:"behavior"`
	Invert           *bool             `json:"invert"`
	Pretokenizers    []json.RawMessage `json:"pretokenizers"`
	IndividualDigits *bool             `json:"individual_digits"`
	Replacement      *string           `json:"replacement"`
	PrependScheme    *scheme           `json:"prepend_scheme"`
	Split            *bool             `json:"split"`
	Delimiter        *string           `json:"delimiter"`
	Length           *int              `json:"length"`
}

// fields are the options that a type knows; those it must have are marked with an exclamation mark.
var fields = map[string]string{
	"ByteLevel": "add_prefix_space! trim_offsets! use_regex", "Split": "pattern! behavior! invert!", "Sequence": "pretokenizers!",
	"Whitespace": "", "WhitespaceSplit": "", "BertPreTokenizer": "", "UnicodeScripts": "",
	"Punctuation": "behavior", "Digits": "individual_digits!", "CharDelimiterSplit": "delimiter!", "FixedLength": "length",
	"Metaspace": "replacement! add_prefix_space prepend_scheme split str_rep",
}

// checkFields refuses what a type does not know, and what it lacks.
func checkFields(kind string, given map[string]json.RawMessage) error {
	known, there := fields[kind]
	if !there {
		return fmt.Errorf("the type %q is not supported", kind)
	}
	allowed := map[string]bool{"type": true}
	for name := range strings.FieldsSeq(known) {
		name, needed := strings.CutSuffix(name, "!")
		allowed[name] = true
		if value, has := given[name]; needed && (!has || string(value) == "null") {
			return fmt.Errorf("%s: %q is missing", kind, name)
		}
	}
	for name := range given {
		if !allowed[name] {
			return fmt.Errorf("%s: the option %q is not supported", kind, name)
		}
	}
	return nil
}

func (c *chain) parse(spec json.RawMessage, depth int) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(spec, &given); err != nil || given == nil {
		return fmt.Errorf("%.40q is not an object with a type", spec)
	}
	var kind string
	if err := json.Unmarshal(given["type"], &kind); err != nil {
		return fmt.Errorf("\"type\" is missing or not a string")
	}
	if err := checkFields(kind, given); err != nil {
		return err
	}
	var o options
	if err := json.Unmarshal(spec, &o); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if err := c.add(&o, depth); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

func orElse[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

func (c *chain) add(o *options, depth int) error {
	switch o.Type {
	case "Sequence":
		if depth == maxNesting {
			return fmt.Errorf("sequences nest deeper than %d", maxNesting)
		}
		for i, inner := range o.Pretokenizers {
			if err := c.parse(inner, depth+1); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	case "ByteLevel":
		if *o.AddPrefixSpace {
			c.stages = append(c.stages, prefixSpace{})
		}
		if orElse(o.UseRegex, true) {
			scan, _ := ScannerOf(patternGPT2)
			c.stages = append(c.stages, scanStage{scan, patternGPT2})
		}
		c.stages = append(c.stages, byteChars{})
	case "Split":
		return c.addSplit(*o.Pattern, *o.Behavior, *o.Invert)
	case "Whitespace":
		c.stages = append(c.stages, words{plainKinds()})
	case "WhitespaceSplit":
		c.stages = append(c.stages, classStage{plainKinds(), isSpace, removed})
	case "BertPreTokenizer":
		c.stages = append(c.stages, classStage{plainKinds(), isSpace, removed}, classStage{plainKinds(), isPunctuation, isolated})
	case "Punctuation":
		c.stages = append(c.stages, classStage{plainKinds(), isPunctuation, orElse(o.Behavior, isolated)})
	case "Digits":
		how := contiguous
		if *o.IndividualDigits {
			how = isolated
		}
		c.stages = append(c.stages, classStage{plainKinds(), isNumber, how})
	case "UnicodeScripts":
		c.stages = append(c.stages, scripts{scriptKinds()})
	case "CharDelimiterSplit":
		if utf8.RuneCountInString(*o.Delimiter) != 1 {
			return fmt.Errorf("\"delimiter\" %q is not one character", *o.Delimiter)
		}
		c.stages = append(c.stages, literalStage{[]byte(*o.Delimiter), removed, false})
	case "FixedLength":
		length := orElse(o.Length, 5)
		if length < 1 {
			return fmt.Errorf("\"length\" %d is not positive", length)
		}
		c.stages = append(c.stages, fixedLength{length})
	case "Metaspace":
		return c.addMetaspace(o)
	}
	return nil
}

func (c *chain) addMetaspace(o *options) error {
	if utf8.RuneCountInString(*o.Replacement) != 1 {
		return fmt.Errorf("\"replacement\" %q is not one character", *o.Replacement)
	}
	prepend := orElse(o.PrependScheme, prependAlways)
	if !orElse(o.AddPrefixSpace, true) && prepend != prependNever {
		return fmt.Errorf("\"add_prefix_space\" is false, but \"prepend_scheme\" is not never")
	}
	c.stages = append(c.stages, metaspace{[]byte(*o.Replacement), prepend, orElse(o.Split, true)})
	return nil
}

func (c *chain) addSplit(p pattern, how behavior, invert bool) error {
	if !p.regex && p.text != "" {
		c.stages = append(c.stages, literalStage{[]byte(p.text), how, invert})
		return nil
	}
	regex, err := onig.Compile(p.text)
	if err != nil {
		return err
	}
	if scan, known := ScannerOf(p.text); known && (how == isolated || how == removed && invert && covers(p.text)) {
		c.stages = append(c.stages, scanStage{scan, p.text})
		return nil
	}
	c.stages = append(c.stages, regexStage{regex, p.text, how, invert})
	return nil
}

// fuse puts one scanner for the three splits that stand in a row in DeepSeek's files.
func (c *chain) fuse() {
	for i := 0; i+2 < len(c.stages); i++ {
		numbers, _ := c.stages[i].(regexStage)
		han, _ := c.stages[i+1].(regexStage)
		rest, _ := c.stages[i+2].(scanStage)
		if numbers.pattern == patternDeepSeekNumbers && numbers.behavior == isolated &&
			han.pattern == patternDeepSeekHan && han.behavior == isolated && rest.pattern == patternDeepSeek {
			c.stages = slices.Replace(c.stages, i, i+3, stage(scanStage{deepSeekScanner(), ""}))
		}
	}
}

// checkFirst refuses a Metaspace that depends on whether its text is the first where a stage before it has put text
// in: the reference then counts from places that no piece has.
func (c *chain) checkFirst() error {
	changed := false
	for _, s := range c.stages {
		if m, is := s.(metaspace); is && m.prepend == prependFirst && changed {
			return fmt.Errorf("a Metaspace with \"prepend_scheme\" first behind a pre-tokenizer that changes the text is not supported")
		}
		switch s.(type) {
		case metaspace, prefixSpace, byteChars:
			changed = true
		}
	}
	return nil
}
