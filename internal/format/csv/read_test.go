package csv

import (
	"bytes"
	"compress/gzip"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
	"github.com/weir-data/weir/internal/store"
)

// table builds what formattest wants; nil is null.
func table(names []string, types []arrow.DataType, rows [][]any) arrow.RecordBatch {
	fields := make([]arrow.Field, len(names))
	for i := range names {
		fields[i] = arrow.Field{Name: names[i], Type: types[i], Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for _, row := range rows {
		for i, v := range row {
			switch f := b.Field(i); v := v.(type) {
			case nil:
				f.AppendNull()
			case string:
				f.(*array.StringBuilder).Append(v)
			case int:
				f.(*array.Int64Builder).Append(int64(v))
			case float64:
				f.(*array.Float64Builder).Append(v)
			case bool:
				f.(*array.BooleanBuilder).Append(v)
			}
		}
	}
	return b.NewRecordBatch()
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

var mixedTypes = []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean}

func TestFormatReadsQuotesNullsAndSeveralFiles(t *testing.T) {
	var long [][]any
	var file bytes.Buffer
	file.WriteString("f,id,s,ok\r\n")
	for i := range 60 {
		s := strings.Repeat(fmt.Sprintf("line %d, \"quoted\"\n", i), i*i/14)
		if i == 0 {
			s = "é"
		}
		long = append(long, []any{i, s, float64(i) / 7, i%2 == 0})
		fmt.Fprintf(&file, "%v,%d,\"%s\",%v\r\n", float64(i)/7, i, strings.ReplaceAll(s, `"`, `""`), i%2 == 0)
	}
	first := "\xef\xbb\xbfid,s,f,ok\n1,\"a \"\"b\"\",\n c\",1.5,true\r\n\r\n2,,nan,\n,\"\",-inf,false\n-4,x\"y,\"2\",\"true\""
	want := [][]any{{1, "a \"b\",\n c", 1.5, true}, {2, nil, math.NaN(), nil}, {nil, "", math.Inf(-1), false}, {-4, "x\"y", 2.0, true}}
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files:  [][]byte{[]byte(first), []byte("\xef\xbb\xbf\r\n"), zipped(file.Bytes()), []byte("id,s,f,ok\n")},
		Want: []arrow.RecordBatch{
			table([]string{"id", "s", "f", "ok"}, mixedTypes, want),
			table([]string{"id", "s", "f", "ok"}, mixedTypes, long),
		},
		Rows:     []int{4, 0, 60, 0},
		Damage:   []byte(first + "\n5,\"z\",1e3,FALSE\r\n"),
		Cuttable: true, // a record may end wherever a field of it does
	})
}

func TestFormatPicksColumnsOfManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var file strings.Builder
	var want [][]any
	for i := range 200 {
		f, s := r.NormFloat64(), strings.Repeat("x", r.IntN(800))
		fmt.Fprintf(&file, "%d|%v|%s|\"a|b\n\"|%d\n", i, f, s, -i)
		row := []any{-i, f, s}
		if s == "" {
			row[2] = nil
		}
		want = append(want, row)
	}
	formattest.Run(t, formattest.Case{
		Format:  Format(),
		Options: format.Options{NoHeader: true, Columns: []string{"c4", "c1", "c2"}},
		Files:   [][]byte{[]byte(file.String())},
		Names:   []string{"rows.psv"},
		Want: []arrow.RecordBatch{table([]string{"c4", "c1", "c2"},
			[]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}, want)},
	})
}

func TestFormatGivesOneColumnItsEmptyLines(t *testing.T) {
	var want [][]any
	for _, v := range []any{"x", nil, "", nil, "y\n\nz", nil} {
		want = append(want, []any{v})
	}
	formattest.Run(t, formattest.Case{
		Format:   Format(),
		Files:    [][]byte{[]byte("one\nx\n\n\"\"\r\n\r\n\"y\n\nz\"\n\n")},
		Want:     []arrow.RecordBatch{table([]string{"one"}, mixedTypes[1:2], want)},
		Damage:   []byte("one\nx\n\n\"\"\r\n\r\n\"y\n\nz\"\n\n"),
		Cuttable: true,
	})
}

func TestSniffTellsCSVFromText(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"a.csv", "", true}, {"a.tsv", "x", true}, {"a.tab", "x", true}, {"a.psv", "x", true},
		{"a.txt", "a,b\n1,2\n", false}, {"a.md", "a|b\n1|2\n", false}, {"a.log", "a,b\n1,2\n", false}, {"a.json", "a,b\n1,2\n", false},
		{"data", "a,b\n1,2\n", true}, {"data", "a;b\n1;2", true}, {"data", "a\tb\r\n1\t\"2\n\t\"\r\n", true}, {"a.dat", "\xef\xbb\xbfa|b\n\n1|2\n", true},
		{"data", "a,b\n", false}, {"data", "a\nb\n", false}, {"data", "a,b\n1\n", false}, {"data", "", false}, {"data", "a,b\n\xff,2\n", false},
		{"data", "a,b\n1,\x002\n", false}, {"data", "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n", false}, {"data", "[1,2]\n[3,4]\n", false},
		{"data", strings.Repeat("12,34,56\n", 455) + "7", true}, {"data", "Dear Sir,\nI write, as you see, a letter.\nYours,\n", false},
	} {
		if got := sniff(format.Clue{Name: c.name, Head: []byte(c.head)}); got != c.want {
			t.Errorf("%s %.30q: %v", c.name, c.head, got)
		}
	}
}

