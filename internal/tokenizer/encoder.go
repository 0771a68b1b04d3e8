package tokenizer

import (
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/mend"
	"github.com/weir-data/weir/internal/tokenizer/bpe"
	"github.com/weir-data/weir/internal/tokenizer/normal"
	"github.com/weir-data/weir/internal/tokenizer/split"
)

// EncodeOptions say what is encoded beside the text.
type EncodeOptions struct {
	// AddSpecial puts the tokens of the post-processor around the text.
	AddSpecial bool
}

// pieces encodes the pieces of a text.
type pieces interface {
	Encode(piece []byte, ids []uint32) []uint32
}

// Encoder turns texts into ids. It is not safe for concurrent use: every
// goroutine has its own. Beside its cache it holds the longest text it has
// normalized, and what the model needs for one stretch of text.
type Encoder struct {
	t       *Tokenizer
	merges  *bpe.Encoder // nil: another model
	pieces  pieces
	scratch split.Scratch
	valid   []byte // the text, repaired
	normal  []byte // a part of it, normalized

	ids   []uint32 // of the call under way
	lead  int      // bytes of the part under way that count as the beginning of the text
	piece func(p []byte)
	spans *spans // of EncodeSpans; nil: not asked for
}

// NewEncoder makes an encoder that remembers words in at most cacheBytes bytes.
func (t *Tokenizer) NewEncoder(cacheBytes int) *Encoder {
	e := &Encoder{t: t}
	e.piece = func(p []byte) { e.ids = e.pieces.Encode(p, e.ids) }
	if t.bpe != nil {
		e.merges = t.bpe.NewEncoder(cacheBytes)
		e.pieces = e.merges
	} else {
		e.pieces = t.newPieces()
	}
	return e
}

// Encode appends the ids of a text, those that the library gives for it. Bytes
// that are not UTF-8 count as U+FFFD, as Python's errors="replace" has it.
func (e *Encoder) Encode(ids []uint32, text []byte, o EncodeOptions) []uint32 {
	e.spans = nil
	return e.encode(ids, text, o)
}

func (e *Encoder) encode(ids []uint32, text []byte, o EncodeOptions) []uint32 {
	t := e.t
	text = text[:len(text):len(text)] // pieces are read past their ends, the text is not
	if !utf8.Valid(text) {
		e.valid = mend.UTF8(e.valid[:0], text)
		text = e.valid[:len(e.valid):len(e.valid)]
	}
	added := 0
	if o.AddSpecial {
		ids = append(ids, t.frame.before...)
		added = len(t.frame.before) + len(t.frame.behind)
	}
	begin := len(ids)
	e.ids = ids
	if t.added.raw.empty() {
		e.part(text, 0)
	} else {
		t.added.each(t.added.raw, text, e.part, e.token)
	}
	ids, e.ids = e.ids, nil
	if t.truncation != nil {
		total := len(ids) - begin
		from, to := t.truncation.cut(total, added)
		ids = append(ids[:begin], ids[begin+from:begin+to]...)
		e.spans.cut(total, from, to)
	}
	if o.AddSpecial {
		ids = append(ids, t.frame.behind...)
	}
	return ids
}

// token appends an added token that begins at a place of the text.
func (e *Encoder) token(id uint32, at int) {
	e.ids = append(e.ids, id)
	e.spans.add(at)
}

// part appends the ids of text between added tokens, which begins at a place of
// the whole: it is normalized and looked through once more.
func (e *Encoder) part(text []byte, at int) {
	t := e.t
	e.lead = 0
	if at == 0 {
		e.lead = 1
	}
	e.spans.begin(at, nil, nil)
	if t.normalizer != nil && !t.normalizer.Unchanged(text) {
		e.normal = t.normalizer.Normalize(e.normal[:0], text)
		e.spans.begin(at, text, e.normal)
		if at == 0 && t.splitter.AsksLead() {
			e.lead = normal.Lead(t.normalizer, text)
		}
		text = e.normal[:len(e.normal):len(e.normal)]
	}
	if t.added.normalized.empty() {
		e.split(text, 0)
	} else {
		t.added.each(t.added.normalized, text, e.split, e.token)
	}
	e.spans.begin(0, nil, nil)
}

// split appends the ids of text without added tokens, which begins at a place
// of its normalized part.
func (e *Encoder) split(text []byte, at int) {
	if e.spans != nil {
		e.splitSpans(text, at)
		return
	}
	if scan := e.t.scanner; scan != nil {
		ids, merges := e.ids, e.merges
		for begin := 0; begin < len(text); {
			end := scan(text, begin)
			ids = merges.Encode(text[begin:end], ids)
			begin = end
		}
		e.ids = ids
		return
	}
	e.t.splitter.Split(text, e.lead-at, &e.scratch, e.piece)
}
