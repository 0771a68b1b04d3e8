package mend

import "testing"

func TestBrokenTextIsReplacedAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		"a\xffb":              "a\ufffdb",
		"\xe4\xb8":            "\ufffd",
		"\xe4\xb8x":           "\ufffdx",
		"\xed\xa0\x80":        "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x98":        "\ufffd",
		"\xf0\x9f\x98\xf0":    "\ufffd\ufffd",
		"\xc0\xaf":            "\ufffd\ufffd",
		"\xf4\x90\x80\x80":    "\ufffd\ufffd\ufffd\ufffd",
		"\xf4\x8f\xbf":        "\ufffd",
		"\xe0\x80\x80":        "\ufffd\ufffd\ufffd",
		"\xe0\xa0z":           "\ufffdz",
		"\xf5\x80中\ufffd\x80": "\ufffd\ufffd中\ufffd\ufffd",
	} {
		if got := string(UTF8(nil, []byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
