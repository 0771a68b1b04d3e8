package mds

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
)

var simple = []column{{"id", "int", 8}, {"text", "str", 0}}

// simpleRows makes n samples from the row first on.
func simpleRows(first, n int) (samples [][][]byte, text string) {
	var rows []string
	for i := first; i < first+n; i++ {
		s := strings.Repeat("é"+string(rune('a'+i%26)), i*i%97)
		samples = append(samples, [][]byte{le(int64(-i)), []byte(s)})
		rows = append(rows, fmt.Sprintf(`{"id":%d,"text":%q}`, -i, s))
	}
	return samples, "[" + strings.Join(rows, ",") + "]"
}

// around puts a damaged shard under an index that says its length.
func around(t *testing.T, columns []column, samples int) func([]byte) [][]byte {
	return func(damaged []byte) [][]byte {
		_, _, e := made{columns: columns, name: "shard.00000.mds"}.files(t)
		e["samples"] = samples
		e["raw_data"].(map[string]any)["bytes"] = len(damaged)
		return [][]byte{index(t, e), damaged}
	}
}

func TestSplitsAreReadOneAfterAnother(t *testing.T) {
	a, aText := simpleRows(0, 30)
	b, bText := simpleRows(30, 1)
	v, vText := simpleRows(31, 17)
	trainNames, train := directory(t, "data/train/", made{columns: simple, samples: a}, made{columns: simple},
		made{columns: simple, samples: b, compression: "zstd:7", hashes: []string{"sha1", "xxh64"}})
	valNames, val := directory(t, "data/val/", made{columns: simple, samples: v, hashes: []string{"md5"}})
	s := schemaOf(t, simple)
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Names:  append(trainNames, valNames...),
		Files:  append(train, val...),
		Want:   []arrow.RecordBatch{record(t, s, aText), record(t, s, bText), record(t, s, vText)},
		Rows:   []int{30, 0, 1, 17},
	})
}

func TestDamagedShard(t *testing.T) {
	samples, text := simpleRows(0, 5)
	m := made{columns: simple, samples: samples}
	names, files := directory(t, "", m)
	formattest.Run(t, formattest.Case{
		Format: Format(), Names: names, Files: files,
		Want:   []arrow.RecordBatch{record(t, schemaOf(t, simple), text)},
		Rows:   []int{5},
		Damage: m.raw(), Around: around(t, simple, 5),
	})
}

