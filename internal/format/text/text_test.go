package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
)

// rows is a record of the column.
func rows(lines ...string) arrow.RecordBatch {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(lines, nil)
	s := arrow.NewSchema([]arrow.Field{{Name: Column, Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	return array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, int64(len(lines)))
}

func TestLines(t *testing.T) {
	var long []string
	for i := range 40 {
		long = append(long, strings.Repeat(fmt.Sprint(i, " é "), i*i))
	}
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files: [][]byte{
			[]byte("\xef\xbb\xbfone\ntwo\r\n\nthree"),
			nil,
			[]byte(strings.Join(long, "\n") + "\n"),
			[]byte("\r\r\n"),
		},
		Want:     []arrow.RecordBatch{rows("one", "two", "", "three"), rows(long...), rows("\r")},
		Damage:   []byte("a line\nand more\r\n\nof it"),
		Cuttable: true,
	})
}

func TestWhatIsNotUTF8IsAnErrorOrBinary(t *testing.T) {
	bin := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}}, nil)
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	b.AppendValues([][]byte{[]byte("ok"), []byte("\xff")}, nil)
	formattest.Run(t, formattest.Case{
		Format: Format(), Options: format.Options{Schema: bin},
		Files: [][]byte{[]byte("ok\n\xff\n")},
		Want:  []arrow.RecordBatch{array.NewRecordBatch(bin, []arrow.Array{b.NewArray()}, 2)},
	})
	var bad []string
	formattest.Run(t, formattest.Case{
		Format:  Format(),
		Options: format.Options{Bad: func(err error) { bad = append(bad, err.Error()) }},
		Files:   [][]byte{[]byte("ok\n\xff\nyes")},
		Want:    []arrow.RecordBatch{rows("ok", "yes")},
	})
	if len(bad) == 0 || bad[0] != "text: part-0: line 2, byte 3: "+errText.Error() {
		t.Error(bad)
	}
}

func TestWholeFiles(t *testing.T) {
	big := strings.Repeat("many lines\n", 30_000)
	formattest.Run(t, formattest.Case{
		Format:  Format(),
		Options: format.Options{WholeFiles: true},
		Files:   [][]byte{[]byte("\xef\xbb\xbfone\ntwo\r\n"), nil, []byte(big), []byte("x"), nil},
		Want:    []arrow.RecordBatch{rows("one\ntwo\r\n", "", big, "x", "")},
	})
}