func TestDelimiterIsTheOneThatRecordsAgreeAbout(t *testing.T) {
	for text, want := range map[string]byte{
		"a,b\n1,2\n":                                ',',
		"a\tb\n1,5\t2\n2,5\t3\n":                    '\t',
		"a;b;c\n1,5;2,5;3,5\n":                      ';',
		"name|note\nx|one, two\ny|three\n":          '|',
		"a\n1\n":                                    ',',
		"text;label\n\"a;b,c,d\";1\n\"x\n,;y\";2\n": ';',
		"a,b\n1,2\n1\n3,4\n":                        ',',
		"a,b;c\n1,2;3\n4,5;6\n":                     ',',
		"":                                          ',',
		"date,text\n2024,a;b\n2025,c\n2026,d;e;f;g\n": ',',
	} {
		if got := guess([]byte(text), true); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// standard is what encoding/csv reads.
func standard(data []byte, names int) ([][]string, error) {
	r := stdcsv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = names
	return r.ReadAll()
}

func TestRandomRecordsAreThoseOfEncodingCSV(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"", "a", `"`, "\n", ",", "é", "longer text", `""`, "12", "\t"}
	for range 200 {
		names := 2 + r.IntN(4)
		var want [][]string
		var buf bytes.Buffer
		w := stdcsv.NewWriter(&buf)
		for range 1 + r.IntN(30) {
			row := make([]string, names)
			for i := range row {
				for range r.IntN(4) {
					row[i] += words[r.IntN(len(words))]
				}
			}
			want = append(want, row)
			w.Write(row)
		}
		w.Flush()
		lines := make([]string, len(want))
		for i, row := range want {
			lines[i] = fmt.Sprintf("%q", row)
		}
		got, err := drive(t, buf.Bytes(), 1+r.IntN(100), texted(names), rowText)
		if err != nil || !slices.Equal(got, lines) {
			t.Fatalf("%q:\n%q, %v, want\n%q", buf.String(), got, err, lines)
		}
	}
}

func TestDoublesAreExact(t *testing.T) {
	n := 1_000_000
	if raced {
		n = 50_000
	}
	r := rand.New(rand.NewPCG(5, 6))
	data := []byte("a,b\n")
	var want []uint64
	for len(want) < n {
		f := math.Float64frombits(r.Uint64())
		if f != f || math.IsInf(f, 0) {
			continue
		}
		want = append(want, math.Float64bits(f))
		data = strconv.AppendFloat(data, f, 'g', -1, 64)
		if len(want)%2 == 1 {
			data = append(data, ',')
		} else {
			data = append(data, '\n')
		}
	}
	opt := format.Options{Delimiter: ',', Schema: arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64}, {Name: "b", Type: arrow.PrimitiveTypes.Float64},
	}, nil)}
	i := 0
	_, err := drive(t, data, 256<<10, opt, func(b arrow.RecordBatch, row int) string {
		for k := range 2 {
			if v := b.Column(k).(*array.Float64).Value(row); math.Float64bits(v) != want[i] {
				t.Fatalf("row %d: %v, want %v", i/2, v, math.Float64frombits(want[i]))
			}
			i++
		}
		return ""
	})
	if err != nil || i != n {
		t.Errorf("%d numbers, want %d: %v", i, n, err)
	}
}

// A value of another type behind the sample is an error with a way out, and a
// code with a zero before it is not made a number.
func TestValuesBehindTheSampleAreHeldToItsTypes(t *testing.T) {
	for value, want := range map[string]string{
		"1.5":    `column "n": "1.5" is not an int64; a larger sample would show it, a schema can give the column its type`,
		"007":    `column "n": "007" is not an int64; name the word as a null, or give the column the type string in a schema`,
		"N/A":    `column "n": "N/A" is not an int64; name the word as a null, or give the column the type string in a schema`,
		"\"+5\"": `column "n": "+5" is not an int64; name the word as a null, or give the column the type string in a schema`,
	} {
		data := "n,m\n" + strings.Repeat("12345678,1\n", 2000) + value + ",1\n"
		_, err := readFile(t, data, format.Options{Delimiter: ',', Sample: 1000})
		if err == nil || !strings.HasSuffix(err.Error(), "line 2002, byte 22004: "+want) || !errors.Is(err, format.ErrData) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestCellsOfManyMegabytesAreRead(t *testing.T) {
	cell := strings.Repeat("text, with \"quotes\"\nand lines ", 150_000)
	data := "id,cell\n1,x\n2,\"" + strings.ReplaceAll(cell, `"`, `""`) + "\"\n3,y\n"
	rows, err := readFile(t, data, format.Options{})
	if err != nil || len(rows) != 3 || rows[1] != fmt.Sprintf("[2 %q]", cell) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// readFile reads a file of its own; rows are lines of text.
func readFile(t *testing.T, data string, opt format.Options) ([]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	src := format.Source{Store: store.New(store.Options{}), Objects: []store.Object{{URL: path, Size: int64(len(data))}}}
	err := readAll(&b, src, opt)
	rows := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	return rows[1:], err
}
