package split

import (
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// gpt2 scans patternGPT2.
func (s scan) gpt2(text []byte, at int) int {
	if letter, is := plainWord(text, at); is {
		return s.letters(text, letter+1, charset.Letter)
	}
	p := at
	switch text[at] {
	case ' ':
		if p++; p == len(text) {
			return p
		}
	case '\'':
		if end := contraction(text, at); end > at {
			return end
		}
	}
	class, size := s.At(text, p)
	switch {
	case class&charset.Letter != 0:
		return s.while(text, p+size, charset.Letter)
	case class&charset.Blank != 0:
		return s.blanks(text, at, 0)
	case class&charset.Numeric != 0:
		return s.while(text, p+size, charset.Numeric)
	}
	return s.until(text, p+size, charset.Letter|charset.Numeric|charset.Blank)
}

// llama3 scans patternLlama3 with up to most digits in a piece.
func (s scan) llama3(text []byte, at, most int) int {
	if letter, is := plainWord(text, at); is {
		return s.letters(text, letter+1, charset.Letter)
	}
	c := text[at]
	if c == '\'' {
		if end := anyContraction(text, at); end > at {
			return end
		}
	}
	class, size := s.At(text, at)
	p := at + size
	if class&charset.Letter != 0 {
		return s.while(text, p, charset.Letter)
	}
	if class&charset.Numeric != 0 {
		return s.digits(text, p, most)
	}
	next, width := s.At(text, p)
	if next&charset.Letter != 0 && class&charset.Newline == 0 {
		return s.while(text, p+width, charset.Letter)
	}
	return s.signs(text, at, class, p, next, '\n')
}

const word = charset.Letter | charset.Numeric | charset.Blank

// signs is ` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+` at text[at], which has class and ends at text[p], where
// the next character has class next. Behind the signs also goes with the line ends.
func (s scan) signs(text []byte, at int, class uint8, p int, next, also uint8) int {
	if class&charset.Blank != 0 && (text[at] != ' ' || next&word != 0 || p == len(text)) {
		return s.lines(text, at, 0)
	}
	return newlines(text, s.until(text, p, word), also)
}

// gpt4o scans patternGPT4o with up to most digits in a piece, and contractions that go with the word before them where
// contractions is set.
func (s scan) gpt4o(text []byte, at, most int, contractions bool) int {
	if letter, is := plainWord(text, at); is {
		return contracted(text, s.cased(text, letter), contractions)
	}
	class, size := s.At(text, at)
	p := at + size
	if class&charset.Numeric != 0 {
		return s.digits(text, p, most)
	}
	end := at
	switch {
	case class&charset.Letter != 0:
		end = s.cased(text, at)
	case class&charset.Newline == 0:
		if end = s.prefixed(text, p, class&charset.Mark != 0); end == p && class&charset.Mark == 0 {
			end = at
		}
	}
	if end > at {
		return contracted(text, end, contractions)
	}
	next, _ := s.At(text, p)
	return s.signs(text, at, class, p, next, '/')
}

// contracted is where the word that ends at text[end] ends with its contraction, if those go with words.
func contracted(text []byte, end int, contractions bool) int {
	if contractions && end < len(text) && text[end] == '\'' {
		return anyContraction(text, end)
	}
	return end
}

// prefixed is the word at text[at] behind a sign, or at where there is none. A mark may be sign or word: where capitals
// alone follow it, it is a word of its own.
func (s scan) prefixed(text []byte, at int, mark bool) int {
	class, _ := s.At(text, at)
	if class&(charset.Letter|charset.Mark) == 0 {
		return at
	}
	end := s.cased(text, at)
	if mark && s.while(text, at, charset.Upper) == end {
		return at
	}
	return end
}

// cased is [U]*[l]+|[U]+[l]* at text[at], where U are capitals, l small letters, and letters without case and marks are
// both: it ends before the first capital behind a small letter. It is at where there is no letter.
func (s scan) cased(text []byte, at int) int {
	const both = charset.Uncased | charset.Mark
	end, shared := at, -1
	for end < len(text) {
		class, size := s.ASCII[text[end]], 1
		if text[end] >= utf8.RuneSelf {
			class, size = s.Wide(text, end)
		}
		if class&charset.Lower != 0 {
			return s.small(text, end+size, charset.Lower|both)
		}
		if class&(charset.Upper|both) == 0 {
			break
		}
		end += size
		if class&both != 0 {
			shared = end
		}
	}
	if shared >= 0 {
		return shared
	}
	return end
}

// Bits of the classes that the DeepSeek scanner goes by, beside Blank and Newline.
const (
	deepWord   = 1 << 0 // letters and marks
	deepSign   = 1 << 1 // punctuation and symbols
	deepNumber = 1 << 2 // numbers, where they are split off before
	deepStop   = 1 << 3 // what is split off before and ends the text here
)

// fusedDeepSeek scans the three splits that DeepSeek's files have in a row: numbers and Han end the text for the pattern,
// which splits what is within a run of Han as well.
func (s scan) fusedDeepSeek(han scan, text []byte, at int) int {
	if text[at] < utf8.RuneSelf {
		return s.deepseek(text, at)
	}
	if class, _ := s.Wide(text, at); class&deepStop != 0 {
		return han.deepseek(text, at)
	}
	return s.deepseek(text, at)
}

// deepseek scans patternDeepSeek.
func (s scan) deepseek(text []byte, at int) int {
	if letter, is := plainWord(text, at); is {
		return s.letters(text, letter+1, deepWord)
	}
	class, size := s.At(text, at)
	p := at + size
	switch {
	case class&deepNumber != 0:
		for range 2 {
			if class, size = s.At(text, p); class&deepNumber == 0 {
				break
			}
			p += size
		}
		return p
	case class&deepWord != 0:
		return s.while(text, p, deepWord)
	}
	next, width := s.At(text, p)
	switch {
	case class&deepSign != 0 && text[at] < utf8.RuneSelf && p < len(text) && asciiLetter(text[p]):
		for p++; p < len(text) && asciiLetter(text[p]); p++ {
		}
		return p
	case class&(deepSign|charset.Newline) == 0 && next&deepWord != 0:
		return s.while(text, p+width, deepWord)
	case class&deepSign != 0, text[at] == ' ' && next&deepSign != 0:
		return s.while(text, s.while(text, p, deepSign), charset.Newline)
	case class&charset.Blank != 0:
		return s.lines(text, at, deepStop|deepNumber)
	}
	return s.gap(text, p)
}

// gap goes on from at to where patternDeepSeek matches again.
func (s scan) gap(text []byte, at int) int {
	for at < len(text) {
		class, size := s.At(text, at)
		next, _ := s.At(text, at+size)
		if class != 0 || next&deepWord != 0 {
			return at
		}
		at += size
	}
	return at
}

func asciiLetter(b byte) bool { return (b|0x20)-'a' < 26 }
