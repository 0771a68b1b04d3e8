package write

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
)

// createdBy names the writer in the form that readers parse. The number is
// that of the way files are written, not of the program: the same rows make
// the same file.
const createdBy = "weir version 1.1.0"

// arrowKey is the remark under which Arrow's readers look for their schema.
const arrowKey = "ARROW:schema"

// Close writes the last row group, the indexes and the footer.
func (f *file) Close() (format.Part, error) {
	defer f.Abort()
	if f.err == nil {
		f.err = f.close()
	}
	return format.Part{Rows: f.total, Bytes: f.out.n}, f.err
}

func (f *file) close() error {
	if err := f.finish(); err != nil {
		return err
	}
	if err := f.drain(); err != nil {
		return err
	}
	// The footer has this memory to itself.
	for _, g := range f.groups {
		g.free()
	}
	f.groups = nil
	err := f.end()
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// end writes what comes behind the row groups.
func (f *file) end() error {
	columns := f.out.n
	if _, err := f.columns.WriteTo(f.out); err != nil {
		return err
	}
	offsets := f.out.n
	if _, err := f.offsets.WriteTo(f.out); err != nil {
		return err
	}
	start := f.out.n
	t := &thrift{}
	t.i32(1, 2)
	t.list(2, wireStruct, f.elements)
	t.b = append(t.b, f.compiler.schema.b...)
	t.i64(3, f.total)
	t.list(4, wireStruct, f.count)
	r := f.chunks.reader()
	for range f.count {
		if err := f.rowGroup(t, r, &columns, &offsets); err != nil {
			return err
		}
	}
	t.last = 4
	if err := f.remarks(t); err != nil {
		return err
	}
	t.text(6, createdBy)
	t.list(7, wireStruct, len(f.leaves))
	for range f.leaves {
		t.last = 0
		t.empty(1) // ordered as the type says
		t.b = append(t.b, 0)
	}
	t.b = append(t.b, 0)
	if err := f.emit(t); err != nil {
		return err
	}
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(f.out.n-start))
	t.b = append(t.b, magic...)
	if err := f.emit(t); err != nil {
		return err
	}
	return f.out.flush()
}

// emit moves what was written to the output.
func (f *file) emit(t *thrift) error {
	_, err := f.out.Write(t.b)
	t.b = t.b[:0]
	return err
}

// rowGroup writes the row group that r describes next; its indexes begin at
// the places given.
func (f *file) rowGroup(t *thrift, r *bufio.Reader, columns, offsets *int64) error {
	t.last = 0
	t.list(1, wireStruct, len(f.leaves))
	number := func() int64 {
		v, _ := binary.ReadUvarint(r) // the tape is ours: it holds what finish wrote
		return int64(v)
	}
	for range f.leaves {
		size := number()
		t.last = 0
		t.i64(2, 0) // an old way to say where the chunk is
		t.field(3, wireStruct)
		if err := f.emit(t); err != nil {
			return err
		}
		if _, err := io.CopyN(f.out, r, size); err != nil {
			return err
		}
		columnBytes, offsetBytes := number(), number()
		if offsetBytes > 0 {
			t.i64(4, *offsets)
			t.i32(5, int32(offsetBytes))
		}
		if columnBytes > 0 {
			t.i64(6, *columns)
			t.i32(7, int32(columnBytes))
		}
		t.b = append(t.b, 0)
		*columns, *offsets = *columns+columnBytes, *offsets+offsetBytes
	}
	t.last = 1
	t.i64(2, number())
	t.i64(3, number())
	t.i64(5, number())
	t.i64(6, number())
	t.b = append(t.b, 0)
	return f.emit(t)
}

// remarks writes the schema's own metadata and the Arrow schema, so that its
// types come back as they were.
func (f *file) remarks(t *thrift) error {
	// Measured: a field takes some 250 bytes, and building the message
	// several times that.
	lease, err := f.share.Acquire(context.Background(), int64(f.elements)*1024)
	if err != nil {
		return err
	}
	defer lease.Release()
	payload := ipc.GetSchemaPayload(f.schema, memory.DefaultAllocator)
	defer payload.Release()
	meta := payload.Meta()
	defer meta.Release()
	own := f.schema.Metadata()
	t.list(5, wireStruct, own.Len()+1)
	for i, key := range own.Keys() {
		t.last = 0
		t.text(1, key)
		t.text(2, own.Values()[i])
		t.b = append(t.b, 0)
	}
	t.last = 0
	t.text(1, arrowKey)
	t.field(2, wireBinary)
	// A message: a mark, the length of what follows, that padded to 8 bytes.
	size := (meta.Len() + 7) &^ 7
	t.b = binary.AppendUvarint(t.b, uint64(base64.StdEncoding.EncodedLen(8+size)))
	if err := f.emit(t); err != nil {
		return err
	}
	enc := base64.NewEncoder(base64.StdEncoding, f.out)
	head := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(size))
	var pad [8]byte
	for _, b := range [][]byte{head, meta.Bytes(), pad[:size-meta.Len()]} {
		if _, err := enc.Write(b); err != nil {
			return err
		}
	}
	if err := enc.Close(); err != nil {
		return err
	}
	t.b = append(t.b, 0)
	t.last = 5
	return nil
}
