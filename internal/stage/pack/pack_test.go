package pack_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/pack"
)

var ctx = context.Background()

// documents makes a record of token lists; labels, if not nil, beside them.
func documents(t testing.TB, elem arrow.DataType, ids, labels [][]int64) arrow.RecordBatch {
	t.Helper()
	fields := []arrow.Field{{Name: "input_ids", Type: arrow.ListOf(elem)}}
	if labels != nil {
		fields = append(fields, arrow.Field{Name: "labels", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int64)})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, doc := range ids {
		list := b.Field(0).(*array.ListBuilder)
		list.Append(true)
		for _, x := range doc {
			switch v := list.ValueBuilder().(type) {
			case *array.Int32Builder:
				v.Append(int32(x))
			case *array.Int64Builder:
				v.Append(x)
			case *array.Uint32Builder:
				v.Append(uint32(x))
			}
		}
		if labels != nil {
			list := b.Field(1).(*array.LargeListBuilder)
			list.Append(true)
			list.ValueBuilder().(*array.Int64Builder).AppendValues(labels[i], nil)
		}
	}
	return b.NewRecordBatch()
}

// row is one that was packed.
type row struct{ ids, labels, positions, starts []int32 }

// drain takes all rows that are ready.
func drain(t testing.TB, p *pack.Packer, rows []row) []row {
	t.Helper()
	for {
		rec, err := p.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if rec == nil {
			return rows
		}
		for r := range int(rec.NumRows()) {
			var out row
			for c, to := range []*[]int32{&out.ids, &out.labels, &out.positions, &out.starts} {
				list := rec.Column(c).(array.ListLike)
				from, end := list.ValueOffsets(r)
				*to = append(*to, list.ListValues().(*array.Int32).Int32Values()[from:end]...)
			}
			rows = append(rows, out)
		}
		rec.Release()
	}
}

// packAll packs records and flushes.
func packAll(t testing.TB, o pack.Options, share int64, recs ...arrow.RecordBatch) ([]row, pack.Report) {
	t.Helper()
	budget := mem.New(share)
	p, err := pack.New(ctx, recs[0].Schema(), o, budget)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, rec := range recs {
		for from := 0; from < int(rec.NumRows()); {
			n, err := p.Add(rec, from)
			if err != nil {
				t.Fatal(err)
			}
			from += n
			rows = drain(t, p, rows)
		}
	}
	p.Flush()
	rows = drain(t, p, rows)
	p.Close()
	if budget.Leased() != 0 {
		t.Fatalf("%d bytes are still leased", budget.Leased())
	}
	return rows, p.Report()
}

func TestSmallCases(t *testing.T) {
	ids := [][]int64{{1, 2, 3}, {4}, {}, {5, 6, 7, 8, 9, 10}, {11, 12}}
	for _, c := range []struct {
		method, long, want string
		report             pack.Report
	}{
		{pack.BestFit, pack.Split, "[1 2 3 4][5 6 7 8][9 10 11 12]",
			pack.Report{Documents: 5, Empty: 1, Tokens: 12, Rows: 3, Placed: 12, Split: 1}},
		{pack.FirstFit, pack.Split, "[1 2 3 4][5 6 7 8][9 10 11 12]",
			pack.Report{Documents: 5, Empty: 1, Tokens: 12, Rows: 3, Placed: 12, Split: 1}},
		{pack.BestFit, pack.Truncate, "[1 2 3 4][5 6 7 8][11 12 0 0]",
			pack.Report{Documents: 5, Empty: 1, Tokens: 12, Rows: 3, Placed: 10, Truncated: 1, Lost: 2}},
		{pack.FirstFit, pack.Drop, "[1 2 3 4][11 12 0 0]",
			pack.Report{Documents: 5, Empty: 1, Tokens: 12, Rows: 2, Placed: 6, Dropped: 1, Lost: 6}},
		{pack.Concat, "", "[1 2 3 4][5 6 7 8][9 10 11 12]",
			pack.Report{Documents: 5, Empty: 1, Tokens: 12, Rows: 3, Placed: 12, Split: 1}},
	} {
		rows, report := packAll(t, pack.Options{Length: 4, Method: c.method, Long: c.long}, 1<<20, documents(t, arrow.PrimitiveTypes.Int32, ids, nil))
		got := ""
		for _, r := range rows {
			got += fmt.Sprint(r.ids)
		}
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.method, c.long, got, c.want)
		}
		if report != c.report {
			t.Errorf("%s, %s: %+v, want %+v", c.method, c.long, report, c.report)
		}
	}
}

