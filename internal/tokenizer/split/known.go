package split

import (
	"sync"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// Patterns that have a scanner, as they stand in tokenizer files.
const (
	patternGPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	patternLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// patternGPT4 is patternLlama3 written with possessive repeats.
	patternGPT4 = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`

	patternGPT4o = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternTekken = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|` +
		`\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	patternDeepSeekNumbers = `\p{N}{1,3}`
	patternDeepSeekHan     = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
	patternDeepSeek        = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|" +
		" ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)

// ScannerOf is the scanner whose pieces are those of splitting by the pattern with behavior Isolated, if there is one.
func ScannerOf(pattern string) (Scanner, bool) {
	s := scan{charset.Kinds()}
	switch pattern {
	case patternGPT2:
		return s.gpt2, true
	case patternLlama3, patternGPT4:
		return func(text []byte, at int) int { return s.llama3(text, at, 3) }, true
	case patternQwen:
		return func(text []byte, at int) int { return s.llama3(text, at, 1) }, true
	case patternGPT4o:
		return func(text []byte, at int) int { return s.gpt4o(text, at, 3, true) }, true
	case patternTekken:
		return func(text []byte, at int) int { return s.gpt4o(text, at, 1, false) }, true
	case patternDeepSeek:
		return scan{deepPlain()}.deepseek, true
	}
	return nil, false
}

// covers says whether every byte of every text is in a match of a pattern that ScannerOf knows.
func covers(pattern string) bool { return pattern != patternDeepSeek }

// deepPlain has the classes for patternDeepSeek alone.
var deepPlain = sync.OnceValue(func() *charset.Classes { return deepClasses(nil, nil) })

// deepSeekScanner is for patternDeepSeek behind the splits by patternDeepSeekNumbers and patternDeepSeekHan.
var deepSeekScanner = sync.OnceValue(func() Scanner {
	numbers, _ := charset.Property("N")
	han := charset.Of(charset.Range{Lo: 0x4E00, Hi: 0x9FA5}, charset.Range{Lo: 0x3040, Hi: 0x30FF})
	outside, within := scan{deepClasses(numbers, han)}, scan{deepClasses(nil, han.Negate())}
	return func(text []byte, at int) int { return outside.fusedDeepSeek(within, text, at) }
})

// deepClasses are the classes for patternDeepSeek where numbers and stops were split off before.
func deepClasses(numbers, stops charset.Set) *charset.Classes {
	apart := charset.Union(numbers, stops)
	rest := func(set charset.Set) charset.Set { return charset.Union(set.Negate(), apart).Negate() }
	words, _ := charset.Property("L")
	marks, _ := charset.Property("M")
	punctuation, _ := charset.Property("P")
	symbols, _ := charset.Property("S")
	newline := charset.Of(charset.Range{Lo: '\n', Hi: '\n'}, charset.Range{Lo: '\r', Hi: '\r'})
	return charset.NewClasses(
		[]charset.Set{rest(charset.Union(words, marks)), rest(charset.Union(punctuation, symbols)), rest(charset.Space()),
			rest(newline), numbers, stops},
		[]uint8{deepWord, deepSign, charset.Blank, charset.Newline, deepNumber, deepStop})
}
