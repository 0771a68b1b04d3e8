// Command sample writes Parquet datasets to try weir on: a raw table, with
// numbers of all scales, a category, missing values and a label, and chat
// records as a fine-tuning corpus has them.
//
//	go run ./examples/sample -o demo-data -rows 2000000
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

func main() {
	out := flag.String("o", "demo-data", "directory to write to")
	rows := flag.Int("rows", 2_000_000, "rows of the table; the corpus has a twentieth")
	files := flag.Int("files", 4, "files of each")
	flag.Parse()
	if err := run(*out, *rows, *files); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

func run(dir string, rows, files int) error {
	r := rand.New(rand.NewPCG(7, 7))
	for i := range files {
		name := filepath.Join(dir, "raw", fmt.Sprintf("part-%04d.parquet", i))
		if err := write(name, table, rows/files, 64<<10, func(b *array.RecordBuilder) { row(b, r) }); err != nil {
			return err
		}
		name = filepath.Join(dir, "chat", fmt.Sprintf("part-%04d.parquet", i))
		if err := write(name, chat, rows/files/20, 16<<10, func(b *array.RecordBuilder) { conversation(b, r) }); err != nil {
			return err
		}
	}
	return nil
}

// write makes one file of n rows, group rows to a row group.
func write(name string, schema *arrow.Schema, n, group int, row func(*array.RecordBuilder)) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false))
	w, err := pqarrow.NewFileWriter(schema, f, props, pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	for n > 0 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range min(n, group) {
			row(b)
		}
		rec := b.NewRecordBatch()
		if err := w.Write(rec); err != nil {
			return err
		}
		n -= int(rec.NumRows())
		rec.Release()
		b.Release()
	}
	return w.Close()
}

const featureCount = 28

var table = func() *arrow.Schema {
	fields := []arrow.Field{
		{Name: "user_id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "country", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "price", Type: arrow.PrimitiveTypes.Float64},
	}
	for i := range featureCount {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("f%02d", i), Type: arrow.PrimitiveTypes.Float64})
	}
	return arrow.NewSchema(append(fields, arrow.Field{Name: "target", Type: arrow.PrimitiveTypes.Int64}), nil)
}()

var countries = []string{"BR", "DE", "FR", "IN", "JP", "NG", "US"}

// row is of a user of about fifty rows: one age in ten and one country in fifty
// are missing, prices have a long tail, and features are on scales from a
// tenth to a million.
func row(b *array.RecordBuilder, r *rand.Rand) {
	b.Field(0).(*array.Int64Builder).Append(r.Int64N(40_000))
	if country := b.Field(1).(*array.StringBuilder); r.IntN(50) == 0 {
		country.AppendNull()
	} else {
		country.Append(countries[r.IntN(len(countries))])
	}
	if age := b.Field(2).(*array.Float64Builder); r.IntN(10) == 0 {
		age.AppendNull()
	} else {
		age.Append(18 + r.ExpFloat64()*20)
	}
	price := math.Exp(3 + 1.5*r.NormFloat64())
	b.Field(3).(*array.Float64Builder).Append(price)
	sum := 0.0
	for i := range featureCount {
		v := r.NormFloat64()
		sum += v
		b.Field(4 + i).(*array.Float64Builder).Append(float64(i) + v*math.Pow10(i%8-1))
	}
	label := int64(0)
	if sum+r.NormFloat64() > 0 {
		label = 1
	}
	b.Field(4 + featureCount).(*array.Int64Builder).Append(label)
}

var chat = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "messages", Type: arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "role", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "content", Type: arrow.BinaryTypes.String},
	))},
}, nil)

var words = strings.Fields("a weir is a low dam across a river however much water arrives the level behind it stays the same")

func conversation(b *array.RecordBuilder, r *rand.Rand) {
	b.Field(0).(*array.Int64Builder).Append(r.Int64())
	list := b.Field(1).(*array.ListBuilder)
	list.Append(true)
	message := list.ValueBuilder().(*array.StructBuilder)
	for i := range 2 + r.IntN(5) {
		message.Append(true)
		message.FieldBuilder(0).(*array.StringBuilder).Append([]string{"user", "assistant"}[i%2])
		var text []string
		for range 5 + r.IntN(80) {
			text = append(text, words[r.IntN(len(words))])
		}
		message.FieldBuilder(1).(*array.StringBuilder).Append(strings.Join(text, " "))
	}
}
