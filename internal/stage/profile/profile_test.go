package profile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
)

// plainly computes what a Column should be in the simplest way.
func plainly(v []float64, nulls []bool, rows []int32) (c Column) {
	var some []float64
	for _, r := range rows {
		switch x := v[r]; {
		case nulls[r]:
			c.Nulls++
		case math.IsNaN(x):
			c.NaNs++
		case math.IsInf(x, 0):
			c.Infs++
		default:
			some = append(some, x)
		}
	}
	if c.Count = int64(len(some)); c.Count == 0 {
		return c
	}
	lo, hi := slices.Min(some), slices.Max(some)
	c.Min, c.Max = &lo, &hi
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	sum, m2, n := exact(0), exact(0), exact(float64(len(some)))
	for _, x := range some {
		sum.Add(sum, exact(x))
	}
	sum.Quo(sum, n)
	for _, x := range some {
		d := exact(x)
		d.Sub(d, sum)
		m2.Add(m2, d.Mul(d, d))
	}
	mean, _ := sum.Float64()
	spread, _ := m2.Quo(m2, n).Float64()
	if std := math.Sqrt(spread); !math.IsInf(std, 0) {
		c.Mean, c.Std = &mean, &std
	}
	return c
}

// checkClose compares numbers; near is relative to the deviation or the size.
func checkClose(t *testing.T, what string, got, want *float64, near float64) {
	t.Helper()
	if (got == nil) != (want == nil) || got != nil && !(math.Abs(*got-*want) <= near) {
		show := func(v *float64) string {
			if v == nil {
				return "nothing"
			}
			return fmt.Sprint(*v)
		}
		t.Errorf("%s is %s, want %s within %g", what, show(got), show(want), near)
	}
}

func check(t *testing.T, got, want Column, digits float64) {
	t.Helper()
	if got.Count != want.Count || got.Nulls != want.Nulls || got.NaNs != want.NaNs || got.Infs != want.Infs {
		t.Errorf("count %d, nulls %d, NaNs %d, infinite %d; want %d, %d, %d, %d", got.Count, got.Nulls, got.NaNs, got.Infs,
			want.Count, want.Nulls, want.NaNs, want.Infs)
	}
	size := 0.0
	if want.Mean != nil {
		size = max(*want.Std, math.Abs(*want.Mean)*0x1p-50)
	}
	checkClose(t, "mean", got.Mean, want.Mean, size*digits+1e-300)
	checkClose(t, "std", got.Std, want.Std, size*digits+1e-300)
	checkClose(t, "min", got.Min, want.Min, 0)
	checkClose(t, "max", got.Max, want.Max, 0)
}

// nasty is columns of values that are hard to sum up.
var nasty = map[string]func(r *rand.Rand, i int) float64{
	"normal":      func(r *rand.Rand, _ int) float64 { return r.NormFloat64() },
	"offset 1e12": func(r *rand.Rand, _ int) float64 { return 1e12 + r.NormFloat64() },
	"drift": func(r *rand.Rand, i int) float64 {
		if i > 3000 {
			return 1e12 + r.NormFloat64()
		}
		return r.NormFloat64()
	},
	"heavy tails": func(r *rand.Rand, _ int) float64 { return math.Exp(4*r.NormFloat64()) - 1 },
	"outliers": func(r *rand.Rand, i int) float64 {
		if i%1999 == 1998 {
			return math.Ldexp(r.NormFloat64(), 20)
		}
		return r.NormFloat64()
	},
	"constant": func(*rand.Rand, int) float64 { return 0.1 },
	"zero":     func(*rand.Rand, int) float64 { return 0 },
	"bits":     func(r *rand.Rand, _ int) float64 { return float64(r.IntN(2)) },
	"denormal": func(r *rand.Rand, _ int) float64 { return float64(r.IntN(100)) * 5e-324 },
	"huge":     func(r *rand.Rand, _ int) float64 { return r.NormFloat64() * 1e200 },
	"gaps": func(r *rand.Rand, i int) float64 {
		return []float64{r.NormFloat64(), math.NaN(), math.Inf(1), math.Inf(-1), r.NormFloat64(), 3}[i%6]
	},
	"rare NaN": func(r *rand.Rand, i int) float64 {
		if i == 4321 {
			return math.NaN()
		}
		return r.NormFloat64()
	},
	"only NaN": func(*rand.Rand, int) float64 { return math.NaN() },
}

// TestProfileIsWhatPlainSumsGive holds for slices with offsets, for some rows,
// with nulls, in batches of any size, and merged.
func TestProfileIsWhatPlainSumsGive(t *testing.T) {
	for name, value := range nasty {
		for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int64,
			arrow.PrimitiveTypes.Uint8, arrow.FixedWidthTypes.Boolean} {
			if name != "normal" && !arrow.IsFloating(typ.ID()) {
				continue // these have values of their own
			}
			for _, some := range []bool{false, true} {
				for _, withNulls := range []bool{false, true} {
					t.Run(fmt.Sprint(name, "/", typ, "/some=", some, "/nulls=", withNulls), func(t *testing.T) {
						checkProfile(t, typ, value, some, withNulls)
					})
				}
			}
		}
	}
}

