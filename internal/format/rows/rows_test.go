package rows_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// encode lays all rows of a record down, in the order of the record.
func encode(t testing.TB, f *rows.Form, rec arrow.RecordBatch) (ram []byte, at []int) {
	t.Helper()
	e := f.NewEncoder()
	if err := e.Open(rec); err != nil {
		t.Fatal(err)
	}
	sizes := make([]int, rec.NumRows())
	if err := e.Sizes(0, sizes); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range sizes {
		at = append(at, total)
		total += n
	}
	ram = make([]byte, total)
	// In two halves: rows are written from any row on.
	half := len(at) / 2
	e.Write(ram, at[half:], sizes[half:], half)
	e.Write(ram, at[:half], sizes[:half], 0)
	for i, a := range at {
		if n, ok := f.Size(ram[a:]); !ok || n != sizes[i] {
			t.Fatalf("row %d has %d bytes, %v; %d were said", i, n, ok, sizes[i])
		}
	}
	return ram, at
}

// decode makes a record of rows.
func decode(d *rows.Decoder, b *mem.Budget, ram []byte, at []int) (arrow.RecordBatch, error) {
	size, err := d.Measure(ram, at)
	if err != nil {
		return nil, err
	}
	block, err := b.Map(context.Background(), size)
	if err != nil {
		return nil, err
	}
	for i := range block.Bytes() {
		block.Bytes()[i] = 0xa5 // memory is not zero
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	if err := d.Take(block.Bytes()); err != nil {
		return nil, err
	}
	return d.Record(slab), nil
}

func TestRowsOfAnyTypeComeBackInAnyOrder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		schema := randomSchema(r, 1+r.IntN(12), 3)
		rec := randomRecord(t, r, schema, r.IntN(100))
		f, err := rows.New(schema)
		if err != nil {
			t.Fatal(err)
		}
		ram, at := encode(t, f, rec)
		order := r.Perm(len(at))
		mixed := make([]int, len(at))
		for i, k := range order {
			mixed[i] = at[k]
		}
		budget := mem.New(1 << 30)
		got, err := decode(f.NewDecoder(), budget, ram, mixed)
		if err != nil {
			t.Fatal(err)
		}
		for c, field := range schema.Fields() {
			a, b := rec.Column(c), got.Column(c)
			for i, k := range order {
				if a.IsNull(k) != b.IsNull(i) || a.ValueStr(k) != b.ValueStr(i) {
					t.Fatalf("seed %d: %s: row %d is %s, want %s", seed, field.Type, i, b.ValueStr(i), a.ValueStr(k))
				}
			}
			if a.DataType().ID() != arrow.DICTIONARY && a.NullN() != b.NullN() {
				t.Fatalf("seed %d: %s: %d nulls, want %d", seed, field.Type, b.NullN(), a.NullN())
			}
		}
		for _, col := range got.Columns() {
			if err := validate(col); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		got.Release()
		if n := budget.Leased(); n != 0 {
			t.Fatalf("%d bytes are still leased", n)
		}
	}
}

// validate checks what Arrow can check itself.
func validate(a arrow.Array) error {
	if v, ok := a.(interface{ ValidateFull() error }); ok {
		return v.ValidateFull()
	}
	return nil
}

func TestTypesWhoseRowsCannotBeTakenAreRefusedByName(t *testing.T) {
	union := arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	for _, typ := range []arrow.DataType{union, arrow.ListOf(union), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8)} {
		_, err := rows.New(arrow.NewSchema([]arrow.Field{{Name: "odd", Type: typ}}, nil))
		if !errors.Is(err, format.ErrUsage) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestRecordOfAnotherSchemaIsRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	f, err := rows.New(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	rec := randomRecord(t, r, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Uint16}}, nil), 5)
	if err := f.NewEncoder().Open(rec); !errors.Is(err, format.ErrData) {
		t.Errorf("got %v", err)
	}
}

// FuzzDamagedRows changes bytes of rows: they are refused or become some record,
// in memory of the size that was said.
func FuzzDamagedRows(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint16(3), byte(1), uint16(40), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, seed uint64, i uint16, x byte, j uint16, y byte) {
		r := rand.New(rand.NewPCG(seed, 2))
		schema := randomSchema(r, 1+r.IntN(5), 2)
		form, err := rows.New(schema)
		if err != nil {
			t.Fatal(err)
		}
		ram, at := encode(t, form, randomRecord(t, r, schema, 1+r.IntN(10)))
		if len(ram) == 0 {
			return
		}
		ram[int(i)%len(ram)] ^= x
		ram[int(j)%len(ram)] ^= y
		rec, err := decode(form.NewDecoder(), mem.New(64<<20), ram, at)
		if err != nil {
			if !errors.Is(err, format.ErrData) && !errors.Is(err, mem.ErrTooSmall) {
				t.Fatal(err)
			}
			return
		}
		array.RecordToStructArray(rec).Release()
		rec.Release()
	})
}
