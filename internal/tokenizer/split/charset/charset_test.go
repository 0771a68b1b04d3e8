package charset

import (
	"testing"
	"unicode/utf8"
)

func TestEveryCharacterHasOneCategory(t *testing.T) {
	var all []Set
	total := 0
	for name, set := range tables() {
		if len(name) == len("onig.Lu") {
			all = append(all, set)
			for _, r := range set {
				total += int(r.Hi-r.Lo) + 1
			}
		}
	}
	want := int(utf8.MaxRune) + 1 - 0x800
	if total != want || len(all) != 29 {
		t.Fatalf("%d categories hold %d characters, want 29 and %d", len(all), total, want)
	}
	if got := Union(all...).Negate(); len(got) != 1 || got[0] != (Range{0xD800, 0xDFFF}) {
		t.Fatalf("characters without a category: %x", got)
	}
}

func TestClassesAgreeWithSetsForEveryCharacter(t *testing.T) {
	kinds := Kinds()
	letters, _ := Property("Letter")
	numbers, _ := Property("n")
	space := Space()
	for c := rune(0); c <= utf8.MaxRune; c++ {
		k := kinds.Of(c)
		if (k&Letter != 0) != letters.Has(c) || (k&Numeric != 0) != numbers.Has(c) || (k&Blank != 0) != space.Has(c) {
			t.Fatalf("U+%04X has class %08b", c, k)
		}
		if utf8.ValidRune(c) {
			text := utf8.AppendRune(nil, c)
			if class, size := kinds.At(text, 0); class != k || size != len(text) {
				t.Fatalf("U+%04X is class %08b of %d bytes in text, want %08b of %d", c, class, size, k, len(text))
			}
		}
	}
}

func TestNegateTwiceIsTheSameSet(t *testing.T) {
	for name, set := range tables() {
		again := set.Negate().Negate()
		for _, r := range set {
			if !again.Has(r.Lo) || !again.Has(r.Hi) || set.Negate().Has(r.Lo) {
				t.Fatalf("%s: U+%04X to U+%04X", name, r.Lo, r.Hi)
			}
		}
	}
}

func TestUnknownPropertyIsUnknown(t *testing.T) {
	for _, name := range []string{"", "IsL", "Script=Han", "Klingon", "[word]"} {
		if _, known := Property(name); known {
			t.Errorf("%q is known", name)
		}
	}
}
