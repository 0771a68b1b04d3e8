// Command sample writes a Parquet dataset to try weir on: numbers as a feature
// table has them, and chat records as a fine-tuning corpus has them.
//
//	go run ./examples/sample -o demo-data -rows 1000000
package main

import (
	"flag"
	"fmt"
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
	rows := flag.Int("rows", 1_000_000, "rows of the feature table; the corpus has a tenth")
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
		name := filepath.Join(dir, "features", fmt.Sprintf("part-%04d.parquet", i))
		if err := write(name, features, rows/files, 64<<10, func(b *array.RecordBuilder) { feature(b, r) }); err != nil {
			return err
		}
		name = filepath.Join(dir, "chat", fmt.Sprintf("part-%04d.parquet", i))
		if err := write(name, chat, rows/files/10, 16<<10, func(b *array.RecordBuilder) { conversation(b, r) }); err != nil {
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

const featureCount = 32

var features = func() *arrow.Schema {
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}
	for i := range featureCount {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("f%02d", i), Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	return arrow.NewSchema(append(fields, arrow.Field{Name: "label", Type: arrow.PrimitiveTypes.Int64}), nil)
}()

func feature(b *array.RecordBuilder, r *rand.Rand) {
	b.Field(0).(*array.Int64Builder).Append(r.Int64())
	for i := 1; i <= featureCount; i++ {
		b.Field(i).(*array.Float64Builder).Append(r.NormFloat64())
	}
	b.Field(featureCount + 1).(*array.Int64Builder).Append(r.Int64N(2))
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
