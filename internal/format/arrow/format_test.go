package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

func testFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSniffKnowsArrowOnly(t *testing.T) {
	rec := newDice(1).table(3, i32)
	file, str := write(t, false, cut(rec, 1)), write(t, true, cut(rec, 1))
	wide := write(t, true, []arrow.RecordBatch{newDice(1).table(1, slices.Repeat(everyType, 5)...)})
	for name, b := range map[string][]byte{"file": file, "stream": str, "wide stream": wide[:4096], "before 0.15": testFile(t, "before-0.15.arrows"), "feather 1": []byte("FEA1....")} {
		if !sniff(format.Clue{Head: b}) {
			t.Errorf("%s: not known", name)
		}
	}
	for _, s := range []string{"", "ARROW", "PAR1....", "{\"a\": 1}\n", "a,b\n1,2\n", "\xff\xff\xff\xff\x00\x00\x00\x00", strings.Repeat("\x00", 100), strings.Repeat("\x10\x00\x00\x00", 30), strings.Repeat("\xff", 100)} {
		if sniff(format.Clue{Head: []byte(s)}) {
			t.Errorf("%q is taken for Arrow", s)
		}
	}
}

func TestGatherPicksSavedShards(t *testing.T) {
	list := func(names ...string) (out []store.Object) {
		for _, n := range names {
			out = append(out, store.Object{URL: n})
		}
		return out
	}
	for _, c := range []struct{ in, want []store.Object }{
		{list("d/cache-1.arrow", "d/data-00000-of-00002.arrow", "d/data-00001-of-00002.arrow", "d/dataset_info.json", "d/indices.arrow", "d/state.json"),
			list("d/data-00000-of-00002.arrow", "d/data-00001-of-00002.arrow")},
		{list("d/dataset_dict.json", "d/test/data-00000-of-00001.arrow", "d/test/state.json", "d/train/data-00000-of-00001.arrow", "d/train/dataset_info.json"),
			list("d/test/data-00000-of-00001.arrow", "d/train/data-00000-of-00001.arrow")},
		{list("d/dataset_info.json", "d/imdb-train.arrow", "d/cache-77.arrow", "d/tmp9.arrow"), list("d/imdb-train.arrow")},
		{list("d/a.arrow", "d/b.arrow"), nil},
		{list("d/state.json", "d/x.parquet"), nil},
	} {
		if got := gather(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
	_, err := Plan(t.Context(), format.Source{Objects: list("d/data-00000-of-00001.arrow", "d/data-00000-of-00002.arrow")}, format.Options{})
	if !errors.Is(err, format.ErrUsage) {
		t.Errorf("shards of two savings: %v", err)
	}
}

// TestFilesOfOtherWriters reads what arrow-go does not write: metadata of
// version 4, messages without a continuation mark, and files with dictionaries
// that are added to.
func TestFilesOfOtherWriters(t *testing.T) {
	for name, want := range map[string][]string{
		"version4.arrow":     {`{"n":1,"r":"a","u":[0,7]}`, `{"n":null,"r":"a","u":[1,"x"]}`, `{"n":3,"r":"b","u":[0,8]}`},
		"before-0.15.arrows": {`{"n":1,"s":"a"}`, `{"n":null,"s":"bc"}`, `{"n":3,"s":""}`},
		"delta.arrow":        {`{"d":"b"}`, `{"d":null}`, `{"d":"a"}`, `{"d":"c0"}`, `{"d":null}`, `{"d":"a"}`, `{"d":"c1"}`, `{"d":null}`, `{"d":"a"}`},
	} {
		var got []string
		err := readAll(t, sourceOf(testFile(t, name)), format.Options{}, 0, func(b *stream.Batch) {
			s := array.RecordToStructArray(b.Record)
			defer s.Release()
			for i := range s.Len() {
				got = append(got, s.ValueStr(i))
			}
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRefusalsNameTheWayOut(t *testing.T) {
	rec := newDice(1).table(3, i32)
	big := array.NewRecordBatch(rec.Schema().WithEndianness(endian.BigEndian), rec.Columns(), 3)
	whole := write(t, true, cut(rec, 1))
	for want, b := range map[string][]byte{
		"Feather version 1 is not read": []byte("FEA1 and so on"),
		"big-endian data is not read":   write(t, false, []arrow.RecordBatch{big}),
		"never closed":                  write(t, false, cut(rec, 1))[:200],
		"follow the end of the stream":  append(bytes.Clone(whole), whole...),
		"does not begin with a schema":  binary.LittleEndian.AppendUint32(nil, 8),
	} {
		_, err := Plan(t.Context(), sourceOf(b), format.Options{})
		if err == nil || !errors.Is(err, format.ErrData) || !strings.HasPrefix(err.Error(), "arrow: 0: ") {
			t.Errorf("%s: %v", want, err)
		} else if !strings.Contains(err.Error(), want) && want != "does not begin with a schema" {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// TestStreamEndsBetweenMessagesOnly: everywhere else a cut is an error.
func TestStreamEndsBetweenMessagesOnly(t *testing.T) {
	rec := newDice(1).table(9, i32, str)
	file := write(t, true, cut(rec, 4))
	ends := map[int]bool{}
	src := sourceOf(file)
	f, err := open(t.Context(), src.Store, src.Objects[0], new(stream.Waits))
	if err != nil {
		t.Fatal(err)
	}
	ends[int(f.first)] = true
	if err := f.walk(t.Context(), func(_ int64, m *message) error { ends[int(m.end())] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(ends) != 3 {
		t.Fatalf("%d messages", len(ends))
	}
	for i := range file {
		err := readAll(t, sourceOf(file[:i]), format.Options{}, 0, func(*stream.Batch) {})
		// The end mark has two words; the second is not missed.
		if ends[i] != (err == nil) {
			t.Errorf("cut at %d of %d: %v", i, len(file), err)
		}
	}
}

func TestSchemasMustAgree(t *testing.T) {
	d := newDice(1)
	a, b := d.table(3, i32, str), d.table(3, i32, arrow.BinaryTypes.LargeString)
	for _, second := range []arrow.RecordBatch{b, d.table(3, i32)} {
		_, err := Plan(t.Context(), sourceOf(write(t, false, cut(a, 1)), write(t, true, cut(second, 1))), format.Options{})
		if !errors.Is(err, format.ErrData) || !strings.HasPrefix(err.Error(), "arrow: 1: ") {
			t.Error(err)
		}
	}
}
