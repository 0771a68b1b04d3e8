package tar

import (
	"archive/tar"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// writeCost covers the archive's and the values' buffers.
const writeCost = 256 << 10

// Writer writes a sample a row: strings and binaries as they are, everything
// else as JSON text, a null not at all. Keys are the column __key__, or else
// the number of the row in its file.
func Writer() format.Writer {
	return format.Writer{
		Name: "webdataset", Ext: ".tar", Inline: true,
		Memory: func(s *arrow.Schema, _ format.WriteOptions) (least, most int64, err error) {
			return writeCost, writeCost, check(s)
		},
		Begin: begin,
	}
}

// check finds columns that cannot be members.
func check(s *arrow.Schema) error {
	for _, f := range s.Fields() {
		switch {
		case f.Name == Key && f.Type.ID() != arrow.STRING:
			return format.Error(format.ErrUsage, "webdataset: column %q is %s, not string", Key, f.Type)
		case f.Name == "" || f.Name != strings.ToLower(f.Name) || strings.ContainsAny(f.Name, "/\x00") || strings.HasPrefix(f.Name, "."):
			return format.Error(format.ErrUsage, "webdataset: column %q cannot be the ending of a name; it may be lower case, without /", f.Name)
		}
		if err := json.Check(f.Type); err != nil && !plain(f.Type) {
			return format.Error(format.ErrUsage, "webdataset: column %q: %w", f.Name, err)
		}
	}
	return nil
}

func plain(t arrow.DataType) bool { return t.ID() == arrow.STRING || t.ID() == arrow.BINARY }

func begin(out format.Output, s *arrow.Schema, _ format.WriteOptions, share *mem.Budget) (format.File, error) {
	lease, ok := share.TryAcquire(writeCost)
	if !ok {
		return nil, &mem.TooSmallError{Share: "webdataset", Need: writeCost, Limit: share.Limit()}
	}
	f := &file{schema: s, lease: lease, keys: -1}
	f.count.Writer = out
	f.tar = tar.NewWriter(&f.count)
	f.text = render.NewOut(f.tar)
	if i := s.FieldIndices(Key); len(i) > 0 {
		f.keys = i[0]
	}
	return f, nil
}

type file struct {
	schema *arrow.Schema
	lease  *mem.Lease
	count  format.Counter
	tar    *tar.Writer
	keys   int // the column of keys; less than 0: none
	rows   int64
	text   *render.Out
}

func (f *file) Write(b *stream.Batch) error {
	vals := make([]json.Value, f.schema.NumFields())
	for i, field := range f.schema.Fields() {
		if !plain(field.Type) {
			vals[i] = json.Bind(b.Record.Column(i))
		}
	}
	for row := range int(b.Rows()) {
		key, err := f.key(b.Record, row)
		if err != nil {
			return err
		}
		for i, field := range f.schema.Fields() {
			col := b.Record.Column(i)
			if i == f.keys || col.IsNull(row) {
				continue
			}
			if err := f.value(key+"."+field.Name, col, vals[i], row); err != nil {
				return fmt.Errorf("webdataset: %w", err)
			}
		}
		f.rows++
	}
	return nil
}

// key names a sample.
func (f *file) key(r arrow.RecordBatch, row int) (string, error) {
	if f.keys < 0 {
		return fmt.Sprintf("%09d", f.rows), nil
	}
	col := r.Column(f.keys).(*array.String)
	key := col.Value(row)
	base := key[strings.LastIndexByte(key, '/')+1:]
	if col.IsNull(row) || base == "" || strings.Contains(base, ".") || strings.HasPrefix(base, "__") {
		return "", format.Error(format.ErrData, "webdataset: row %d: %q cannot be a key: it is empty, or its last part has a dot or begins with __", f.rows, key)
	}
	return key, nil
}

// value writes one value as a member. JSON is written twice, once to know its
// length: it need not be held.
func (f *file) value(name string, col arrow.Array, v json.Value, row int) error {
	switch c := col.(type) {
	case *array.String:
		at := c.ValueOffset(row) - c.ValueOffset(0)
		return f.bytes(name, c.ValueBytes()[at:at+len(c.Value(row))])
	case *array.Binary:
		return f.bytes(name, c.Value(row))
	}
	length := format.Counter{Writer: io.Discard}
	f.text.Reset(&length)
	v(f.text, row)
	f.text.Flush()
	if err := f.header(name, length.N); err != nil {
		return err
	}
	f.text.Reset(f.tar)
	v(f.text, row)
	return f.text.Flush()
}

func (f *file) bytes(name string, body []byte) error {
	err := f.header(name, int64(len(body)))
	if err == nil {
		_, err = f.tar.Write(body)
	}
	return err
}

// header begins a member; its time and owner say nothing, so that the same
// rows make the same archive.
func (f *file) header(name string, size int64) error {
	return f.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0),
	})
}

func (f *file) Size() int64 { return f.count.N }

func (f *file) Close() (format.Part, error) {
	err := f.tar.Close()
	f.Abort()
	return format.Part{Rows: f.rows}, err
}

func (f *file) Abort() { f.lease.Release() }
