// Package tokenizer turns text into ids as a tokenizer.json says, with the ids
// that the tokenizers library gives. What it cannot do identically it refuses
// by name when the file is loaded.
package tokenizer

import (
	"encoding/json"
	"fmt"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/alphabet"
	"github.com/weir-data/weir/internal/tokenizer/bpe"
	"github.com/weir-data/weir/internal/tokenizer/document"
	"github.com/weir-data/weir/internal/tokenizer/normal"
	"github.com/weir-data/weir/internal/tokenizer/split"
)

// Tokenizer is a loaded tokenizer.json. It does not change and is safe for
// concurrent use.
type Tokenizer struct {
	added      *added
	normalizer normal.Normalizer // nil: none
	splitter   split.Splitter
	scanner    split.Scanner // nil: the splitter splits
	model      model
	bpe        *bpe.Model // the model, if it is one of merges
	frame      frame
	truncation *truncation
	decoder    decoder
	table      *alphabet.Table
	direct     bool // the decoder gives the bytes that the model keeps
}

// model is what all models know.
type model interface {
	// ID is the id of a token as tokenizer.json writes it.
	ID(token string) (uint32, bool)
	// Size is how many tokens there are.
	Size() int
	// AppendToken appends a token as tokenizer.json writes it; false: no such id.
	AppendToken(dst []byte, id uint32) ([]byte, bool)
	// Bytes is the memory that the model holds.
	Bytes() int64
}

// Cost is the memory, in bytes, that loading a file of this size takes at most,
// beside the file itself; Bytes tells what of it stays. Tables are at most half
// full and powers of two: four times 16 bytes for a merge of two short tokens,
// which is not less than ten bytes of file.
func Cost(size int) int64 { return int64(size)*7 + 1<<20 }

// Load reads a tokenizer.json, of which it keeps nothing. What weir cannot do
// as the library does it is format.ErrUsage; a damaged file is format.ErrData.
func Load(data []byte) (*Tokenizer, error) {
	t, err := load(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

func load(data []byte) (*Tokenizer, error) {
	doc, err := document.Parse(data)
	if err != nil {
		return nil, err
	}
	var version string
	if v := doc.Member("version"); !v.Null() && (json.Unmarshal(v, &version) != nil || version != "1.0") {
		return nil, format.Error(format.ErrUsage, "version %s is not 1.0", v)
	}
	t := &Tokenizer{table: alphabet.New()}
	if t.normalizer, err = normal.Parse(orNull(doc.Member("normalizer"))); err != nil {
		return nil, err
	}
	if t.splitter, err = split.Parse(orNull(doc.Member("pre_tokenizer"))); err != nil {
		return nil, format.Error(format.ErrUsage, "%w", err)
	}
	if err := t.parseModel(doc.Member("model")); err != nil {
		return nil, err
	}
	if t.added, err = parseAdded(doc.Member("added_tokens"), t.model, t.normalizer); err != nil {
		return nil, err
	}
	if t.frame, err = parseFrame(doc.Member("post_processor")); err != nil {
		return nil, err
	}
	if t.truncation, err = parseTruncation(doc.Member("truncation"), len(t.frame.before)+len(t.frame.behind)); err != nil {
		return nil, err
	}
	if err := parsePadding(doc.Member("padding")); err != nil {
		return nil, err
	}
	if t.decoder, err = parseDecoder(doc.Member("decoder")); err != nil {
		return nil, err
	}
	t.direct = t.bpe != nil && t.splitter.ByteLevel() && isByteLevel(doc.Member("decoder"))
	return t, nil
}

func orNull(v document.Value) json.RawMessage {
	if v.Kind() == 0 {
		return json.RawMessage("null")
	}
	return json.RawMessage(v)
}
