package shuffle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/shuffle"
)

var ctx = context.Background()

// numbered makes rows that know their number: an id, and values of several types
// that follow from it.
func numbered(rows, wide int) arrow.RecordBatch {
	text := arrow.BinaryTypes.String
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: text, Nullable: true},
		{Name: "turns", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "role", Type: text, Nullable: true})), Nullable: true},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("text ", i, strings.Repeat(".", i%7*wide)))
		turns := b.Field(2).(*array.ListBuilder)
		if i%5 == 0 {
			turns.AppendNull()
		} else {
			turns.Append(true)
			for k := range i % 4 {
				v := turns.ValueBuilder().(*array.StructBuilder)
				v.Append(true)
				v.FieldBuilder(0).(*array.StringBuilder).Append(fmt.Sprint(i, " says ", k))
			}
		}
		if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("kind ", i%3)); err != nil {
			panic(err)
		}
	}
	return b.NewRecordBatch()
}

// expected is the order of row numbers that a seed gives.
func expected(seed uint64, rows int) []int64 {
	keys, out := shuffle.NewKeys(seed), make([]int64, rows)
	for i := range out {
		out[i] = int64(i)
	}
	slices.SortFunc(out, func(a, b int64) int {
		if keys.Key(a) < keys.Key(b) {
			return -1
		}
		return 1
	})
	return out
}

// scatterAll adds rows from a row on, in pieces of a few rows each.
func scatterAll(t *testing.T, s *shuffle.Scatter, rec arrow.RecordBatch, from, to, piece int64) {
	t.Helper()
	for at := from; at < to; at += piece {
		slice := rec.NewSlice(at, min(at+piece, to))
		if err := s.Add(ctx, slice, at); err != nil {
			t.Fatal(err)
		}
		slice.Release()
	}
}

// scattered scatters a record, in pieces of a few rows each.
func scattered(t *testing.T, c shuffle.Config, share *mem.Budget, rec arrow.RecordBatch, piece int64) shuffle.State {
	t.Helper()
	s, err := shuffle.NewScatter(ctx, c, share, nil)
	if err != nil {
		t.Fatal(err)
	}
	scatterAll(t, s, rec, 0, rec.NumRows(), piece)
	st, err := s.Close()
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// readAll gives all rows of all partitions in order, as text, and their ids.
func readAll(t *testing.T, c shuffle.Config, st shuffle.State, share *mem.Budget) (ids []int64, texts []string) {
	t.Helper()
	p, err := shuffle.Open(c, st)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Len() {
		k, s := readPartition(t, p, i, 0, share)
		if int64(len(k)) != p.Rows(i) {
			t.Fatalf("partition %d gave %d rows of %d", i, len(k), p.Rows(i))
		}
		ids, texts = append(ids, k...), append(texts, s...)
	}
	return ids, texts
}

func readPartition(t *testing.T, p *shuffle.Partitions, i int, from int64, share *mem.Budget) (ids []int64, texts []string) {
	t.Helper()
	in, err := p.Open(ctx, i, from, share)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for r := range int(b.Rows()) {
			ids = append(ids, b.Record.Column(0).(*array.Int64).Value(r))
			texts = append(texts, rowText(b.Record, r))
		}
		if at := in.Cursor(); at != b.After || at.Object != i || at.Row != from+int64(len(ids)) {
			t.Fatalf("the cursor is %+v behind row %d of partition %d", at, from+int64(len(ids)), i)
		}
		b.Release()
	}
	return ids, texts
}

func rowText(rec arrow.RecordBatch, r int) string {
	var out strings.Builder
	for _, c := range rec.Columns() {
		out.WriteString(c.ValueStr(r) + "|")
	}
	return out.String()
}

// check compares what came out with what went in.
func check(t *testing.T, seed uint64, rec arrow.RecordBatch, ids []int64, texts []string) {
	t.Helper()
	if want := expected(seed, int(rec.NumRows())); !slices.Equal(ids, want) {
		t.Fatalf("%d rows are not the %d in the order of their keys", len(ids), len(want))
	}
	for i, id := range ids {
		if want := rowText(rec, int(id)); texts[i] != want {
			t.Fatalf("row %d is %s, want %s", id, texts[i], want)
		}
	}
}