// everything is a column of every encoding, and two samples.
func everything() ([]column, [][][]byte, string) {
	pil := cat(le([]uint32{2, 1, 3}), []byte("RGB"), []byte{1, 2, 3, 4, 5, 6})
	small := cat(le([]uint32{0, 0, 1}), []byte("L"))
	type value struct {
		encoding     string
		size         int
		first, other []byte
		json, jsonB  string
	}
	values := []value{
		{"bytes", 0, []byte{0xff, 0}, nil, `"/wA="`, `""`},
		{"float16", 2, le(uint16(0x3e00)), le(uint16(0xc000)), `1.5`, `-2`},
		{"float32", 4, le(float32(0.25)), le(float32(-3)), `0.25`, `-3`},
		{"float64", 8, le(math.Pi), le(0.1), `3.141592653589793`, `0.1`},
		{"int", 8, le(int64(-5)), le(int64(math.MaxInt64)), `-5`, `9223372036854775807`},
		{"int16", 2, le(int16(-300)), le(int16(1)), `-300`, `1`},
		{"int32", 4, le(int32(-70000)), le(int32(2)), `-70000`, `2`},
		{"int64", 8, le(int64(-1 << 40)), le(int64(3)), `-1099511627776`, `3`},
		{"int8", 1, []byte{0x80}, []byte{1}, `-128`, `1`},
		{"jpeg", 0, []byte("\xff\xd8"), []byte("x"), `"/9g="`, `"eA=="`},
		{"jpeg:90", 0, []byte("\xff\xd8"), []byte("x"), `"/9g="`, `"eA=="`},
		{"jpeg_array", 0, cat(le([]uint32{2, 1, 2}), []byte("abc")), le(uint32(0)), `["YQ==","YmM="]`, `[]`},
		{"json", 0, []byte(`{"a": [1, 2]}`), []byte("null"), `"{\"a\": [1, 2]}"`, `"null"`},
		{"list[jpeg]", 0, cat(le([]uint32{0, 2, 1, 2}), []byte("abc")), le([]uint32{0, 0}), `["YQ==","YmM="]`, `[]`},
		{"list[pil]", 0, cat(le([]uint32{0, 2, uint32(len(pil)), uint32(len(small))}), pil, small), le([]uint32{0, 0}),
			`[{"width":2,"height":1,"mode":"RGB","data":"AQIDBAUG"},{"width":0,"height":0,"mode":"L","data":""}]`, `[]`},
		{"list[png]", 0, cat(le([]uint32{7, 1, 1}), []byte("a")), le([]uint32{0, 0}), `["YQ=="]`, `[]`},
		{"ndarray", 0, cat([]byte{17, 2<<2 | 1}, le([]uint16{1, 2}), le([]int16{-1, 2})), []byte{8, 1 << 2, 1, 9},
			`{"dtype":"int16","shape":[1,2],"data":"//8CAA=="}`, `{"dtype":"uint8","shape":[1],"data":"CQ=="}`},
		{"ndarray:float64", 0, cat([]byte{1<<2 | 3}, le(uint64(2)), le([]float64{1, 2})), []byte{1 << 2, 0},
			`{"shape":[2],"data":[1,2]}`, `{"shape":[0],"data":[]}`},
		{"ndarray:uint32:2,3", 24, le([]uint32{1, 2, 3, 4, 5, 6}), make([]byte, 24), `[1,2,3,4,5,6]`, `[0,0,0,0,0,0]`},
		{"pil", 0, pil, small, `{"width":2,"height":1,"mode":"RGB","data":"AQIDBAUG"}`, `{"width":0,"height":0,"mode":"L","data":""}`},
		{"png", 0, []byte("\x89PNG"), nil, `"iVBORw=="`, `""`},
		{"str", 0, []byte("ü"), nil, `"ü"`, `""`},
		{"str_decimal", 0, []byte("1.10"), []byte("-7"), `"1.10"`, `"-7"`},
		{"str_float", 0, []byte("1e+300"), []byte("nan"), `"1e+300"`, `"nan"`},
		{"str_int", 0, []byte("123456789012345678901234567890"), []byte("0"), `"123456789012345678901234567890"`, `"0"`},
		{"uint16", 2, le(uint16(65535)), le(uint16(0)), `65535`, `0`},
		{"uint32", 4, le(uint32(4294967295)), le(uint32(0)), `4294967295`, `0`},
		{"uint64", 8, le(uint64(1 << 63)), le(uint64(0)), `9223372036854775808`, `0`},
		{"uint8", 1, []byte{200}, []byte{0}, `200`, `0`},
	}
	var columns []column
	samples := make([][][]byte, 2)
	var a, b []string
	for _, v := range values {
		columns = append(columns, column{v.encoding, v.encoding, v.size})
		samples[0], samples[1] = append(samples[0], v.first), append(samples[1], v.other)
		a, b = append(a, fmt.Sprintf("%q:%s", v.encoding, v.json)), append(b, fmt.Sprintf("%q:%s", v.encoding, v.jsonB))
	}
	return columns, samples, "[{" + strings.Join(a, ",") + "},{" + strings.Join(b, ",") + "}]"
}

func TestEveryEncoding(t *testing.T) {
	columns, samples, text := everything()
	names, files := directory(t, "", made{columns: columns, samples: samples})
	formattest.Run(t, formattest.Case{
		Format: Format(), Names: names, Files: files,
		Want:   []arrow.RecordBatch{record(t, schemaOf(t, columns), text)},
		Rows:   []int{2},
		Damage: files[1], Around: around(t, columns, 2), Stride: 11,
	})
}

func TestColumnsNotPickedArePassedOver(t *testing.T) {
	columns, samples, _ := everything()
	columns = append(columns, column{"secret", "pkl", 0}, column{"odd", "of tomorrow", 3})
	for i := range samples {
		samples[i] = append(samples[i], []byte("code"), []byte("123"))
	}
	names, files := directory(t, "", made{columns: columns, samples: samples})
	s := arrow.NewSchema([]arrow.Field{
		{Name: "str", Type: arrow.BinaryTypes.String}, {Name: "int8", Type: arrow.PrimitiveTypes.Int8}}, nil)
	formattest.Run(t, formattest.Case{
		Format: Format(), Names: names, Files: files, Options: format.Options{Columns: []string{"str", "int8"}},
		Want: []arrow.RecordBatch{record(t, s, `[{"str":"ü","int8":-128},{"str":"","int8":1}]`)},
		Rows: []int{2},
	})
}

func TestDamagedIndex(t *testing.T) {
	samples, text := simpleRows(0, 3)
	names, files := directory(t, "", made{columns: simple, samples: samples, hashes: []string{"md5"}})
	formattest.Run(t, formattest.Case{
		Format: Format(), Names: names, Files: files,
		Want:   []arrow.RecordBatch{record(t, schemaOf(t, simple), text)},
		Rows:   []int{3},
		Damage: files[0], Around: func(damaged []byte) [][]byte { return [][]byte{damaged, files[1]} },
	})
}
