package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// made is a file as numpy writes it.
func made(descr, shape string, data any) []byte {
	if !strings.HasPrefix(descr, "[") {
		descr = "'" + descr + "'"
	}
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }", descr, shape)
	dict += strings.Repeat(" ", (64-(11+len(dict))%64)%64) + "\n"
	out := append([]byte(magic), 1, 0, byte(len(dict)), byte(len(dict)>>8))
	out = append(out, dict...)
	if raw, ok := data.([]byte); ok {
		return append(out, raw...)
	}
	out, err := binary.Append(out, binary.LittleEndian, data)
	if err != nil {
		panic(err)
	}
	return out
}

func table(t testing.TB, fields []arrow.Field, rows string) arrow.RecordBatch {
	t.Helper()
	for i := range fields {
		fields[i].Nullable = true
	}
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOneColumn(t *testing.T) {
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files: [][]byte{
			made("<f8", "(3,)", []float64{1, -2.5, 1e300}),
			made("<f8", "(0,)", []float64{}),
			made("<f8", "(4,)", []float64{4, 5, 6, 7}),
		},
		Want:   []arrow.RecordBatch{table(t, []arrow.Field{{Name: "data", Type: arrow.PrimitiveTypes.Float64}}, `[{"data":1},{"data":-2.5},{"data":1e300},{"data":4},{"data":5},{"data":6},{"data":7}]`)},
		Damage: made("<f8", "(3,)", []float64{1, -2.5, 1e300}),
	})
}

func TestRowsOfMoreDimensionsAreLists(t *testing.T) {
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files:  [][]byte{made("<i4", "(3, 2, 2)", []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
		Want: []arrow.RecordBatch{table(t, []arrow.Field{{Name: "data", Type: arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Int32)}},
			`[{"data":[1,2,3,4]},{"data":[5,6,7,8]},{"data":[9,10,11,12]}]`)},
	})
}

func TestNamedFieldsAreColumns(t *testing.T) {
	var raw []byte
	for i := range 20 {
		raw = binary.BigEndian.AppendUint16(raw, uint16(i))
		raw = append(raw, byte(i%2), 'a', byte(i%3)*'b', 0)
		raw = binary.LittleEndian.AppendUint32(raw, 'é')
		raw = binary.LittleEndian.AppendUint32(raw, uint32(i%4/3)*'x')
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(i)/2))
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(-1))
		when := uint64(i)
		if i == 7 {
			when = 1 << 63
		}
		raw = binary.LittleEndian.AppendUint64(raw, when)
	}
	descr := "[('n', '>u2'), ('ok', '|b1'), ('s', '|S2'), ('', '|V1'), ('u', '<U2'), ('v', '<f4', (2,)), ('when', '<m8[s]')]"
	var rows []string
	for i := range 20 {
		s := []string{`"YQ=="`, `"YWI="`, `"YcQ="`}[i%3]
		u := []string{"é", "é", "é", "éx"}[i%4]
		when := fmt.Sprint(i)
		if i == 7 {
			when = "null"
		}
		rows = append(rows, fmt.Sprintf(`{"n":%d,"ok":%v,"s":%s,"u":%q,"v":[%v,-1],"when":%s}`, i, i%2 == 1, s, u, float64(i)/2, when))
	}
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Uint16}, {Name: "ok", Type: arrow.FixedWidthTypes.Boolean}, {Name: "s", Type: arrow.BinaryTypes.Binary},
		{Name: "u", Type: arrow.BinaryTypes.String}, {Name: "v", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)}, {Name: "when", Type: arrow.FixedWidthTypes.Duration_s},
	}
	c := formattest.Case{
		Format: Format(), Files: [][]byte{made(descr, "(20,)", raw)},
		Want:   []arrow.RecordBatch{table(t, fields, "["+strings.Join(rows, ",")+"]")},
		Damage: made(descr, "(1,)", raw[:len(raw)/20]),
	}
	formattest.Run(t, c)
	c.Damage, c.Options.Columns = nil, []string{"v", "n"}
	all := c.Want[0]
	c.Want = []arrow.RecordBatch{array.NewRecordBatch(arrow.NewSchema([]arrow.Field{fields[4], fields[0]}, nil), []arrow.Array{all.Column(4), all.Column(0)}, 20)}
	formattest.Run(t, c)
}