func scratch(t testing.TB) *spill.Dir {
	t.Helper()
	dir, err := spill.Open(filepath.Join(t.TempDir(), "scratch"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOrderIsThatOfTheKeysHoweverRowsAreDivided(t *testing.T) {
	const rows, seed = 5000, 42
	rec := numbered(rows, 3)
	defer rec.Release()
	for _, v := range []struct {
		share      int64
		partitions int
		threads    int
		piece      int64
	}{
		{64 << 20, 1, 1, rows}, {64 << 20, 1, 4, 7}, {8 << 20, 2, 2, 1000}, {8 << 20, 13, 3, 501},
		{2 << 20, 3, 2, 333}, {2 << 20, 100, 2, 999}, {1 << 20, 31, 1, 64}, {512 << 10, 2, 1, 4999},
	} {
		t.Run(fmt.Sprintf("%+v", v), func(t *testing.T) {
			budget, dir := mem.New(v.share), scratch(t)
			c := shuffle.Config{Schema: rec.Schema(), Seed: seed, Scratch: dir, Name: "rows", Partitions: v.partitions, Threads: v.threads}
			st := scattered(t, c, budget, rec, v.piece)
			if budget.Leased() != 0 {
				t.Fatalf("%d bytes are still leased by scattering", budget.Leased())
			}
			ids, texts := readAll(t, c, st, budget)
			check(t, seed, rec, ids, texts)
			if budget.Leased() != 0 {
				t.Fatalf("%d bytes are still leased", budget.Leased())
			}
		})
	}
}

func TestRowsThatAreChosenAreNumberedOneAfterTheOther(t *testing.T) {
	rec := numbered(1000, 3)
	defer rec.Release()
	var rows []int32
	for i := range int32(1000) {
		if i%7 > 1 || i > 900 {
			rows = append(rows, i)
		}
	}
	budget := mem.New(2 << 20)
	c := shuffle.Config{Schema: rec.Schema(), Seed: 8, Scratch: scratch(t), Name: "rows", Partitions: 3, Threads: 2}
	s, err := shuffle.NewScatter(ctx, c, budget, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddRows(ctx, rec, rows, 0); err != nil {
		t.Fatal(err)
	}
	st, err := s.Close()
	if err != nil {
		t.Fatal(err)
	}
	ids, texts := readAll(t, c, st, budget)
	for i, number := range expected(8, len(rows)) {
		if row := rows[number]; ids[i] != int64(row) || texts[i] != rowText(rec, int(row)) {
			t.Fatalf("row %d is %s, want number %d", i, texts[i], number)
		}
	}
}

func TestPartitionThatIsTooLargeIsScatteredAgain(t *testing.T) {
	// 8 MB in two partitions, each of which is put in order in 512 KiB: they are
	// divided, and what they are divided into by a fan of four is too.
	const rows, seed = 20_000, 3
	rec := numbered(rows, 100)
	defer rec.Release()
	budget, dir := mem.New(512<<10), scratch(t)
	c := shuffle.Config{Schema: rec.Schema(), Seed: seed, Scratch: dir, Name: "rows", Partitions: 2}
	st := scattered(t, c, budget, rec, 1000)
	if st.Bytes() < 8*budget.Limit() {
		t.Fatalf("%d bytes are too few for this test", st.Bytes())
	}
	ids, texts := readAll(t, c, st, budget)
	check(t, seed, rec, ids, texts)
	if budget.Leased() != 0 {
		t.Errorf("%d bytes are still leased", budget.Leased())
	}
	left, err := filepath.Glob(filepath.Join(dir.Path(), "*.spill"))
	if err != nil || len(left) != 2 {
		t.Errorf("%v lie on scratch disk, %v; only the two partitions should", left, err)
	}
}

func TestScatterGoesOnBehindACheckpoint(t *testing.T) {
	const rows, seed = 6000, 9
	rec := numbered(rows, 10)
	defer rec.Release()
	budget, dir := mem.New(1<<20), scratch(t)
	c := shuffle.Config{Schema: rec.Schema(), Seed: seed, Scratch: dir, Name: "rows", Partitions: 7, Threads: 2}
	var from *shuffle.State
	for at := int64(0); at < rows; at += 1500 {
		s, err := shuffle.NewScatter(ctx, c, budget, from)
		if err != nil {
			t.Fatal(err)
		}
		scatterAll(t, s, rec, at, at+1500, 250)
		st, err := s.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		// What comes behind the checkpoint is lost with the process, though some
		// of it is on disk.
		if at+1500 < rows {
			scatterAll(t, s, rec, at+1500, rows, 250)
		}
		s.Discard()
		from = &shuffle.State{}
		if err := json.Unmarshal(stored, from); err != nil {
			t.Fatal(err)
		}
	}
	if from.Rows() != rows {
		t.Fatalf("%d rows were scattered, want %d", from.Rows(), rows)
	}
	ids, texts := readAll(t, c, *from, budget)
	check(t, seed, rec, ids, texts)
}

func TestPartitionIsOpenedAtAnyRow(t *testing.T) {
	const rows = 300
	rec := numbered(rows, 2)
	defer rec.Release()
	for _, share := range []int64{4 << 20, 320 << 10} { // the second divides it
		budget, dir := mem.New(share), scratch(t)
		wide := rec
		if share < 1<<20 {
			wide = numbered(rows, 400)
		}
		c := shuffle.Config{Schema: wide.Schema(), Seed: 1, Scratch: dir, Name: "rows", Partitions: 1}
		s, err := shuffle.NewScatter(ctx, c, budget, nil)
		if err != nil {
			t.Fatal(err)
		}
		scatterAll(t, s, wide, 0, rows, 100)
		st, err := s.Close()
		if err != nil {
			t.Fatal(err)
		}
		p, err := shuffle.Open(c, st)
		if err != nil {
			t.Fatal(err)
		}
		want := expected(1, rows)
		for from := int64(0); from <= rows; from += 13 {
			if ids, _ := readPartition(t, p, 0, from, budget); !slices.Equal(ids, want[from:]) {
				t.Fatalf("from row %d on there are other rows", from)
			}
		}
	}
}

func TestRowsLargerThanAHandAreShuffledToo(t *testing.T) {
	rec := numbered(30, 20_000) // up to 120 KB
	defer rec.Release()
	budget, dir := mem.New(1<<20), scratch(t)
	c := shuffle.Config{Schema: rec.Schema(), Seed: 5, Scratch: dir, Name: "rows", Partitions: 8}
	st := scattered(t, c, budget, rec, 30)
	ids, texts := readAll(t, c, st, budget)
	check(t, 5, rec, ids, texts)
}

func TestRowsLargerThanHalfAHandAreShuffledToo(t *testing.T) {
	const rows, seed = 300, 5
	rec := numbered(rows, 18_000) // up to 108 KB: a hand has 128 KiB, and one half full may not hold the next
	defer rec.Release()
	for name, partitions := range map[string]int{"scattered": 4, "scattered again": 1} {
		t.Run(name, func(t *testing.T) {
			budget := mem.New(1 << 20)
			c := shuffle.Config{Schema: rec.Schema(), Seed: seed, Scratch: scratch(t), Name: "rows", Partitions: partitions}
			st := scattered(t, c, budget, rec, rows)
			ids, texts := readAll(t, c, st, budget)
			check(t, seed, rec, ids, texts)
		})
	}
}

func TestRowLargerThanTheShareIsRefusedWithTheNumber(t *testing.T) {
	rec := numbered(7, 200_000)
	defer rec.Release()
	budget := mem.New(1 << 20)
	c := shuffle.Config{Schema: rec.Schema(), Scratch: scratch(t), Name: "rows", Partitions: 8}
	s, err := shuffle.NewScatter(ctx, c, budget, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Add(ctx, rec, 0)
	s.Discard()
	if !errors.Is(err, mem.ErrTooSmall) || !strings.Contains(err.Error(), "a row of ") {
		t.Errorf("got %v", err)
	}
	if budget.Leased() != 0 {
		t.Errorf("%d bytes are still leased", budget.Leased())
	}
}

func TestMemoryIsBackAfterACancel(t *testing.T) {
	rec := numbered(3000, 50)
	defer rec.Release()
	budget := mem.New(1 << 20)
	c := shuffle.Config{Schema: rec.Schema(), Scratch: scratch(t), Name: "rows", Partitions: 4, Threads: 2}
	ctx, cancel := context.WithCancel(ctx)
	s, err := shuffle.NewScatter(ctx, c, budget, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Add(ctx, rec, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Add: %v", err)
	}
	if _, err := s.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v", err)
	}
	if budget.Leased() != 0 {
		t.Errorf("%d bytes are still leased", budget.Leased())
	}
}