func TestPositionsLabelsAndBoundaries(t *testing.T) {
	rec := documents(t, arrow.PrimitiveTypes.Int64, [][]int64{{7, 8, 9}, {4, 5}}, [][]int64{{-100, 8, 9}, {-100, 5}})
	rows, _ := packAll(t, pack.Options{Length: 6, Pad: 99}, 1<<20, rec)
	want := []row{{[]int32{7, 8, 9, 4, 5, 99}, []int32{-100, 8, 9, -100, 5, -100}, []int32{0, 1, 2, 0, 1, 0}, []int32{0, 3, 5}}}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("got %v, want %v", rows, want)
	}
	plain := documents(t, arrow.PrimitiveTypes.Uint32, [][]int64{{7, 8}}, nil)
	rows, _ = packAll(t, pack.Options{Length: 3}, 1<<20, plain)
	if fmt.Sprint(rows[0].labels) != "[7 8 -100]" {
		t.Errorf("without labels they are %v", rows[0].labels)
	}
}

// lengths makes documents whose tokens say which they are, and where in it.
func lengths(r *rand.Rand, n int, length func() int) [][]int64 {
	docs := make([][]int64, n)
	for i := range docs {
		docs[i] = make([]int64, length())
		for k := range docs[i] {
			docs[i][k] = int64(i)<<12 | int64(k)
		}
	}
	return docs
}

// verify checks that every token is there once, documents whole unless they are
// longer than a row, and returns what else is wrong.
func verify(o pack.Options, docs [][]int64, rows []row, report pack.Report) error {
	seen := make([]int, len(docs)) // tokens of each that were found, in order
	placed := int64(0)
	for _, r := range rows {
		for s := range len(r.starts) - 1 {
			from, to := r.starts[s], r.starts[s+1]
			if to <= from {
				return fmt.Errorf("an empty document")
			}
			id := int(r.ids[from] >> 12)
			if o.Method != pack.Concat && len(docs[id]) <= o.Length && int(to-from) != len(docs[id]) {
				return fmt.Errorf("document %d is cut", id)
			}
			first := r.ids[from] & (1<<12 - 1)
			for k := from; k < to; k++ {
				if want := int32(docs[id][int(first+k-from)]); r.ids[k] != want || r.labels[k] != want || r.positions[k] != k-from {
					return fmt.Errorf("document %d has another token or position", id)
				}
			}
			seen[id] += int(to - from)
			placed += int64(to - from)
		}
		for k := r.starts[len(r.starts)-1]; k < int32(o.Length); k++ {
			if r.ids[k] != o.Pad || r.labels[k] != -100 {
				return fmt.Errorf("padding has tokens or labels")
			}
		}
	}
	lost := int64(0)
	for id, doc := range docs {
		want := len(doc)
		if want > o.Length && o.Method != pack.Concat {
			switch o.Long {
			case pack.Truncate:
				want = o.Length
			case pack.Drop:
				want = 0
			}
		}
		lost += int64(len(doc) - want)
		if seen[id] != want {
			return fmt.Errorf("document %d has %d tokens, want %d", id, seen[id], want)
		}
	}
	if lost != report.Lost || placed != report.Placed || int64(len(rows)) != report.Rows || int64(len(docs)) != report.Documents {
		return fmt.Errorf("the report says %+v; %d tokens were lost, %d placed", report, lost, placed)
	}
	return nil
}

func TestEveryTokenIsThereOnceWhateverTheOptions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, method := range []string{pack.BestFit, pack.FirstFit, pack.Concat} {
		for _, long := range []string{pack.Split, pack.Truncate, pack.Drop} {
			for _, length := range []int{1, 7, 64, 100, 1000} {
				docs := lengths(r, 600, func() int { return r.IntN(2 * length) })
				o := pack.Options{Length: length, Method: method, Long: long, Pad: -1, LookAhead: int64(64 + r.IntN(length*100))}
				rec := documents(t, arrow.PrimitiveTypes.Int64, docs, nil)
				cut := int64(1 + r.IntN(600))
				rows, report := packAll(t, o, 4<<20, rec.NewSlice(0, cut), rec.NewSlice(cut, 600))
				if err := verify(o, docs, rows, report); err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				whole, _ := packAll(t, o, 4<<20, rec)
				if !reflect.DeepEqual(rows, whole) {
					t.Fatalf("%+v: other rows where batches are cut at %d", o, cut)
				}
			}
		}
	}
}

func TestConcatHasNoPaddingButAtTheEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	docs := lengths(r, 5000, func() int { return r.IntN(3) }) // many to a row
	o := pack.Options{Length: 512, Method: pack.Concat, LookAhead: 1}
	rows, report := packAll(t, o, 4<<20, documents(t, arrow.PrimitiveTypes.Int32, docs, nil))
	if err := verify(o, docs, rows, report); err != nil {
		t.Fatal(err)
	}
	if want := (report.Tokens + 511) / 512; report.Rows != want {
		t.Errorf("%d rows, want %d", report.Rows, want)
	}
}

