package split

import (
	"sync"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// Bits of the classes by which the pre-tokenizers that are no regexes go.
const (
	isSpace = 1 << iota
	isPunctuation
	isNumber
	isWord
)

var plainKinds = sync.OnceValue(func() *charset.Classes {
	return charset.NewClasses([]charset.Set{charset.Space(), charset.Punctuation(), charset.Number(), charset.WordLetters()},
		[]uint8{isSpace, isPunctuation, isNumber, isWord})
})

// words is the Whitespace pre-tokenizer: runs of word letters, and runs of what is neither that nor a space.
type words struct{ classes *charset.Classes }

func (d words) split(text []byte, lead int, _ *Scratch, f *frame) {
	from, kind := 0, uint8(isSpace)
	for at := 0; at < len(text); {
		class, size := d.classes.At(text, at)
		if class &= isSpace | isWord; class != kind {
			if kind != isSpace {
				f.emit(text[from:at], lead-from)
			}
			from, kind = at, class
		}
		at += size
	}
	if kind != isSpace {
		f.emit(text[from:], lead-from)
	}
}

// scripts is the UnicodeScripts pre-tokenizer. Class 0 is no script: such characters go with those before them, and are
// dropped where there are none.
type scripts struct{ classes *charset.Classes }

var scriptKinds = sync.OnceValue(func() *charset.Classes {
	sets := charset.Scripts()
	numbers := make([]uint8, len(sets))
	for i := range numbers {
		numbers[i] = uint8(i + 1)
	}
	return charset.NewClasses(sets, numbers)
})

func (d scripts) split(text []byte, lead int, _ *Scratch, f *frame) {
	from, script := 0, uint8(0)
	for at := 0; at < len(text); {
		class, size := d.classes.At(text, at)
		if class != 0 && class != script {
			if script != 0 {
				f.emit(text[from:at], lead-from)
			}
			from, script = at, class
		}
		at += size
	}
	if script != 0 {
		f.emit(text[from:], lead-from)
	}
}

type scheme uint8

const (
	prependAlways scheme = iota
	prependFirst
	prependNever
)

// metaspace writes its replacement for every space, puts one before the text, and splits before each.
type metaspace struct {
	replacement []byte
	prepend     scheme
	cut         bool
}

func (d metaspace) split(text []byte, lead int, _ *Scratch, f *frame) {
	prepend := (d.prepend == prependAlways || d.prepend == prependFirst && lead > 0) && d.mark(text) == 0
	for from := 0; from < len(text); {
		end := from + d.mark(text[from:])
		for end < len(text) && !(d.cut && d.mark(text[end:]) > 0) {
			end++
		}
		piece := text[from:end]
		if from == 0 && prepend || !d.cut || piece[0] == ' ' {
			piece = d.write(piece, from == 0 && prepend, f)
		}
		f.emit(piece, lead-from)
		from = end
	}
}

// mark is the size of the space or replacement that text begins with, or 0.
func (d metaspace) mark(text []byte) int {
	switch {
	case text[0] == ' ':
		return 1
	case hasPrefix(text, d.replacement):
		return len(d.replacement)
	}
	return 0
}

// write is the piece with the replacement for its spaces, and before it where prepend is set, in the memory of f.
func (d metaspace) write(piece []byte, prepend bool, f *frame) []byte {
	out := f.text[:0]
	if prepend {
		out = append(out, d.replacement...)
	}
	for _, b := range piece {
		if b == ' ' {
			out = append(out, d.replacement...)
		} else {
			out = append(out, b)
		}
	}
	f.text = out
	return out
}

func hasPrefix(text, prefix []byte) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == string(prefix)
}

// prefixSpace puts a space before a text that begins with none.
type prefixSpace struct{}

func (prefixSpace) split(text []byte, lead int, _ *Scratch, f *frame) {
	if text[0] == ' ' {
		f.emit(text, lead)
		return
	}
	f.text = append(append(f.text[:0], ' '), text...)
	f.emit(f.text, lead)
}

// byteChars writes for every byte the character that stands for it in a byte-level vocabulary.
type byteChars struct{}

func (byteChars) split(text []byte, lead int, _ *Scratch, f *frame) {
	out := f.text[:0]
	for _, b := range text {
		out = utf8.AppendRune(out, ByteChar(b))
	}
	f.text = out
	f.emit(out, lead)
}

// ByteChar is the character that stands for a byte in byte-level vocabularies: itself where it is printable in Latin-1,
// and one counted up from U+0100 where not.
func ByteChar(b byte) rune {
	switch {
	case b <= ' ':
		return 0x100 + rune(b)
	case b < 0x7F, b > 0xA0 && b != 0xAD:
		return rune(b)
	case b <= 0xA0:
		return 0x121 + rune(b-0x7F)
	}
	return 0x143
}