func checkProfile(t *testing.T, typ arrow.DataType, value func(*rand.Rand, int) float64, some, withNulls bool) {
	const n = 6000
	digits := 1e-9
	r := rand.New(rand.NewPCG(1, 2))
	v, nulls := make([]float64, n), make([]bool, n)
	for i := range v {
		v[i] = value(r, i)
		nulls[i] = withNulls && r.IntN(5) == 0
		switch typ.ID() {
		case arrow.FLOAT32:
			v[i] = float64(float32(v[i]))
			digits = 1e-6
		case arrow.INT64:
			v[i] = float64(r.Int64N(1e15))
		case arrow.UINT8:
			v[i] = float64(r.IntN(256))
		case arrow.BOOL:
			v[i] = float64(r.IntN(2))
		}
	}
	col := column(typ, v, nulls)
	defer col.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}}, nil)
	a, b := New(schema), New(schema)
	var all []int32
	for from, k := 0, 0; from < n; k++ {
		to := min(n, from+[]int{1, 7, 1024, 1500, 3}[k%5])
		part := array.NewSlice(col, int64(from), int64(to))
		var rows []int32
		if some {
			rows = []int32{}
		}
		for i := from; i < to; i++ {
			if !some || r.IntN(3) > 0 {
				all = append(all, int32(i))
				if some {
					rows = append(rows, int32(i-from))
				}
			}
		}
		rec := array.NewRecordBatch(schema, []arrow.Array{part}, int64(to-from))
		if k%3 == 1 {
			b.Add(rec, rows)
		} else {
			a.Add(rec, rows)
		}
		rec.Release()
		part.Release()
		from = to
	}
	a.Merge(b)
	check(t, a.Columns()[0], plainly(v, nulls, all), digits)

	again := New(schema)
	if err := again.Restore(a.Append(nil)); err != nil || !reflect.DeepEqual(again.Columns(), a.Columns()) {
		t.Errorf("restored: %v, %v; was %v", err, again.Columns(), a.Columns())
	}
}

func TestTextIsCounted(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues([]string{"a", "", "c", "d"}, []bool{true, false, true, false})
	col := b.NewArray()
	p := New(arrow.NewSchema([]arrow.Field{{Name: "s", Type: col.DataType()}}, nil))
	p.AddColumn(0, col, nil)
	p.AddColumn(0, col, []int32{0, 1})
	if c := p.Columns()[0]; c.Count != 3 || c.Nulls != 3 || c.Mean != nil || c.Min != nil {
		t.Errorf("%+v", c)
	}
}

// TestShapesDependOnValuesAlone counts the same values in two orders and
// batches, one of them saved and restored on the way.
func TestShapesDependOnValuesAlone(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	for name, value := range nasty {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			v := make([]float64, 5000)
			for i := range v {
				v[i] = value(r, i)
			}
			one, two := new(grid), new(grid)
			for _, g := range []*grid{one, two} {
				g.lo, g.hi = math.Inf(1), math.Inf(-1)
			}
			one.add(v)
			slices.Reverse(v)
			for from, to := 0, 1; from < len(v); from, to = to, min(len(v), 2*to) {
				two.add(v[from:to])
				s := &Shapes{names: []string{"x"}, grids: []grid{*two}}
				if err := s.Restore(s.Append(nil)); err != nil || s.grids[0] != *two {
					t.Fatalf("restored after %d values: %v", to, err)
				}
			}
			if *one != *two {
				t.Fatal("two orders give two shapes")
			}
			left, right := NewShapes(schema, []string{"x"}), NewShapes(schema, []string{"x"})
			left.grids[0].add(v[:1700])
			right.grids[0].add(v[1700:])
			if left.Merge(right); left.grids[0] != *one {
				t.Fatal("two halves give another shape than the whole")
			}
			checkBars(t, one, v)
		})
	}
}

// checkBars counts the values of every bar one by one.
func checkBars(t *testing.T, g *grid, v []float64) {
	t.Helper()
	for _, bars := range []int{1, 7, 40} {
		h := g.histogram(bars)
		if len(h.Counts) > bars {
			t.Errorf("%d bars, asked for %d", len(h.Counts), bars)
		}
		want, total := make([]int64, len(h.Counts)), int64(0)
		var below, above int64
		for _, x := range v {
			if !isFinite(x) {
				continue
			}
			total++
			switch k := math.Floor((x - h.Lo) / h.Width); {
			case x < h.Lo:
				below++
			case k >= float64(len(want)):
				above++
			default:
				want[int(k)]++
			}
		}
		if below != h.Below || above != h.Above || !slices.Equal(want, h.Counts) {
			t.Errorf("%d bars: %+v, want %v, %d below, %d above", bars, h, want, below, above)
		}
		if (below+above)*100 > total {
			t.Errorf("%d of %d values are not shown", below+above, total)
		}
	}
}

func TestShapesOfColumnsThatAreNotThereAreLeftOut(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	s := NewShapes(schema, []string{"a", "b", "c"})
	if h := s.Histograms(40); len(h) != 1 || h[0].Column != "b" || h[0].Counts != nil {
		t.Errorf("%+v", h)
	}
}

// FuzzRestore holds that a state is restored to what it says, or refused.
func FuzzRestore(f *testing.F) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	col := column(arrow.PrimitiveTypes.Float64, []float64{1, 2, 4, -1e9}, nil)
	p, s := New(schema), NewShapes(schema, []string{"x"})
	p.AddColumn(0, col, nil)
	s.Add(array.NewRecordBatch(schema, []arrow.Array{col}, 4), nil)
	f.Add(p.Append(nil))
	f.Add(s.Append(nil))
	f.Fuzz(func(t *testing.T, state []byte) {
		p, s := New(schema), NewShapes(schema, []string{"x"})
		if err := p.Restore(state); err == nil {
			p.AddColumn(0, col, nil)
			p.Columns()
		} else if !errors.Is(err, format.ErrData) {
			t.Error(err)
		}
		if err := s.Restore(state); err == nil {
			s.Add(array.NewRecordBatch(schema, []arrow.Array{col}, 4), nil)
			s.Histograms(40)
		} else if !errors.Is(err, format.ErrData) {
			t.Error(err)
		}
	})
}
