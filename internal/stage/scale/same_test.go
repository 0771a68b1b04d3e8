package scale

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
)

// world is rows of several objects, and which of them are fitted.
type world struct {
	objects []arrow.RecordBatch
	train   [][]int32
	design  *Design
	share   int64
	root    *mem.Budget
}

// makeWorld makes objects of the given rows with nasty values; share is the
// memory beyond the floor.
func makeWorld(t testing.TB, seed uint64, sizes []int, share int64) *world {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	w := &world{}
	for _, n := range sizes {
		offset, holes, ints, text, signs := make([]float64, n), make([]float64, n), array.NewInt32Builder(memory.DefaultAllocator), make([]*string, n), make([]float64, n)
		var train []int32
		for i := range n {
			offset[i] = 1e12 + r.NormFloat64()
			holes[i] = math.Exp(5 * r.NormFloat64())
			switch r.IntN(40) {
			case 0:
				holes[i] = math.NaN()
			case 1:
				holes[i] = null
			case 2:
				holes[i] = 5e-324 * float64(r.IntN(100))
			}
			signs[i] = math.Copysign(0, float64(r.IntN(2))-0.5)
			ints.Append(int32(r.IntN(100)))
			if r.IntN(10) > 0 {
				s := fmt.Sprint("k", r.IntN(30)*r.IntN(30))
				text[i] = &s
			}
			if r.IntN(10) < 8 {
				train = append(train, int32(i))
			}
		}
		w.objects = append(w.objects, batch(t, []string{"offset", "holes", "ints", "text", "signs"}, offset, holes, ints.NewArray(), text, signs))
		w.train = append(w.train, train)
	}
	w.design = plan(t, w.objects[0].Schema(), Config{
		Scale:  []Rule{{"offset", "standard"}, {"holes", "robust"}, {"ints", "standard"}, {"signs", "minmax"}},
		Impute: []Rule{{"holes", "median"}, {"ints", "most_frequent"}, {"text", "most_frequent"}},
		Encode: []Rule{{"text", "onehot"}}, MaxCategories: 50, Other: true,
	})
	w.share = w.design.Floor(4) + share
	w.root = mem.New(4 * w.share)
	return w
}

