package parquet

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

var update = flag.Bool("update", false, "rewrite testdata")

// spoiled is file with b written at offset at; a negative one counts from the
// end.
func spoiled(file []byte, at int, b ...byte) []byte {
	out := append([]byte(nil), file...)
	if at < 0 {
		at += len(out)
	}
	copy(out[at:], b)
	return out
}

// mistakes are what people meet, by name.
func mistakes(t *testing.T) []mistake {
	d := newDice(1)
	plain := write(t, numbers(100, "x", "y"), layout{})
	packed := write(t, numbers(4000, "x"), layout{codec: compress.Codecs.Gzip})
	list := write(t, table(column{"l", d.values(arrow.ListOf(arrow.PrimitiveTypes.Int32), true, 50), true}), layout{v2: true})
	wide := write(t, numbers(3, strings.Fields("a b c d e f g h i j k l m n")...), layout{})
	other := write(t, table(column{"x", d.values(arrow.BinaryTypes.String, false, 3), false},
		column{"y", d.values(arrow.PrimitiveTypes.Int32, false, 3), false}), layout{})
	long := make([]byte, 4)
	binary.LittleEndian.PutUint32(long, 1<<20)
	return []mistake{
		{"empty file", nil, format.Options{}, 0},
		{"not parquet", [][]byte{[]byte("a,b,c\n1,2,3\n4,5,6\n")}, format.Options{}, 0},
		{"cut off", [][]byte{plain[:len(plain)-5]}, format.Options{}, 0},
		{"encrypted", [][]byte{spoiled(plain, -4, 'P', 'A', 'R', 'E')}, format.Options{}, 0},
		{"footer longer than the file", [][]byte{spoiled(plain, -8, long...)}, format.Options{}, 0},
		{"no such column", [][]byte{wide}, format.Options{Columns: []string{"z*"}}, 0},
		{"bad pattern", [][]byte{plain}, format.Options{Columns: []string{"x["}}, 0},
		{"second file lacks a column", [][]byte{plain, write(t, numbers(3, "x"), layout{})}, format.Options{}, 0},
		{"second file has another type", [][]byte{plain, other}, format.Options{}, 0},
		{"page header damaged", [][]byte{spoiled(plain, 4, 0xff, 0xff, 0xff)}, format.Options{}, 1 << 26},
		{"compressed bytes damaged", [][]byte{spoiled(packed, 60, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}, format.Options{}, 1 << 26},
		{"levels damaged", [][]byte{spoiled(list, 50, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)}, format.Options{}, 1 << 26},
		{"too little memory", [][]byte{plain}, format.Options{}, 1000},
	}
}

type mistake struct {
	name  string
	files [][]byte
	opt   format.Options
	share int64
}

// bytesNeeded differ whenever a floor is tuned; floors have tests of their own.
var bytesNeeded = regexp.MustCompile(`needs [0-9.]+ [KMG]iB`)

// kind is the sentinel that the exit code comes from.
func kind(err error) string {
	for _, k := range []error{format.ErrData, format.ErrUsage, mem.ErrTooSmall} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return "none"
}

// TestErrorsPeopleRead holds the words; -update rewrites them.
func TestErrorsPeopleRead(t *testing.T) {
	var out strings.Builder
	for _, m := range mistakes(t) {
		if m.files == nil {
			m.files = [][]byte{{}}
		}
		_, _, err := readDigest(t, sourceOf(m.files...), m.opt, m.share, stream.Cursor{})
		if err == nil {
			t.Errorf("%s: no error", m.name)
		}
		fmt.Fprintf(&out, "%s\n    %v\n    (%s)\n\n", m.name, err, kind(err))
	}
	got := bytesNeeded.ReplaceAllString(out.String(), "needs N iB")
	golden := filepath.Join("testdata", "errors.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
