package trie

import (
	"bytes"
	"testing"
)

func check(t *testing.T, keys [][]byte) {
	t.Helper()
	trie, err := Build(len(keys), func(i int) []byte { return keys[i] })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint32{}
	for i, k := range keys {
		want[string(k)] = uint32(i)
	}
	ask := func(key []byte) {
		got, ok := trie.Get(key)
		if w, there := want[string(key)]; ok != there || there && got != w {
			t.Fatalf("%q is %d, %v, want %d, %v", key, got, ok, w, there)
		}
	}
	for _, k := range keys {
		for i := range k {
			ask(k[:i])
		}
		ask(k)
		for _, b := range []byte{0, 1, 'a', 0xff} {
			ask(append(bytes.Clone(k), b))
		}
	}
}

func TestEveryKeyIsFoundAndNoOther(t *testing.T) {
	var all [][]byte
	for a := range 256 {
		all = append(all, []byte{byte(a)}, []byte{'x', byte(a), 0}, []byte{byte(a), byte(a), byte(a), 0xff})
	}
	check(t, append(all, nil, []byte("x"), bytes.Repeat([]byte{0}, 300), bytes.Repeat([]byte("long"), 500)))
	check(t, nil)
	check(t, [][]byte{{}, {}})
}

// FuzzTrie compares the trie with a map; zero-terminated stretches of the input are the keys.
func FuzzTrie(f *testing.F) {
	f.Add([]byte("a|ab|abc|b|\x00|\x00\x00|\xff|a"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, bytes.Split(data, []byte("|"))) })
}
