package alphabet

import "testing"

func TestEveryByteHasItsOwnCharacter(t *testing.T) {
	table := New()
	seen := map[string]bool{}
	for b := range 256 {
		text := table.AppendText(nil, []byte{byte(b)})
		if seen[string(text)] {
			t.Fatalf("%q stands for two bytes", text)
		}
		seen[string(text)] = true
		raw, ok := table.AppendBytes(nil, text)
		if !ok || len(raw) != 1 || raw[0] != byte(b) {
			t.Fatalf("%d became %q became %v", b, text, raw)
		}
	}
}

func TestKnownCharacters(t *testing.T) {
	for text, want := range map[string]string{"Ġhello": " hello", "Ċ": "\n", "ł": "\xa0", "Ń": "\xad", "åĲĮ": "同"} {
		raw, ok := New().AppendBytes(nil, []byte(text))
		if !ok || string(raw) != want {
			t.Errorf("%q is %q, want %q", text, raw, want)
		}
	}
}

func TestWhatIsNotOfTheAlphabetIsRefused(t *testing.T) {
	for _, text := range []string{" ", "\n", "同", "ń", "a\xff", "\U0010ffff"} {
		raw, ok := New().AppendBytes([]byte("kept"), []byte(text))
		if ok || string(raw) != "kept" {
			t.Errorf("%q became %q", text, raw)
		}
	}
}
