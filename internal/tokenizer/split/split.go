// Package split is the pre-tokenizers of tokenizer.json: a text becomes the pieces that the model encodes one by one.
package split

import (
	"slices"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/onig"
)

// Splitter cuts texts into pieces. It is safe for concurrent use and holds no state of a call.
type Splitter interface {
	// Split calls piece for every piece of text, in order. No piece is empty. Pieces are parts of text or of memory that
	// scratch holds, and last until piece returns. Text is valid UTF-8; where it is not, pieces are any, and nothing
	// breaks. Lead is how many bytes of text, at least, count as the beginning of the whole text: none of what follows
	// an added token, and of text that was normalized all that the first character became.
	Split(text []byte, lead int, scratch *Scratch, piece func(p []byte))
	// ByteLevel says that a ByteLevel pre-tokenizer is the last: its pieces are handed out as they are, and the model
	// has to look their bytes up as the characters that stand for them.
	ByteLevel() bool
	// AsksLead says that pieces depend on the lead.
	AsksLead() bool
	// Scanner is the scanner that gives the same pieces as Split, where there is one.
	Scanner() (Scanner, bool)
}

// Scratch is what Split needs beside the text. It grows to what one piece asks for and belongs to one goroutine at a
// time. The zero value is ready.
type Scratch struct {
	chain  *chain
	frames []frame
	piece  func(p []byte)
	regex  onig.Memory
}

// frame is the place of one stage of a chain: what it writes its text to, and where its pieces go.
type frame struct {
	text []byte
	emit func(p []byte, lead int)
}

// stage is one pre-tokenizer. It hands every piece to f.emit, with what remains of the lead there.
type stage interface {
	split(text []byte, lead int, s *Scratch, f *frame)
}

type chain struct {
	stages    []stage
	byteLevel bool
}

func (c *chain) ByteLevel() bool { return c.byteLevel }

func (c *chain) AsksLead() bool {
	return slices.ContainsFunc(c.stages, func(s stage) bool {
		m, is := s.(metaspace)
		return is && m.prepend == prependFirst
	})
}

func (c *chain) Scanner() (Scanner, bool) {
	if len(c.stages) != 1 {
		return nil, false
	}
	only, scans := c.stages[0].(scanStage)
	return only.scan, scans
}

func (c *chain) Split(text []byte, lead int, scratch *Scratch, piece func(p []byte)) {
	if len(text) == 0 {
		return
	}
	if scan, scans := c.Scanner(); scans {
		for at := 0; at < len(text); {
			end := scan(text, at)
			piece(text[at:end])
			at = end
		}
		return
	}
	if len(c.stages) == 0 {
		piece(text)
		return
	}
	if scratch.chain != c {
		scratch.bind(c)
	}
	scratch.piece = piece
	c.stages[0].split(text, lead, scratch, &scratch.frames[0])
	scratch.piece = nil
}

// bind makes the frames for a chain, once: calls then allocate nothing.
func (s *Scratch) bind(c *chain) {
	s.chain, s.frames = c, make([]frame, len(c.stages))
	last := len(c.stages) - 1
	for i := range s.frames {
		s.frames[i].emit = func(p []byte, lead int) {
			if len(p) == 0 {
				return
			}
			if i == last {
				s.piece(p)
				return
			}
			c.stages[i+1].split(p, lead, s, &s.frames[i+1])
		}
	}
}

// scanStage splits by a scanner, which stands for the pattern if that is not empty.
type scanStage struct {
	scan    Scanner
	pattern string
}

func (d scanStage) split(text []byte, lead int, _ *Scratch, f *frame) {
	for at := 0; at < len(text); {
		end := d.scan(text, at)
		f.emit(text[at:end], lead-at)
		at = end
	}
}

// fixedLength cuts after every length characters.
type fixedLength struct{ length int }

func (d fixedLength) split(text []byte, lead int, _ *Scratch, f *frame) {
	from, chars := 0, 0
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRune(text[at:])
		at += size
		if chars++; chars == d.length || at == len(text) {
			f.emit(text[from:at], lead-from)
			from, chars = at, 0
		}
	}
}
