package charset

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed tables.txt
var text string

// tables are the sets of tables.txt by name. A line that does not read is a bug of this package, and its test finds it.
var tables = sync.OnceValue(func() map[string]Set {
	sets := map[string]Set{}
	for line := range strings.Lines(text) {
		name, ranges, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || name == "#" {
			continue
		}
		var set Set
		for field := range strings.FieldsSeq(ranges) {
			lo, hi, wide := strings.Cut(field, "-")
			if !wide {
				hi = lo
			}
			set = append(set, Range{code(lo), code(hi)})
		}
		sets[name] = set
	}
	return sets
})

func code(hex string) rune {
	n, err := strconv.ParseUint(hex, 16, 21)
	if err != nil {
		panic("charset: bug: tables.txt: " + err.Error())
	}
	return rune(n)
}

// Category is the set of a general category by its short name, of one letter or two, as Oniguruma has it.
func Category(name string) (Set, bool) {
	if set, known := tables()["onig."+name]; known && len(name) == 2 {
		return set, true
	}
	members, known := categories[name]
	if !known {
		return nil, false
	}
	var sets []Set
	for member := range strings.FieldsSeq(members) {
		sets = append(sets, tables()["onig."+member])
	}
	return Union(sets...), true
}

var categories = map[string]string{
	"L": "Lu Ll Lt Lm Lo", "M": "Mn Mc Me", "N": "Nd Nl No", "P": "Pc Pd Ps Pe Pi Pf Po", "S": "Sm Sc Sk So", "Z": "Zs Zl Zp",
}

var longNames = map[string]string{
	"letter": "L", "mark": "M", "number": "N", "punctuation": "P", "punct": "P", "symbol": "S", "separator": "Z",
	"uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt", "modifierletter": "Lm", "otherletter": "Lo",
	"decimalnumber": "Nd", "digit": "Nd", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me",
	"connectorpunctuation": "Pc", "dashpunctuation": "Pd", "spaceseparator": "Zs", "control": "Cc", "cntrl": "Cc",
}

// Property is what \p{name} matches in Oniguruma: a general category, a script, or one of its own classes. Case, spaces,
// hyphens and underscores in names do not count.
func Property(name string) (Set, bool) {
	plain := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
	if plain == "" || plain[0] == '[' {
		return nil, false
	}
	if short, known := longNames[plain]; known {
		return Category(short)
	}
	if set, known := Category(strings.ToUpper(plain[:1]) + plain[1:]); known {
		return set, true
	}
	switch plain {
	case "space", "whitespace":
		return Space(), true
	case "any":
		return Of(Range{0, 0x10FFFF}), true
	case "alphabetic":
		return tables()["onig.alpha"], true
	case "alnum":
		return Union(tables()["onig.alpha"], tables()["onig.Nd"]), true
	case "alpha", "upper", "lower":
		return tables()["onig."+plain], true
	case "xdigit":
		return hexDigits(), true
	case "ascii":
		return Of(Range{0, 0x7F}), true
	}
	set, known := tables()["onig."+strings.ToUpper(plain[:1])+plain[1:]]
	return set, known
}

// Posix is what [[:name:]] matches in Oniguruma, which is not always what \p{name} does.
func Posix(name string) (Set, bool) {
	switch name {
	case "word", "punct":
		return tables()["onig.["+name+"]"], true
	case "alpha", "upper", "lower", "alnum", "space", "digit", "xdigit", "cntrl", "ascii":
		return Property(name)
	}
	return nil, false
}

func hexDigits() Set { return Of(Range{'0', '9'}, Range{'A', 'F'}, Range{'a', 'f'}) }

// Space is white space, for Oniguruma and for the library's own code alike.
func Space() Set {
	return Of(Range{9, 13}, Range{' ', ' '}, Range{0x85, 0x85}, Range{0xA0, 0xA0}, Range{0x1680, 0x1680}, Range{0x2000, 0x200A},
		Range{0x2028, 0x2029}, Range{0x202F, 0x202F}, Range{0x205F, 0x205F}, Range{0x3000, 0x3000})
}

// Word is \w between the brackets of a class.
func Word() Set { return tables()["onig.[word]"] }

// BareWord is \w outside of brackets, where Oniguruma looks the first 256 characters up in a table of Latin-1, which
// has superscript digits and fractions for word characters.
func BareWord() Set {
	return Union(Word(), Of(Range{0xB2, 0xB3}, Range{0xB9, 0xB9}, Range{0xBC, 0xBE}))
}

// Number is what the Digits pre-tokenizer takes for a digit.
func Number() Set { return tables()["rust.number"] }

// Punctuation is what the Punctuation and BERT pre-tokenizers take for it.
func Punctuation() Set { return tables()["rust.punctuation"] }

// WordLetters is what the Whitespace pre-tokenizer takes for a part of a word.
func WordLetters() Set { return tables()["rust.word"] }

// Scripts are the sets of characters between which the UnicodeScripts pre-tokenizer splits. What is in none of them goes
// with the character before it.
func Scripts() []Set {
	var sets []Set
	for {
		set, known := tables()["rust.script."+strconv.Itoa(len(sets))]
		if !known {
			return sets
		}
		sets = append(sets, set)
	}
}
