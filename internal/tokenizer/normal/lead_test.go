package normal

import "testing"

// The table maps ① to 1, ﷺ to "four", x to nothing, and e with an acute to é.
func TestLeadOfATableIsThatOfTheReference(t *testing.T) {
	var table Normalizer
	for _, g := range readGolden(t) {
		n, err := Parse(g.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := n.(*precompiled); is {
			table = n
		}
	}
	for text, want := range map[string]int{"": 0, "ab": 1, "①ab": 1, "ﷺab": 4, "e\u0301a": 2, "x": 0,
		"xab": 1, // nothing is written yet at which x could be counted
		"ﷺxa": 3, // x takes the last letter of "four" for itself
		"axb": 1} {
		if got := Lead(table, []byte(text)); got != want {
			t.Errorf("%+q: %d, want %d", text, got, want)
		}
	}
}
