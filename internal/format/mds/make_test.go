package mds

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/codec"
)

// made is a shard made by hand.
type made struct {
	columns     []column
	samples     [][][]byte // the bytes of each column of each sample
	compression string
	hashes      []string
	name        string // without the ending of the compression
}

// raw is the shard's file, uncompressed.
func (m made) raw() []byte {
	config := []byte(`{"this is": "not looked at"}`)
	le := binary.LittleEndian
	head := 4*(len(m.samples)+2) + len(config)
	out := le.AppendUint32(nil, uint32(len(m.samples)))
	var body []byte
	out = le.AppendUint32(out, uint32(head))
	for _, s := range m.samples {
		for i, c := range m.columns {
			if c.size == 0 {
				body = le.AppendUint32(body, uint32(len(s[i])))
			}
		}
		body = append(body, bytes.Join(s, nil)...)
		out = le.AppendUint32(out, uint32(head+len(body)))
	}
	return append(append(out, config...), body...)
}

// files is what lies in the directory, and the shard's entry in the index.
func (m made) files(t testing.TB) (name string, data []byte, entry map[string]any) {
	t.Helper()
	raw := m.raw()
	name, data = m.name, raw
	entry = map[string]any{"format": "mds", "version": 2, "samples": len(m.samples), "compression": nil,
		"hashes": m.hashes, "size_limit": 1 << 26, "zip_data": nil, "raw_data": m.info(m.name, raw)}
	var names, encodings []string
	var sizes []any
	for _, c := range m.columns {
		names, encodings = append(names, c.name), append(encodings, c.encoding)
		if c.size > 0 {
			sizes = append(sizes, c.size)
		} else {
			sizes = append(sizes, nil)
		}
	}
	entry["column_names"], entry["column_encodings"], entry["column_sizes"] = names, encodings, sizes
	if m.compression != "" {
		data = compressed(t, m.compression, raw)
		base, _, _ := bytes.Cut([]byte(m.compression), []byte{':'})
		name += "." + string(base)
		entry["compression"], entry["zip_data"] = m.compression, m.info(name, data)
	}
	return name, data, entry
}

func (m made) info(name string, data []byte) map[string]any {
	sums := make(map[string]string)
	for _, h := range m.hashes {
		f := hashes[h]()
		f.Write(data)
		sums[h] = fmt.Sprintf("%x", f.Sum(nil))
	}
	return map[string]any{"basename": name, "bytes": len(data), "hashes": sums}
}

func compressed(t testing.TB, name string, raw []byte) []byte {
	t.Helper()
	f, level, err := codec.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := f.NewWriter(&out, level)
	if f == codec.SnappyFile {
		w, err = codec.NewSnappyBlockWriter(&out, int64(len(raw)))
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Write(raw)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// index is the index of some entries.
func index(t testing.TB, entries ...map[string]any) []byte {
	t.Helper()
	if entries == nil {
		entries = []map[string]any{}
	}
	out, err := json.Marshal(map[string]any{"shards": entries, "version": 2})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// directory is a directory of shards with its index, which comes first.
func directory(t testing.TB, dir string, shards ...made) (names []string, files [][]byte) {
	t.Helper()
	names, files = []string{dir + indexName}, [][]byte{nil}
	var entries []map[string]any
	for i, m := range shards {
		if m.name == "" {
			m.name = fmt.Sprintf("shard.%05d.mds", i)
		}
		name, data, e := m.files(t)
		names, files, entries = append(names, dir+name), append(files, data), append(entries, e)
	}
	files[0] = index(t, entries...)
	return names, files
}

// le is a number in little-endian bytes.
func le(v any) []byte {
	out, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return out
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// record makes rows of JSON text.
func record(t testing.TB, s *arrow.Schema, text string) arrow.RecordBatch {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// schemaOf is that of columns as they are read.
func schemaOf(t testing.TB, columns []column) *arrow.Schema {
	t.Helper()
	var fields []arrow.Field
	for _, c := range columns {
		e, err := parseEncoding(c.encoding)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, c.field(e))
	}
	return arrow.NewSchema(fields, nil)
}
