package shuffle_test

import (
	"errors"
	"io"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/shuffle"
)

func TestBatchesThatAreMadeSideBySideComeInOrder(t *testing.T) {
	const seed = 11
	for name, v := range map[string]struct{ rows, wide int }{
		"short texts": {20_000, 20}, "texts that vary": {60, 8000}, "texts larger than a batch": {9, 65_000},
		"texts that have no room beside batches": {9, 75_000},
	} {
		t.Run(name, func(t *testing.T) {
			rec := numbered(v.rows, v.wide)
			defer rec.Release()
			budget := mem.New(4 << 20) // batches of 256 KiB
			c := shuffle.Config{Schema: rec.Schema(), Seed: seed, Scratch: scratch(t), Name: "rows", Partitions: 1, Threads: 8}
			st := scattered(t, c, budget, rec, 5000)
			ids, texts := readAll(t, c, st, budget)
			check(t, seed, rec, ids, texts)
			if budget.Leased() != 0 {
				t.Errorf("%d bytes are still leased", budget.Leased())
			}
		})
	}
}

func TestPartitionIsClosedInTheMiddle(t *testing.T) {
	rec := numbered(20_000, 30)
	defer rec.Release()
	budget := mem.New(8 << 20)
	c := shuffle.Config{Schema: rec.Schema(), Scratch: scratch(t), Name: "rows", Partitions: 1, Threads: 4}
	st := scattered(t, c, budget, rec, 20_000)
	p, err := shuffle.Open(c, st)
	if err != nil {
		t.Fatal(err)
	}
	for taken := range 4 {
		in, err := p.Open(ctx, 0, 0, budget)
		if err != nil {
			t.Fatal(err)
		}
		for range taken {
			b, err := in.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Release() // a batch may outlive the partition
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Next(ctx); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Next behind Close: %v", err)
		}
	}
}
