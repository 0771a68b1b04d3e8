package tokenizer

import (
	"encoding/json"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/alphabet"
	"github.com/weir-data/weir/internal/tokenizer/bpe"
	"github.com/weir-data/weir/internal/tokenizer/document"
	"github.com/weir-data/weir/internal/tokenizer/unigram"
	"github.com/weir-data/weir/internal/tokenizer/wordpiece"
)

// parseModel reads "model"; one that says no type and has merges is BPE.
func (t *Tokenizer) parseModel(spec document.Value) error {
	var name string
	if v := spec.Member("type"); !v.Null() {
		if err := json.Unmarshal(v, &name); err != nil {
			return format.Error(format.ErrData, "model: %w", err)
		}
	} else if spec.Member("merges").Kind() == '[' {
		name = "BPE"
	}
	switch name {
	case "BPE":
		m, err := bpe.Parse(spec, t.splitter.ByteLevel())
		if err != nil {
			return err
		}
		t.bpe, t.model = m, m
		if scan, ok := t.splitter.Scanner(); ok {
			t.scanner = scan
		}
		return nil
	case "Unigram":
		m, err := unigram.Parse(spec)
		t.model = m
		return err
	case "WordPiece":
		m, err := wordpiece.Parse(spec)
		t.model = m
		return err
	}
	return format.Error(format.ErrUsage, "model of type %q is not one that weir knows", name)
}

// newPieces makes an encoder of a model without merges.
func (t *Tokenizer) newPieces() pieces {
	var made pieces
	switch m := t.model.(type) {
	case *unigram.Model:
		made = m.NewEncoder()
	case *wordpiece.Model:
		made = m.NewEncoder()
	default:
		panic("a model without an encoder")
	}
	if t.splitter.ByteLevel() {
		return &spelled{pieces: made, table: t.table}
	}
	return made
}

// spelled gives a model that knows nothing of bytes the characters that stand
// for them. It holds the longest piece.
type spelled struct {
	pieces
	table *alphabet.Table
	text  []byte
}

func (s *spelled) Encode(piece []byte, ids []uint32) []uint32 {
	s.text = s.table.AppendText(s.text[:0], piece)
	return s.pieces.Encode(s.text, ids)
}