// packed is an archive of arrays.
func packed(t testing.TB, method uint16, files map[string][]byte, order ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range order {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(files[name])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchivesAreColumns(t *testing.T) {
	files := map[string][]byte{
		"x.npy": made("<f4", "(3, 2)", []float32{1, 2, 3, 4, 5, 6}),
		"y.npy": made("<i8", "(3,)", []int64{7, 8, 9}),
		"z.npy": made("<i8", "(1,)", []int64{7}),
	}
	fields := []arrow.Field{{Name: "x", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)}, {Name: "y", Type: arrow.PrimitiveTypes.Int64}}
	rows := `[{"x":[1,2],"y":7},{"x":[3,4],"y":8},{"x":[5,6],"y":9}]`
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		formattest.Run(t, formattest.Case{
			Format: Format(),
			Files:  [][]byte{packed(t, method, files, "x.npy", "y.npy"), packed(t, method, files, "x.npy", "y.npy")},
			Want:   []arrow.RecordBatch{table(t, fields, rows), table(t, fields, rows)},
			Damage: packed(t, method, files, "x.npy", "y.npy"),
		})
		formattest.Run(t, formattest.Case{
			Format:  Format(),
			Options: format.Options{Columns: []string{"x", "y"}},
			Files:   [][]byte{packed(t, method, files, "z.npy", "x.npy", "y.npy")},
			Want:    []arrow.RecordBatch{table(t, fields, rows)},
		})
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(made("<f8", "(3,)", []float64{1, -2.5, 1e300}))
	f.Add(made("[('a', '>u2', (3,)), (('t', 'b'), '|S2')]", "(0,)", []byte{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := prelude(data)
		if err != nil || n > len(data) {
			return
		}
		s, err := parseHeader(data[:n])
		if err == nil && (s.rows < 0 || s.width < 0) {
			t.Errorf("%+v", s)
		}
	})
}

// buffer is an Output in memory.
type buffer struct{ bytes.Buffer }

func (b *buffer) Patch(p []byte, off int64) error { copy(b.Bytes()[off:], p); return nil }

func write(t *testing.T, batches ...arrow.RecordBatch) ([]byte, error) {
	t.Helper()
	share := mem.New(2 << 20)
	schema := batches[0].Schema()
	if _, _, err := Writer().Memory(schema, format.WriteOptions{}); err != nil {
		return nil, err
	}
	var out buffer
	f, err := Writer().Begin(&out, schema, format.WriteOptions{}, share)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		if err := f.Write(&stream.Batch{Record: b}); err != nil {
			f.Abort()
			return nil, err
		}
	}
	_, err = f.Close()
	if f.Size() != int64(out.Len()) || share.Leased() != 0 {
		t.Errorf("%d bytes, said to be %d; %d still leased", out.Len(), f.Size(), share.Leased())
	}
	return out.Bytes(), err
}

func TestWhatIsWrittenIsAnArray(t *testing.T) {
	two := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float32}, {Name: "b", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)}}
	rows := table(t, two, `[{"a":1,"b":[2,3]},{"a":4,"b":[5,6]},{"a":7,"b":[8,9]}]`)
	got, err := write(t, rows.NewSlice(0, 1), rows.NewSlice(1, 3))
	want := made("<f4", "(3, 3)", []float32{1, 2, 3, 4, 5, 6, 7, 8, 9})
	if err != nil || string(got[headerSize:]) != string(want[len(want)-36:]) || !strings.Contains(string(got[:headerSize]), "'shape': (3, 3), ") {
		t.Errorf("%q %v", got, err)
	}
	flags := table(t, []arrow.Field{{Name: "f", Type: arrow.FixedWidthTypes.Boolean}}, `[{"f":true},{"f":false},{"f":true}]`)
	got, err = write(t, flags.NewSlice(1, 3), flags)
	if err != nil || string(got[headerSize:]) != "\x00\x01\x01\x00\x01" || !strings.Contains(string(got), "'shape': (5,), ") {
		t.Errorf("%q %v", got, err)
	}
}

func TestWhatIsNoArrayIsRefused(t *testing.T) {
	for _, c := range []struct {
		fields []arrow.Field
		rows   string
		kind   error
	}{
		{[]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, `[]`, format.ErrUsage},
		{[]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "b", Type: arrow.PrimitiveTypes.Int16}}, `[]`, format.ErrUsage},
		{[]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, `[{"a":null}]`, format.ErrData},
		{[]arrow.Field{{Name: "a", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)}}, `[{"a":[1,null]}]`, format.ErrData},
	} {
		if _, err := write(t, table(t, c.fields, c.rows)); !errors.Is(err, c.kind) {
			t.Errorf("%v: %v", c.fields, err)
		}
	}
}

func TestWhatCannotBeReadIsRefusedByName(t *testing.T) {
	for descr, want := range map[string]string{
		"|O": "", "|O8": "pickled objects", "<c16": `the type "<c16" is not read`, "<M8[D]": "is not read",
	} {
		data := made(descr, "(1,)", make([]byte, 16))
		n, _ := prelude(data)
		if _, err := parseHeader(data[:n]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", descr, err)
		}
	}
}