func TestRowsAreNearlyFullWhereLengthsAllowIt(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, c := range map[string]struct {
		length int
		draw   func() int
	}{
		"chat in 2048":      {2048, func() int { return 1 + int(math.Exp(5.5+0.9*r.NormFloat64())) }},
		"articles in 4096":  {4096, func() int { return 1 + min(4095, int(math.Exp(6.3+1.1*r.NormFloat64()))) }},
		"to 900 in 1024":    {1024, func() int { return 1 + r.IntN(900) }},
		"short in 4096":     {4096, func() int { return 20 + r.IntN(100) }},
		"half and a little": {1000, func() int { return []int{520, 300, 180, 90}[r.IntN(4)] }},
	} {
		docs := lengths(r, 8000, func() int { return min(c.draw(), 4095) })
		o := pack.Options{Length: c.length, LookAhead: 8 << 20}
		rows, report := packAll(t, o, 32<<20, documents(t, arrow.PrimitiveTypes.Int32, docs, nil))
		if err := verify(o, docs, rows, report); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %.2f%%", name, 100*report.Fill(c.length))
		if name != "half and a little" && report.Fill(c.length) < 0.99 {
			t.Errorf("%s: rows are %.2f%% full", name, 100*report.Fill(c.length))
		}
	}
}

func TestPartsDoNotKnowEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, method := range []string{pack.BestFit, pack.FirstFit, pack.Concat} {
		rec := documents(t, arrow.PrimitiveTypes.Int32, lengths(r, 300, func() int { return r.IntN(50) }), nil)
		o := pack.Options{Length: 64, Method: method, LookAhead: 4096}
		want, _ := packAll(t, o, 1<<20, rec.NewSlice(100, 300))
		p, err := pack.New(ctx, rec.Schema(), o, mem.New(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		var rows []row
		for from, end := 0, 100; from < 300; {
			n, err := p.Add(rec.NewSlice(0, int64(end)), from)
			if err != nil {
				t.Fatal(err)
			}
			rows = drain(t, p, rows)
			if from += n; from == 100 {
				p.Flush()
				drain(t, p, nil)
				rows, end = nil, 300
			}
		}
		p.Flush()
		if rows = drain(t, p, rows); !reflect.DeepEqual(rows, want) {
			t.Errorf("%s: a part is another behind one", method)
		}
		p.Close()
	}
}

func TestMistakesAreNamed(t *testing.T) {
	rec := documents(t, arrow.PrimitiveTypes.Int32, [][]int64{{1, 2}}, nil)
	for _, c := range []struct {
		o    pack.Options
		kind error
		text string
	}{
		{pack.Options{}, format.ErrUsage, "length"},
		{pack.Options{Length: 4, Method: "worst-fit"}, format.ErrUsage, "worst-fit"},
		{pack.Options{Length: 4, Long: "wrap"}, format.ErrUsage, "wrap"},
		{pack.Options{Length: 4, Tokens: "tokens"}, format.ErrUsage, "there are: input_ids"},
		{pack.Options{Length: 1 << 20}, mem.ErrTooSmall, "a window of rows"},
	} {
		_, err := pack.New(ctx, rec.Schema(), c.o, mem.New(1<<20))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	for name, bad := range map[string]arrow.RecordBatch{
		"1 labels for 2 tokens": documents(t, arrow.PrimitiveTypes.Int32, [][]int64{{1, 2}}, [][]int64{{1}}),
		"a value is below":      documents(t, arrow.PrimitiveTypes.Int64, [][]int64{{1 << 40}}, nil),
	} {
		p, err := pack.New(ctx, bad.Schema(), pack.Options{Length: 4}, mem.New(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Add(bad, 0); !errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
		p.Close()
	}
}

// FuzzPack packs documents whose lengths are the bytes of the input.
func FuzzPack(f *testing.F) {
	f.Add([]byte{3, 1, 0, 6, 2}, uint8(4), uint8(0), uint8(0), uint16(10))
	f.Add([]byte{255, 1, 9, 200, 2}, uint8(16), uint8(2), uint8(1), uint16(0))
	f.Fuzz(func(t *testing.T, sizes []byte, length, method, long uint8, ahead uint16) {
		if len(sizes) > 2000 {
			return
		}
		at := 0
		docs := lengths(nil, len(sizes), func() int { at++; return int(sizes[at-1]) })
		o := pack.Options{
			Length: 1 + int(length), Method: []string{pack.BestFit, pack.FirstFit, pack.Concat}[method%3],
			Long: []string{pack.Split, pack.Truncate, pack.Drop}[long%3], Pad: -1, LookAhead: 1 + int64(ahead),
		}
		rows, report := packAll(t, o, 4<<20, documents(t, arrow.PrimitiveTypes.Int64, docs, nil))
		if err := verify(o, docs, rows, report); err != nil {
			t.Fatal(err)
		}
	})
}
