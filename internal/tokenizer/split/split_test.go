package split

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// pieces are the pieces of text, as the reference shows them: byte-level ones as characters.
func pieces(s Splitter, text string, lead int, scratch *Scratch) []string {
	out := []string{}
	s.Split([]byte(text), lead, scratch, func(p []byte) {
		if !s.ByteLevel() {
			out = append(out, string(p))
			return
		}
		var chars strings.Builder
		for _, b := range p {
			chars.WriteRune(ByteChar(b))
		}
		out = append(out, chars.String())
	})
	return out
}

// golden.jsonl holds lines {"spec": a pre_tokenizer} and behind each {"text", "pieces"} as tokenizers 0.23.3 split it.
func TestPiecesAreThoseOfTheReference(t *testing.T) {
	file, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var splitter Splitter
	var spec string
	count := 0
	for lines.Scan() {
		var line struct {
			Spec   json.RawMessage
			Text   string
			Pieces []string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Spec != nil {
			spec = string(line.Spec)
			if splitter, err = Parse(line.Spec); err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			continue
		}
		count++
		if got := pieces(splitter, line.Text, 1, &Scratch{}); !slices.Equal(got, line.Pieces) {
			t.Errorf("%s: %q\n got %q\nwant %q", spec, line.Text, got, line.Pieces)
		}
	}
	if lines.Err() != nil || count < 1000 {
		t.Fatalf("read %d texts: %v", count, lines.Err())
	}
}

func TestOneScratchServesSeveralSplitters(t *testing.T) {
	scratch := &Scratch{}
	space, err := Parse([]byte(`{"type":"Metaspace","replacement":"_"}`))
	if err != nil {
		t.Fatal(err)
	}
	bert, err := Parse([]byte(`{"type":"BertPreTokenizer"}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := pieces(space, "a b", 1, scratch); !slices.Equal(got, []string{"_a", "_b"}) {
			t.Fatalf("Metaspace: %q", got)
		}
		if got := pieces(bert, "a, b", 1, scratch); !slices.Equal(got, []string{"a", ",", "b"}) {
			t.Fatalf("BertPreTokenizer: %q", got)
		}
	}
}

func TestMetaspaceOfTheFirstTextAlone(t *testing.T) {
	s, err := Parse([]byte(`{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},
		{"type":"Metaspace","replacement":"_","prepend_scheme":"first"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	scratch := &Scratch{}
	if got := pieces(s, "a b", 1, scratch); !slices.Equal(got, []string{"_a", "b"}) {
		t.Errorf("first: %q", got)
	}
	if got := pieces(s, "a b", 0, scratch); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("not first: %q", got)
	}
	if got := pieces(s, " a", 1, scratch); !slices.Equal(got, []string{"a"}) {
		t.Errorf("behind a space: %q", got)
	}
}

func TestNoPreTokenizerGivesTheTextWhole(t *testing.T) {
	for _, spec := range []string{"", "null", " null\n", `{"type":"Sequence","pretokenizers":[]}`} {
		s, err := Parse([]byte(spec))
		if err != nil {
			t.Fatal(err)
		}
		if got := pieces(s, "a b", 1, &Scratch{}); !slices.Equal(got, []string{"a b"}) || s.ByteLevel() {
			t.Errorf("%q: %q, byte level %v", spec, got, s.ByteLevel())
		}
	}
}

func TestParseNamesWhatItRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		`[]`:                              "not an object",
		`{}`:                              `"type" is missing`,
		`{"type":"Foo"}`:                  `the type "Foo" is not supported`,
		`{"type":"Whitespace","speed":1}`: `Whitespace: the option "speed" is not supported`,
		`{"type":"ByteLevel","add_prefix_space":true}`:                                        `ByteLevel: "trim_offsets" is missing`,
		`{"type":"Digits","individual_digits":3}`:                                             `individual_digits`,
		`{"type":"Split","pattern":"x","behavior":"Removed","invert":false}`:                  `"pattern"`,
		`{"type":"Split","pattern":{"Glob":"x"},"behavior":"Removed","invert":false}`:         `"Glob" is neither String nor Regex`,
		`{"type":"Split","pattern":{"String":"x"},"behavior":"removed","invert":false}`:       `"removed" is none of`,
		`{"type":"Split","pattern":{"Regex":"(a)\\1"},"behavior":"Removed","invert":false}`:   `\1 is not supported`,
		`{"type":"Metaspace","replacement":"ab"}`:                                             `"ab" is not one character`,
		`{"type":"Metaspace","replacement":"_","add_prefix_space":false}`:                     `"prepend_scheme" is not never`,
		`{"type":"Metaspace","replacement":"_","prepend_scheme":"last"}`:                      `"last" is none of`,
		`{"type":"CharDelimiterSplit","delimiter":""}`:                                        `is not one character`,
		`{"type":"FixedLength","length":0}`:                                                   `"length" 0 is not positive`,
		`{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"Foo"}]}`:          `Sequence: 1: the type "Foo"`,
		strings.Repeat(`{"type":"Sequence","pretokenizers":[`, 50) + strings.Repeat(`]}`, 50): `nest deeper than`,
	} {
		_, err := Parse([]byte(spec))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}

func TestScannerIsThereForWholeChainsAlone(t *testing.T) {
	split := `{"type":"Split","pattern":{"Regex":` + quoted(patternLlama3) + `},"behavior":"Isolated","invert":false}`
	level := `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}`
	for spec, want := range map[string]bool{
		`{"type":"Sequence","pretokenizers":[` + split + `,` + level + `]}`:                   true,
		`{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}`:                   true,
		`{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}`:                    false,
		`{"type":"Sequence","pretokenizers":[` + split + `,{"type":"Whitespace"}]}`:           false,
		strings.Replace(split, "Isolated", "Contiguous", 1):                                   false,
		`{"type":"Sequence","pretokenizers":[` + level + `,` + split + `,` + level + `]}`:     false,
		strings.Replace(strings.Replace(split, "Isolated", "Removed", 1), "false", "true", 1): true,
	} {
		s, err := Parse([]byte(spec))
		if err != nil {
			t.Fatal(err)
		}
		if _, got := s.Scanner(); got != want {
			t.Errorf("%s: scanner %v, want %v", spec, got, want)
		}
	}
}

func quoted(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}
