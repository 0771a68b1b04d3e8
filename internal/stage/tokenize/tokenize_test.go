package tokenize_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/chat"
	"github.com/weir-data/weir/internal/stage/tokenize"
	"github.com/weir-data/weir/internal/tokenizer"
)

const template = `{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</s>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}`

// load is a tokenizer with byte-level tokens.
func load(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	data, err := os.ReadFile("../../tokenizer/testdata/byte_level.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Tokenizer json.RawMessage }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(golden.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// texts is a record of ids and texts.
func texts(list ...string) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, s := range list {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(s)
	}
	return b.NewRecordBatch()
}

// lists are the values of a column of lists.
func lists(rec arrow.RecordBatch, name string) (out [][]int32) {
	a := rec.Column(rec.Schema().FieldIndices(name)[0]).(*array.List)
	for i := range a.Len() {
		from, to := a.ValueOffsets(i)
		out = append(out, slices.Clone(a.ListValues().(*array.Int32).Int32Values()[from:to]))
	}
	return out
}

// made is the rows of a record as tokens, all of them.
func made(t *testing.T, rec arrow.RecordBatch, rows []int32, o tokenize.Options) (ids, labels [][]int32, stage *tokenize.Stage) {
	t.Helper()
	budget := mem.New(64 << 20)
	s, err := tokenize.New(t.Context(), rec.Schema(), load(t), o, budget)
	if err != nil {
		t.Fatal(err)
	}
	for len(rows) > 0 {
		out, n, err := s.Rows(t.Context(), rec, rows, 0)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, lists(out, "input_ids")...)
		if o.Mask {
			labels = append(labels, lists(out, "labels")...)
		}
		out.Release()
		rows = rows[n:]
	}
	s.Close()
	runtest.Empty(t, budget)
	return ids, labels, s
}

func TestRowsAreTheTokensOfTheirTextForEveryNumberOfThreads(t *testing.T) {
	var list []string
	for i := range 1500 {
		list = append(list, strings.Repeat("the cat sat on the mat, ", i%40)+"end")
	}
	list = append(list, strings.Repeat("a long text of many words ", 12_000), "") // many chunks, and none
	rec := texts(list...)
	var rows []int32
	for i := range list {
		if i%3 != 1 {
			rows = append(rows, int32(i))
		}
	}
	tok := load(t)
	enc := tok.NewEncoder(1 << 20)
	for _, threads := range []int{1, 2, 5, 500} { // for 500 there is no room
		ids, _, s := made(t, rec, rows, tokenize.Options{Chat: chat.Options{Kind: chat.Plain}, Threads: threads, Check: true})
		if len(ids) != len(rows) {
			t.Fatalf("%d rows of %d", len(ids), len(rows))
		}
		for i, row := range rows {
			want := enc.Encode(nil, []byte(list[row]), tokenizer.EncodeOptions{})
			if !slices.EqualFunc(ids[i], want, func(a int32, b uint32) bool { return uint32(a) == b }) {
				t.Fatalf("row %d: %v, want %v", row, ids[i], want)
			}
		}
		if n, told := s.Differences(); n != 0 {
			t.Errorf("%d rows decode to another text: %v", n, told)
		}
	}
}

func TestLabelsAreTheAssistantsTokensAndTheEnd(t *testing.T) {
	turn := arrow.StructOf(arrow.Field{Name: "role", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "content", Type: arrow.BinaryTypes.String})
	schema := arrow.NewSchema([]arrow.Field{{Name: "messages", Type: arrow.ListOf(turn)}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	err := b.UnmarshalJSON([]byte(`{"messages": [{"role": "user", "content": "what is it"}, {"role": "assistant", "content": "a cat"},
		{"role": "user", "content": "and that"}, {"role": "assistant", "content": "a mat"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	rec := b.NewRecordBatch()
	tok := load(t)
	end, ok := tok.ID("<s>")
	if !ok {
		t.Fatal("there is no token to end with")
	}
	ids, labels, _ := made(t, rec, []int32{0}, tokenize.Options{
		Chat: chat.Options{Kind: chat.Chat, Column: "messages", Template: template}, Mask: true, End: "<s>"})
	var learned []uint32
	for i, l := range labels[0] {
		if l != tokenize.Ignore {
			if l != ids[0][i] {
				t.Errorf("label %d of token %d", l, ids[0][i])
			}
			learned = append(learned, uint32(l))
		}
	}
	text := string(tok.Decode(learned, false))
	if want := "a cat</s>a mat</s><s>"; text != want || learned[len(learned)-1] != end {
		t.Errorf("learned %q, want %q", text, want)
	}
}

func TestLongRowsAreCutAndColumnsKept(t *testing.T) {
	rec := texts("one two three four five six seven", "one")
	budget := mem.New(64 << 20)
	s, err := tokenize.New(t.Context(), rec.Schema(), load(t), tokenize.Options{Chat: chat.Options{Kind: chat.Plain}, MaxLength: 3, Keep: []string{"id"}}, budget)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, _, err := s.Rows(t.Context(), rec, []int32{0, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if ids := lists(out, "input_ids"); len(ids[0]) != 3 || s.Cut() < 1 || out.Column(0).(*array.Int64).Value(1) != 1 {
		t.Errorf("%v, %d cut", ids, s.Cut())
	}
}
