package bpe

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// invented is a model over the letters a to d, the space and é with every byte
// to fall back on, whose merges are drawn at random.
func invented(t testing.TB, seed uint64, option string) *Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	tokens := []string{"a", "b", "c", "d", " ", "é"}
	known := map[string]bool{}
	for _, token := range tokens {
		known[token] = true
	}
	var merges []string
	for len(merges) < 60 {
		left, right := tokens[rng.IntN(len(tokens))], tokens[rng.IntN(len(tokens))]
		if known[left+right] {
			continue
		}
		known[left+right] = true
		tokens = append(tokens, left+right)
		merges = append(merges, fmt.Sprintf("[%q,%q]", left, right))
	}
	for b := range 256 {
		tokens = append(tokens, fmt.Sprintf("<0x%02X>", b))
	}
	spec := []byte(`{"byte_fallback":true` + option + `,"vocab":{`)
	for id, token := range tokens {
		if id > 0 {
			spec = append(spec, ',')
		}
		spec = fmt.Appendf(spec, "%q:%d", token, id)
	}
	spec = append(spec, `},"merges":[`...)
	for i, m := range merges {
		if i > 0 {
			spec = append(spec, ',')
		}
		spec = append(spec, m...)
	}
	doc, err := document.Parse(append(spec, "]}"...))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(doc, false)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plainly merges the pair of the lowest rank, the first of several, again and
// again: what BPE is, without anything clever.
func plainly(m *Model, symbols []uint32) []uint32 {
	for {
		least, at, into := uint32(none), -1, uint32(0)
		for i := 0; i+1 < len(symbols); i++ {
			if rank, to := m.pairs.find(symbols[i], symbols[i+1]); rank < least {
				least, at, into = rank, i, to
			}
		}
		if at < 0 {
			return symbols
		}
		symbols = slices.Replace(symbols, at, at+2, into)
	}
}

func text(rng *rand.Rand, size int) []byte {
	var out []byte
	for len(out) < size {
		out = append(out, []string{"a", "b", "c", "d", " ", "é", "z", "中", "ab", "dd"}[rng.IntN(10)]...)
	}
	return out
}

func TestEveryWayOfMergingGivesTheSame(t *testing.T) {
	for seed := range uint64(40) {
		m := invented(t, seed, "")
		if m.cuts == nil {
			t.Fatal("the model has no cuts")
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		e, forgetful := m.NewEncoder(1<<12), m.NewEncoder(0)
		for range 60 {
			piece := text(rng, 1+rng.IntN(200))
			want := plainly(m, e.textSymbols(piece, nil))
			for name, got := range map[string][]uint32{
				"with a cache": e.Encode(piece, nil), "without": forgetful.Encode(piece, nil),
				"uncut": e.merge(piece, nil), "by the queue": e.mergeMany(e.textSymbols(piece, nil), nil),
			} {
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: %q %s: %v, want %v", seed, piece, name, got, want)
				}
			}
		}
	}
}

func TestPiecesThatAreTokensAreTakenWholeIfMergesAreIgnored(t *testing.T) {
	m := invented(t, 3, `,"ignore_merges":true`)
	e := m.NewEncoder(1 << 12)
	for id := range uint32(m.Size()) {
		token := m.Kept(id)
		if got := e.Encode(token, nil); !slices.Equal(got, []uint32{id}) {
			t.Fatalf("%q is %v, want %d", token, got, id)
		}
	}
}

func TestCacheKeepsToItsSizeAndItsPieces(t *testing.T) {
	for _, size := range []int{0, 63, 64, 100, 1 << 12} {
		c := newCache(size)
		if len(c.sets)*64 > size {
			t.Fatalf("%d bytes became %d", size, len(c.sets)*64)
		}
		rng := rand.New(rand.NewPCG(5, uint64(size)))
		want := map[string][]uint32{}
		for range 5000 {
			piece := make([]byte, 1+rng.IntN(shortest), 1+rng.IntN(2)*40+shortest)
			for i := range piece {
				piece[i] = byte(rng.IntN(2))
			}
			k := keyOf(piece, 0)
			if got, ok := c.append(k, nil); ok && !slices.Equal(got, want[string(piece)]) {
				t.Fatalf("%q is %v, want %v", piece, got, want[string(piece)])
			}
			ids := make([]uint32, rng.IntN(mostID+2))
			for i := range ids {
				ids[i] = rng.Uint32N(mostIDs)
			}
			if len(ids) > 0 && len(ids) <= mostID {
				want[string(piece)] = ids
			}
			c.put(k, ids)
		}
	}
}

func TestKeysAreTheSameWhereverPiecesLie(t *testing.T) {
	whole := bytes.Repeat([]byte("xyzé"), 10)
	for n := range shortest + 1 {
		if keyOf(whole[:n], 0) != keyOf(whole[:n:n], 0) {
			t.Errorf("%d bytes have two keys", n)
		}
	}
}

func TestWhatCannotBeDoneIsNamed(t *testing.T) {
	for spec, kind := range map[string]error{
		`{"dropout":0.1,"vocab":{"a":0},"merges":[]}`:            format.ErrUsage,
		`{"unk_token":"?","vocab":{"a":0},"merges":[]}`:          format.ErrUsage,
		`{"vocab":{"a":4000000000},"merges":[]}`:                 format.ErrUsage,
		`{"vocab":{"a":-1},"merges":[]}`:                         format.ErrUsage,
		`{"vocab":{"a":0},"merges":["a b"]}`:                     format.ErrData,
		`{"vocab":{"a":0},"merges":["a"]}`:                       format.ErrData,
		`{"vocab":{"a":0,"aa":1},"merges":[["a","a","a"]]}`:      format.ErrData,
		`{"vocab":{"a":0,"aa":1},"merges":[["a"]]}`:              format.ErrData,
		`{"vocab":{"\ud800":0},"merges":[]}`:                     format.ErrData,
		`{"fuse_unk":3,"vocab":{"a":0},"merges":[]}`:             format.ErrData,
		`{"end_of_word_suffix":"中","vocab":{"a":0},"merges":[]}`: format.ErrUsage,
	} {
		doc, err := document.Parse([]byte(spec))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Parse(doc, true); !errors.Is(err, kind) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func FuzzMerge(f *testing.F) {
	m := invented(f, 9, "")
	f.Add([]byte("abcd  é\xffzz"))
	f.Fuzz(func(t *testing.T, piece []byte) {
		e := m.NewEncoder(1 << 10)
		if got, want := e.Encode(piece, nil), plainly(m, e.textSymbols(piece, nil)); len(piece) < 1000 && !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", piece, got, want)
		}
	})
}

func BenchmarkEncodeRunOfOneByte(b *testing.B) {
	m := invented(b, 9, "")
	e, piece := m.NewEncoder(0), bytes.Repeat([]byte("a"), 1<<16)
	var ids []uint32
	b.SetBytes(int64(len(piece)))
	for b.Loop() {
		ids = e.merge(piece, ids[:0])
	}
}
