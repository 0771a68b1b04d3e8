package shuffle_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/shuffle"
)

func TestPositionsAreUniformOverSeeds(t *testing.T) {
	const rows, seeds = 40, 8000
	var at [rows][rows]int
	follows := 0
	for seed := range uint64(seeds) {
		order := expected(seed, rows)
		for pos, row := range order {
			at[row][pos]++
			if pos > 0 && order[pos-1] == row-1 {
				follows++
			}
		}
	}
	want := float64(seeds) / rows
	chi := 0.0
	for _, counts := range at {
		for _, n := range counts {
			chi += (float64(n) - want) * (float64(n) - want) / want
		}
	}
	free := float64((rows - 1) * (rows - 1))
	if z := (chi - free) / math.Sqrt(2*free); math.Abs(z) > 4 {
		t.Errorf("chi-square is %.0f, %.1f deviations from the %.0f of uniform positions", chi, z, free)
	}
	// In a random order a row stands right behind its neighbour (rows-1)/rows times.
	mean := float64(seeds) * (rows - 1) / rows
	if z := (float64(follows) - mean) / math.Sqrt(mean); math.Abs(z) > 4 {
		t.Errorf("neighbours stay neighbours %d times, not about %.0f", follows, mean)
	}
}

func TestKeysAreSpreadEvenlyOverALongRange(t *testing.T) {
	const rows, parts = 1 << 18, 1 << 8
	keys := shuffle.NewKeys(7)
	var counts [parts]int
	for r := range int64(rows) {
		counts[keys.Key(r)>>56]++
	}
	chi := 0.0
	for _, n := range counts {
		d := float64(n) - rows/parts
		chi += d * d / (rows / parts)
	}
	if z := (chi - (parts - 1)) / math.Sqrt(2*(parts-1)); math.Abs(z) > 4 {
		t.Errorf("chi-square is %.0f, %.1f deviations from %d", chi, z, parts-1)
	}
}

func TestScratchIsWithinWhatThePlanSaid(t *testing.T) {
	x := func(t arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: "x", Type: t, Nullable: true}}, nil)
	}
	for name, rec := range map[string]arrow.RecordBatch{
		"every type": runtest.Random(runtest.Schema(), 3000, 1),
		"numbers":    doubles(34, 3000),
		"bools":      runtest.Random(x(arrow.FixedWidthTypes.Boolean), 20_000, 1),
		"text":       numbered(3000, 20),
	} {
		t.Run(name, func(t *testing.T) {
			share := max(4<<20, shuffle.Least(rec.Schema(), 1))
			in := shuffle.Input{Schema: rec.Schema(), Bytes: layout.Size(rec), Rows: rec.NumRows()}
			l, err := shuffle.Plan(in, share, 1)
			if err != nil {
				t.Fatal(err)
			}
			c := shuffle.Config{Schema: rec.Schema(), Scratch: scratch(t), Name: "rows", Partitions: l.Partitions}
			s, err := shuffle.NewScatter(ctx, c, mem.New(share), nil)
			if err != nil {
				t.Fatal(err)
			}
			scatterAll(t, s, rec, 0, rec.NumRows(), 500)
			st, err := s.Close()
			if err != nil {
				t.Fatal(err)
			}
			if st.Bytes() > l.Scratch || l.Scratch > 4*st.Bytes()+64<<10 {
				t.Errorf("%d bytes on scratch disk, the plan said %d", st.Bytes(), l.Scratch)
			}
		})
	}
}

func TestPlanGrowsByPasses(t *testing.T) {
	schema := doubles(34, 1).Schema()
	plan := func(bytes, share int64) shuffle.Layout {
		l, err := shuffle.Plan(shuffle.Input{Schema: schema, Bytes: bytes, Rows: bytes / 272}, share, 2)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := plan(1<<20, 128<<20); l.Partitions != 1 || l.Passes != 2 {
		t.Errorf("a megabyte: %+v", l)
	}
	if l := plan(30<<30, 128<<20); l.Passes != 2 || l.Scratch > 34<<30 {
		t.Errorf("30 GiB in 128 MiB: %+v", l)
	}
	if l := plan(10<<40, 128<<20); l.Passes != 3 || l.Partitions > 1024 || l.Scratch > 12<<40 {
		t.Errorf("10 TiB in 128 MiB: %+v", l)
	}
	if l := plan(2<<30, 64<<30); l.Passes != 2 || l.Partitions < 50 || l.Partitions > 100 {
		t.Errorf("2 GiB in 64 GiB: %+v, not partitions for many threads", l)
	}
	if l := plan(1<<40, 256<<30); l.Passes != 2 || l.Partitions > 1024 {
		t.Errorf("1 TiB in 256 GiB: %+v, which leaves hands of less than a megabyte", l)
	}
	_, err := shuffle.Plan(shuffle.Input{Schema: schema, Bytes: 1, Rows: 1}, 1<<20, 2)
	if !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("a share of 1 MiB: %v", err)
	}
}
