//go:build unix

package tensor

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
)

// perCPU reports bytes by CPU second, which unlike the clock does not depend on
// what else the machine does.
func perCPU(b *testing.B, size int) (done func()) {
	used := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	start := used()
	return func() { b.ReportMetric(float64(size)*float64(b.N)/1e6/(used()-start), "MB/cpu-s") }
}

// wide is a record of 32 features and a label.
func wide(typ arrow.DataType, rows int) arrow.RecordBatch {
	var fields []arrow.Field
	var cols []arrow.Array
	for c := range 33 {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for i := range rows {
			switch b := b.(type) {
			case *array.Float64Builder:
				b.Append(float64(i * c % 1000))
			case *array.Float32Builder:
				b.Append(float32(i * c % 1000))
			case *array.Int64Builder:
				b.Append(int64(i * c % 1000))
			}
		}
		cols, fields = append(cols, b.NewArray()), append(fields, arrow.Field{Name: fmt.Sprint("f", c), Type: typ, Nullable: true})
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(rows))
}

func BenchmarkFill(b *testing.B) {
	const rows = 64 << 10
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int64} {
		for _, d := range []Dtype{Float32, Float64, Float16, BFloat16} {
			b.Run(fmt.Sprintf("%s-%s", typ, d), func(b *testing.B) {
				rec := wide(typ, rows)
				l, err := Plan(rec.Schema(), Spec{Label: "f32", Dtype: d, LabelDtype: Int64})
				if err != nil {
					b.Fatal(err)
				}
				s, err := l.NewStore(make([]byte, l.StoreSize(8*rows)), 8*rows)
				if err != nil {
					b.Fatal(err)
				}
				clear(s.x) // its pages are there
				done := perCPU(b, 33*rows*typ.(arrow.FixedWidthDataType).Bytes())
				for i := 0; b.Loop(); i++ {
					if err := l.Fill(s, i%8*rows, rec); err != nil {
						b.Fatal(err)
					}
				}
				done()
			})
		}
	}
}

func BenchmarkGather(b *testing.B) {
	for _, width := range []int{4, 32, 256} {
		b.Run(fmt.Sprint(4*width), func(b *testing.B) {
			var fields []arrow.Field
			for c := range width + 1 {
				fields = append(fields, arrow.Field{Name: fmt.Sprint("f", c), Type: arrow.PrimitiveTypes.Float32})
			}
			l, err := Plan(arrow.NewSchema(fields, nil), Spec{Label: "f0", LabelDtype: Int64})
			if err != nil {
				b.Fatal(err)
			}
			n := (64 << 20) / l.StoreSize(1)
			budget := mem.New(80 << 20)
			block, err := budget.Map(b.Context(), l.StoreSize(n))
			if err != nil {
				b.Fatal(err)
			}
			defer block.Free()
			s, err := l.NewStore(block.Bytes(), n)
			if err != nil {
				b.Fatal(err)
			}
			rows := make([]int32, n)
			for i, r := range rand.Perm(n) {
				rows[i] = int32(r)
			}
			const batch = 1024
			ram := make([]byte, l.BatchSize(batch))
			out, err := l.NewBatch(ram, batch)
			if err != nil {
				b.Fatal(err)
			}
			done := perCPU(b, l.BatchSize(batch))
			at := 0
			for b.Loop() {
				if at+batch > n {
					at = 0
				}
				if err := l.Gather(out, 0, s, rows[at:at+batch]); err != nil {
					b.Fatal(err)
				}
				at += batch
			}
			done()
		})
	}
}

// BenchmarkTake takes shuffled rows: a text of 20 bytes, 12 integers in a list,
// and a number.
func BenchmarkTake(b *testing.B) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	var recs []arrow.RecordBatch
	for range 16 {
		r := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range 8192 {
			r.Field(0).(*array.StringBuilder).Append("twenty bytes of text")
			l := r.Field(1).(*array.ListBuilder)
			l.Append(true)
			for k := range 12 {
				l.ValueBuilder().(*array.Int32Builder).Append(int32(k))
			}
			r.Field(2).(*array.Float64Builder).Append(float64(i))
		}
		recs = append(recs, r.NewRecordBatch())
	}
	for _, pad := range []map[string]Pad{nil, {"l": {Length: 16}}} {
		b.Run(fmt.Sprint("pad", len(pad)), func(b *testing.B) {
			f, err := Choose(schema, Selection{Pad: pad})
			if err != nil {
				b.Fatal(err)
			}
			w, err := f.Open(recs)
			if err != nil {
				b.Fatal(err)
			}
			rows := make([]int32, 1024)
			for i := range rows {
				rows[i] = int32(rand.IntN(w.Rows()))
			}
			tk := f.NewTaker()
			n, err := tk.Measure(Piece{Window: w, Rows: rows})
			if err != nil {
				b.Fatal(err)
			}
			ram := make([]byte, n)
			done := perCPU(b, n)
			for b.Loop() {
				if _, err := tk.Measure(Piece{Window: w, Rows: rows}); err != nil {
					b.Fatal(err)
				}
				if _, err := tk.Take(ram); err != nil {
					b.Fatal(err)
				}
			}
			done()
		})
	}
}

// pixels is a record of fixed-size lists, as images are.
func pixels(typ arrow.DataType, rows, width int) arrow.RecordBatch {
	ram := make([]byte, rows*width*typ.(arrow.FixedWidthDataType).Bytes())
	for i := range ram {
		ram[i] = byte(i*i>>3) & 0x3f
	}
	values := array.NewData(typ, rows*width, []*memory.Buffer{nil, memory.NewBufferBytes(ram)}, nil, 0, 0)
	list := arrow.FixedSizeListOf(int32(width), typ)
	a := array.MakeFromData(array.NewData(list, rows, []*memory.Buffer{nil}, []arrow.ArrayData{values}, 0, 0))
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "pixels", Type: list}}, nil), []arrow.Array{a}, int64(rows))
}

// BenchmarkPixels: what a batch is made of, by its bytes.
func BenchmarkPixels(b *testing.B) {
	const rows, width = 64, 3 * 224 * 224
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Uint8} {
		rec := pixels(typ, rows, width)
		b.Run(typ.Name()+"-matrix", func(b *testing.B) {
			l, err := Plan(rec.Schema(), Spec{})
			if err != nil {
				b.Fatal(err)
			}
			s, err := l.NewStore(make([]byte, l.StoreSize(rows)), rows)
			if err != nil {
				b.Fatal(err)
			}
			clear(s.x)
			done := perCPU(b, l.BatchSize(rows))
			for b.Loop() {
				if err := l.Fill(s, 0, rec); err != nil {
					b.Fatal(err)
				}
			}
			done()
		})
		b.Run(typ.Name()+"-columns", func(b *testing.B) {
			f, err := Choose(rec.Schema(), Selection{Tensors: true})
			if err != nil {
				b.Fatal(err)
			}
			w, err := f.Open([]arrow.RecordBatch{rec})
			if err != nil {
				b.Fatal(err)
			}
			order := make([]int32, rows)
			for i, r := range rand.Perm(rows) {
				order[i] = int32(r)
			}
			t := f.NewTaker()
			var ram []byte
			done := perCPU(b, rows*width*typ.(arrow.FixedWidthDataType).Bytes())
			for b.Loop() {
				n, err := t.Measure(Piece{Window: w, Rows: order})
				if err != nil {
					b.Fatal(err)
				}
				if ram == nil {
					ram = make([]byte, n)
				}
				if _, err := t.Take(ram); err != nil {
					b.Fatal(err)
				}
			}
			done()
		})
	}
}
