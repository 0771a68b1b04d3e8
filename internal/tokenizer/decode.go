package tokenizer

import (
	"bytes"

	"github.com/weir-data/weir/internal/format/mend"
)

// ID is the id of a token, added or of the vocabulary, as tokenizer.json
// writes it.
func (t *Tokenizer) ID(token string) (uint32, bool) {
	if id, ok := t.added.byText[token]; ok {
		return id, true
	}
	return t.model.ID(token)
}

// Size is how many tokens there are, with the added ones.
func (t *Tokenizer) Size() int {
	size := t.model.Size()
	for _, token := range t.added.tokens {
		if _, ok := t.model.ID(token.Content); !ok {
			size++
		}
	}
	return size
}

// Bytes is about the memory that the tokenizer holds.
func (t *Tokenizer) Bytes() int64 {
	n := t.model.Bytes() + t.added.raw.bytes() + t.added.normalized.bytes()
	for _, token := range t.added.tokens {
		n += int64(len(token.Content)+len(token.text)) + 256
	}
	return n
}

// Decode is the text that the library decodes ids to. Ids that no token has are
// left out, with skipSpecial special tokens too.
func (t *Tokenizer) Decode(ids []uint32, skipSpecial bool) []byte {
	if t.direct {
		return t.decodeBytes(ids, skipSpecial)
	}
	var tokens [][]byte
	var text []byte
	for _, id := range ids {
		begin := len(text)
		var ok bool
		if text, ok = t.appendToken(text, id, skipSpecial); ok {
			tokens = append(tokens, text[begin:len(text):len(text)])
		}
	}
	return bytes.Join(t.decoder(tokens), nil)
}

// appendToken appends a token as decoders see it; false: it is left out.
func (t *Tokenizer) appendToken(dst []byte, id uint32, skipSpecial bool) ([]byte, bool) {
	begin := len(dst)
	if at, ok := t.added.byID[id]; ok {
		dst = append(dst, t.added.tokens[at].text...)
	} else if dst, ok = t.model.AppendToken(dst, id); !ok {
		return dst, false
	}
	if skipSpecial && t.added.special[string(dst[begin:])] {
		return dst[:begin], false
	}
	return dst, true
}

// decodeBytes decodes byte-level tokens, which the model keeps as bytes.
func (t *Tokenizer) decodeBytes(ids []uint32, skipSpecial bool) []byte {
	var raw, token []byte
	for _, id := range ids {
		if _, ok := t.added.byID[id]; !ok {
			raw = append(raw, t.bpe.Kept(id)...)
			continue
		}
		var ok bool
		if token, ok = t.appendToken(token[:0], id, skipSpecial); !ok {
			continue
		}
		if raw, ok = t.table.AppendBytes(raw, token); !ok {
			raw = append(raw, token...)
		}
	}
	return mend.UTF8(nil, raw)
}

// width is how many bytes of a piece a token takes.
func (t *Tokenizer) width(id uint32) int {
	if t.bpe != nil {
		return t.bpe.Width(id)
	}
	text, _ := t.model.AppendToken(nil, id)
	return len(text)
}