// fit begins a fit with the memory of the world.
func (w *world) fit(t testing.TB, threads int) *Fit {
	t.Helper()
	f, err := w.design.NewFit(w.carve(t), threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (w *world) carve(t testing.TB) *mem.Budget {
	t.Helper()
	b, err := w.root.Carve("fit", w.share)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// restore begins a fit with what was saved.
func (w *world) restore(t testing.TB, state []byte, threads int) *Fit {
	t.Helper()
	f, err := w.design.Restore(bytes.NewReader(state), w.carve(t), threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// finish closes f, which gives all its memory back.
func finish(t testing.TB, f *Fit) {
	t.Helper()
	f.Close()
	if n := f.share.Used(); n != 0 {
		t.Fatalf("%d bytes still leased", n)
	}
	f.share.Close()
}

// add adds rows [from, to) of an object, cut at random.
func (w *world) add(t testing.TB, f *Fit, object, from, to int, r *rand.Rand) {
	t.Helper()
	for from < to {
		n := to - from
		if r != nil {
			n = min(n, 1+r.IntN(1+r.IntN(9000)))
		}
		var rows []int32
		for _, k := range w.train[object] {
			if int(k) >= from && int(k) < from+n {
				rows = append(rows, k-int32(from))
			}
		}
		if rows == nil {
			rows = []int32{}
		}
		if err := f.Add(w.objects[object].NewSlice(int64(from), int64(from+n)), object, int64(from), rows); err != nil {
			t.Fatal(err)
		}
		from += n
	}
}

// params ends the fit and gives the JSON.
func params(t testing.TB, f *Fit) string {
	t.Helper()
	p, err := f.Params()
	if err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// reference is one fit of all rows, an object a batch, one thread.
func (w *world) reference(t testing.TB) string {
	f := w.fit(t, 1)
	for o, rec := range w.objects {
		w.add(t, f, o, 0, int(rec.NumRows()), nil)
	}
	return params(t, f)
}

// share is rows of one object that one of several machines fits.
type share struct{ object, from, to int }

// pieces cuts the rows into n, at multiples of Block.
func (w *world) pieces(n int, r *rand.Rand) [][]share {
	var all []share
	for o, rec := range w.objects {
		for from := 0; from < int(rec.NumRows()); from += Block {
			all = append(all, share{o, from, min(from+Block, int(rec.NumRows()))})
		}
	}
	out := make([][]share, min(n, len(all)))
	for i := range out { // one each at least, the others by chance
		out[i] = nil
	}
	at := 0
	for i, s := range all {
		left := len(all) - i
		if len(out[at]) > 0 && at+1 < len(out) && (left <= len(out)-at-1 || r.IntN(len(all)) < len(out)) {
			at++
		}
		out[at] = append(out[at], s)
	}
	return out
}

// modes are memory for all values, and for a sketch of them only.
var modes = map[string]int64{"exact": 16 << 20, "sketch": 0}

func TestParametersAreTheSameBitsForAnyBatchesAndThreads(t *testing.T) {
	for mode, more := range modes {
		w := makeWorld(t, 1, []int{30000, 5, 4096, 1, 40000, 4097}, more)
		want := w.reference(t)
		if !bytes.Contains([]byte(want), []byte(`"method": "`+mode+`"`)) {
			t.Fatalf("quantiles are not %s: %s", mode, want)
		}
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 9))
			f := w.fit(t, 1+int(seed)%4)
			for o, rec := range w.objects {
				w.add(t, f, o, 0, int(rec.NumRows()), r)
			}
			if got := params(t, f); got != want {
				t.Fatalf("%s: seed %d:\n%s\nwant\n%s", mode, seed, got, want)
			}
		}
	}
}

func TestParametersAreTheSameBitsForAnyDivisionAmongMachines(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	sizes := []int{20000, 3, 25000}
	for range 1000 {
		sizes = append(sizes, 1+r.IntN(20))
	}
	for mode, more := range modes {
		w := makeWorld(t, 2, append(sizes, 9000), more)
		want := w.reference(t)
		for _, n := range []int{1, 2, 7, 1000} {
			var f *Fit
			for _, part := range w.pieces(n, r) {
				g := w.fit(t, 2)
				for _, s := range part {
					w.add(t, g, s.object, s.from, s.to, r)
				}
				if f == nil {
					f = g
					continue
				}
				var state bytes.Buffer
				if err := g.Save(&state); err != nil {
					t.Fatal(err)
				}
				finish(t, g)
				if err := f.Merge(&state); err != nil {
					t.Fatal(err)
				}
			}
			if got := params(t, f); got != want {
				t.Fatalf("%s: %d pieces:\n%s\nwant\n%s", mode, n, got, want)
			}
		}
	}
}

// TestMergingInGroupsIsTheSame merges neighbours first, then their results.
func TestMergingInGroupsIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for mode, more := range modes {
		w := makeWorld(t, 3, []int{30000, 20, 40000, 9000, 9000}, more)
		want := w.reference(t)
		var states [][]byte
		for _, part := range w.pieces(9, r) {
			f := w.fit(t, 1)
			for _, s := range part {
				w.add(t, f, s.object, s.from, s.to, r)
			}
			states = append(states, saved(t, f))
			finish(t, f)
		}
		for len(states) > 1 {
			i := r.IntN(len(states) - 1)
			f := w.restore(t, states[i], 1)
			if err := f.Merge(bytes.NewReader(states[i+1])); err != nil {
				t.Fatal(err)
			}
			states[i] = saved(t, f)
			states = append(states[:i+1], states[i+2:]...)
			finish(t, f)
		}
		f := w.restore(t, states[0], 1)
		if got := params(t, f); got != want {
			t.Fatalf("%s:\n%s\nwant\n%s", mode, got, want)
		}
	}
}

func saved(t testing.TB, f *Fit) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRestoreAnywhereGoesOnToTheSameBits(t *testing.T) {
	for mode, more := range modes {
		w := makeWorld(t, 6, []int{20000, 5, 9000}, more)
		want := w.reference(t)
		r := rand.New(rand.NewPCG(7, 7))
		f := w.fit(t, 2)
		for o, rec := range w.objects {
			for from := 0; from < int(rec.NumRows()); {
				to := min(from+1+r.IntN(4000), int(rec.NumRows()))
				if r.IntN(3) == 0 { // at the end of a block
					to = min((from/Block+1)*Block, int(rec.NumRows()))
				}
				w.add(t, f, o, from, to, nil)
				from = to
				state := saved(t, f)
				finish(t, f)
				f = w.restore(t, state, 2)
				if again := saved(t, f); !bytes.Equal(again, state) {
					t.Fatalf("%s: object %d, row %d: what was restored is saved otherwise", mode, o, to)
				}
			}
		}
		if got := params(t, f); got != want {
			t.Fatalf("%s:\n%s\nwant\n%s", mode, got, want)
		}
	}
}

func TestDamagedStateIsRefused(t *testing.T) {
	w := makeWorld(t, 8, []int{9000, 20}, 0)
	f := w.fit(t, 1)
	w.add(t, f, 0, 0, 9000, nil)
	state := saved(t, f)
	finish(t, f)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 300 {
		bad := bytes.Clone(state)
		if i%2 == 0 {
			bad = bad[:r.IntN(len(bad))]
		} else {
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		}
		budget := w.root
		if f, err := w.design.Restore(bytes.NewReader(bad), budget, 1, nil); err == nil {
			f.Close()
			t.Fatalf("damage %d was not seen", i)
		}
		if n := budget.Leased(); n != 0 {
			t.Fatalf("%d bytes still leased", n)
		}
	}
	g := w.fit(t, 1)
	w.add(t, g, 0, 4096, 9000, nil)
	if err := g.Merge(bytes.NewReader(state)); err == nil {
		t.Error("rows that lie before were merged")
	}
	finish(t, g)
}

func FuzzStateLoading(f *testing.F) {
	w := makeWorld(f, 8, []int{40}, 0)
	fit := w.fit(f, 1)
	w.add(f, fit, 0, 0, 40, nil)
	f.Add(saved(f, fit))
	if err := fit.cols[1].order.overflow(); err != nil {
		f.Fatal(err)
	}
	f.Add(saved(f, fit))
	finish(f, fit)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8 { // a checksum that matches
			body := data[:len(data)-8]
			data = binary.LittleEndian.AppendUint64(bytes.Clone(body), crc64.Checksum(body, crc64.MakeTable(crc64.ECMA)))
		}
		share := w.carve(t)
		if fit, err := w.design.Restore(bytes.NewReader(data), share, 1, nil); err == nil {
			fit.Params()
			fit.Close()
		}
		if n := share.Used(); n != 0 {
			t.Fatalf("%d bytes still leased", n)
		}
		share.Close()
	})
}
