package tokenizer

import (
	"slices"
	"strings"
	"testing"
)

// What the library gives where parts of a tokenizer.json meet: ids as tokenizers 0.23.3 has them.
func TestPartsMeetAsTheyDoInTheLibrary(t *testing.T) {
	added := func(id, content, flags string) string {
		return `{"id":` + id + `,"content":"` + content + `","special":false,"normalized":false` + flags + `}`
	}
	merges := `{"type":"BPE","vocab":{"a":0,"\n":1," ":2},"merges":[]}`
	words := `{"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##","max_input_chars_per_word":4,"vocab":{"?":0,"Ð³":1,"г":2,"Ġ":3,"##Ġ":4,"a":5," ":6}}`
	scores := `{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["Ð³",-1.0],["г",-1.0],["Ġ",-2.0],["a",-1.0]]}`
	bytes := `,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}`
	for _, c := range []struct {
		name, spec, text string
		want             []uint32
	}{
		{"a token that another took for white space", `{"model":` + merges + `,"added_tokens":[` + added("3", `\n\n`, `,"lstrip":true,"rstrip":true`) + `]}`, "a\n\n\n\n\n\na", []uint32{0, 3, 0}},
		{"the same behind another token", `{"model":` + merges + `,"added_tokens":[` + added("3", `\n\n`, `,"lstrip":true`) + `,` + added("4", "<x>", `,"rstrip":true`) + `]}`, "<x>\n\n", []uint32{4}},
		{"a token that is also white space before it", `{"model":` + merges + `,"added_tokens":[` + added("3", `\n\n`, ``) + `,` + added("4", "<x>", `,"rstrip":true`) + `]}`, "<x>\n\n\na", []uint32{4, 3, 1, 0}},
		{"words of bytes", `{"model":` + words + bytes + `}`, "г", []uint32{1}},
		{"words of bytes inside", `{"model":` + words + bytes + `}`, "a ", []uint32{5, 4}},
		{"words of bytes that are too long", `{"model":` + words + bytes + `}`, "ггг", []uint32{0}},
		{"scores of bytes", `{"model":` + scores + bytes + `}`, " aг", []uint32{3, 4, 1}},
	} {
		loaded, err := Load([]byte(c.spec))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := loaded.NewEncoder(0).Encode(nil, []byte(c.text), EncodeOptions{}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: %v, want %v", c.name, c.text, got, c.want)
		}
	}
}

// The pieces that count as the beginning of the text have the mark before them: each is one character of
// "a _a b _b 1 _1 2 _2 / _/", by number, or unknown.
func TestTheBeginningOfNormalizedTextIsThatOfTheLibrary(t *testing.T) {
	base := `{"model":{"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##","max_input_chars_per_word":9,` +
		`"vocab":{"?":0,"a":1,"_":2,"_a":3,"1":4,"_1":5,"̈":6,"_̈":7,"b":8,"_b":9,"x":10,"_x":11,"2":12,"_2":13,"⁄":14,"_⁄":15}},` +
		`"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"FixedLength","length":1},` +
		`{"type":"Metaspace","replacement":"_","prepend_scheme":"first","split":true}]},"normalizer":`
	strip := `{"type":"Strip","strip_left":true,"strip_right":true}`
	for _, c := range []struct {
		normalizer, text string
		want             []uint32
	}{
		{`{"type":"Nmt"}`, "ab", []uint32{3, 8}},
		{`{"type":"Nmt"}`, "\x01ab", []uint32{1, 8}},
		{strip, "  ab", []uint32{1, 8}},
		{strip, "bab ", []uint32{9, 1, 8}},
		{`{"type":"StripAccents"}`, "\u0301ab", []uint32{1, 8}},
		{`{"type":"NFKD"}`, "½a", []uint32{5, 15, 13, 1}},
		{`{"type":"NFKC"}`, "¨a", []uint32{2, 7, 1}},
		{`{"type":"Replace","pattern":{"String":"ab"},"content":"x"}`, "abab", []uint32{10, 10}},
		{`{"type":"Replace","pattern":{"String":"b"},"content":"ax"}`, "bba", []uint32{3, 11, 1, 10, 1}},
		{`{"type":"Replace","pattern":{"Regex":"b+"},"content":""}`, "bba", []uint32{1}},
		{`{"type":"Prepend","prepend":"ab"}`, "xa", []uint32{3, 9, 11, 1}},
		{`{"type":"Sequence","normalizers":[{"type":"NFKD"},{"type":"Replace","pattern":{"String":"1"},"content":""}]}`, "½a", []uint32{15, 13, 1}},
		{`{"type":"Sequence","normalizers":[{"type":"Nmt"},{"type":"Prepend","prepend":"ab"}]}`, "\x01a", []uint32{1, 8, 1}},
		{`{"type":"NFKD"}`, "½" + strings.Repeat("a", 300), append([]uint32{5, 15, 13}, slices.Repeat([]uint32{1}, 300)...)},
	} {
		loaded, err := Load([]byte(base + c.normalizer + `}`))
		if err != nil {
			t.Fatalf("%s: %v", c.normalizer, err)
		}
		if got := loaded.NewEncoder(0).Encode(nil, []byte(c.text), EncodeOptions{}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: %v, want %v", c.normalizer, c.text, got, c.want)
		}
	}
}
