package parquet

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// layout is how a file is written. The zero value: uncompressed, plain, v1
// pages as large as the writer likes, one row group.
type layout struct {
	codec    compress.Compression
	v2       bool
	encoding pq.Encoding            // of all columns; PLAIN (0) may be dict
	each     map[string]pq.Encoding // of single columns
	dict     bool
	dictSize int64 // the dictionary is given up beyond it; 0: the writer's usual
	page     int64 // bytes
	group    int64 // rows
	decimals bool  // stored as integers where they fit
	int96    bool
	remark   *arrow.Schema // in the footer
}

func (l layout) String() string {
	v := 1
	if l.v2 {
		v = 2
	}
	return fmt.Sprintf("%s, %s, dict %v, v%d pages of %d, groups of %d", l.codec, l.encoding, l.dict, v, l.page, l.group)
}

func (l layout) properties() *pq.WriterProperties {
	opts := []pq.WriterProperty{
		pq.WithCompression(l.codec), pq.WithDictionaryDefault(l.dict),
		pq.WithVersion(pq.V2_LATEST), pq.WithStoreDecimalAsInteger(l.decimals), pq.WithStats(false),
	}
	if l.v2 {
		opts = append(opts, pq.WithDataPageVersion(pq.DataPageV2))
	}
	if !l.dict {
		opts = append(opts, pq.WithEncoding(l.encoding))
	}
	for name, e := range l.each {
		opts = append(opts, pq.WithEncodingFor(name, e), pq.WithDictionaryFor(name, false))
	}
	if l.dictSize > 0 {
		opts = append(opts, pq.WithDictionaryPageSizeLimit(l.dictSize))
	}
	if l.page > 0 {
		// The writer looks at the page's size once a batch.
		opts = append(opts, pq.WithDataPageSize(l.page), pq.WithBatchSize(max(1, min(1024, l.page/8))))
	}
	if l.group > 0 {
		opts = append(opts, pq.WithMaxRowGroupLength(l.group))
	}
	return pq.NewWriterProperties(opts...)
}

// write makes a file with arrow-go's writer.
func write(t testing.TB, rec arrow.RecordBatch, l layout) []byte {
	t.Helper()
	var buf bytes.Buffer
	props := []pqarrow.WriterOption{pqarrow.WithDeprecatedInt96Timestamps(l.int96)}
	w, err := pqarrow.NewFileWriter(rec.Schema(), &buf, l.properties(), pqarrow.NewArrowWriterProperties(props...))
	if err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	if rec.NumRows() > 0 {
		err = w.Write(rec)
	}
	if err == nil && l.remark != nil {
		err = w.AppendKeyValueMetadata("ARROW:schema", remark(t, l.remark))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	return buf.Bytes()
}

// remark is a schema as Arrow writers leave it in the footer.
func remark(t testing.TB, s *arrow.Schema) string {
	t.Helper()
	var buf bytes.Buffer
	if err := ipc.NewWriter(&buf, ipc.WithSchema(s)).Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

// table makes one record of columns of one length.
func table(cols ...column) arrow.RecordBatch {
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range cols {
		fields = append(fields, arrow.Field{Name: c.name, Type: c.values.DataType(), Nullable: c.nullable})
		arrays = append(arrays, c.values)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(arrays[0].Len()))
}

type column struct {
	name     string
	values   arrow.Array
	nullable bool
}
