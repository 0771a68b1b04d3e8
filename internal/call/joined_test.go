package call

import (
	"bytes"
	"os"
	"testing"
)

func TestJoinedTextsAreRows(t *testing.T) {
	p := newParent(t)
	p.start(map[string]any{"work": "rows", "distinct": true, "scratch": t.TempDir(), "expect": 4})
	text := "a\x00b\x00\x00a\x00"
	if _, err := p.slot.WriteAt([]byte(text), 0); err != nil {
		t.Fatal(err)
	}
	p.ask(map[string]any{"do": "texts", "slot": 0, "size": len(text), "rows": 4})
	p.ask(map[string]any{"do": "finish"})
	got := p.answers()
	if want := `{"rows":4,"from":64,"to":72,"id":0,"format":"","compression":""}`; got[2] != want {
		t.Fatalf("the answer is %s, not %s", got[2], want)
	}
	out, err := os.ReadFile(p.output.Name())
	if err != nil {
		t.Fatal(err)
	}
	if out[64] != 0b0111 || !bytes.Equal(out[:16], out[48:64]) || bytes.Equal(out[:16], out[16:32]) {
		t.Errorf("bits %b, keys %x", out[64], out[:64])
	}
}

func FuzzSplitIsThatOfThePackageBytes(f *testing.F) {
	f.Add([]byte("a\x00\x00bc\x00"), uint8(3))
	f.Add([]byte("a\x00b"), uint8(2))
	f.Add([]byte{0}, uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, rows uint8) {
		want := bytes.Split(text, []byte{0})
		good := len(want) == int(rows)+1 && len(want[rows]) == 0
		offsets := make([]int64, int(rows)+1)
		packed := bytes.Clone(text)
		if got := split(packed, offsets); got != good {
			t.Fatalf("%q has %d rows: %t", text, rows, got)
		}
		if !good {
			return
		}
		for i, row := range want[:rows] {
			if got := packed[offsets[i]:offsets[i+1]]; !bytes.Equal(got, row) {
				t.Errorf("row %d is %q, not %q", i, got, row)
			}
		}
	})
}
