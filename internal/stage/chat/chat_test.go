package chat

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/jinja"
)

const (
	plainTemplate = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
	genTemplate   = "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<end>{% endgeneration %}{% else %}{{ m.content }}<end>{% endif %}{% endfor %}"
	// forgets drops the reasoning of all turns but the last, as templates of
	// reasoning models do.
	forgets = "{% for m in messages %}<{{ m.role }}>{% if loop.last %}{{ m.content }}{% else %}{{ m.content.split('</think>')[-1] }}{% endif %}<end>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)

var messageType = arrow.ListOf(arrow.StructOf(
	arrow.Field{Name: "role", Type: arrow.BinaryTypes.String, Nullable: true},
	arrow.Field{Name: "content", Type: arrow.BinaryTypes.String, Nullable: true},
	arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}))

func record(t testing.TB, fields []arrow.Field, json string) arrow.RecordBatch {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// one renders the first row and shows the spans as [brackets].
func one(t *testing.T, rec arrow.RecordBatch, opt Options) (string, error) {
	t.Helper()
	r, err := New(rec.Schema(), opt)
	if err != nil {
		return "", err
	}
	text, spans, err := r.Row(rec, 0, []byte("before"), r.NewScratch())
	if err != nil {
		if string(text) != "before" {
			t.Errorf("an error left %q", text)
		}
		return "", err
	}
	out, at := "", 0
	body := strings.TrimPrefix(string(text), "before")
	for _, s := range spans {
		out += body[at:s.From] + "[" + body[s.From:s.To] + "]"
		at = s.To
	}
	return out + body[at:], nil
}

func TestRowMarksWhatTheAssistantWrote(t *testing.T) {
	list := []arrow.Field{{Name: "messages", Type: messageType, Nullable: true}}
	text := []arrow.Field{{Name: "conversations", Type: arrow.BinaryTypes.LargeString, Nullable: true}}
	two := `[{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"é"},{"role":"user","content":"b"},{"role":"assistant","content":"a"}]}]`
	think := `[{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"hm</think>a"},{"role":"user","content":"b"},{"role":"assistant","content":"x</think>y"}]}]`
	for _, c := range []struct {
		name, json, template, want string
		fields                     []arrow.Field
	}{
		{"prefix", two, plainTemplate, "<user>a<end>\n<assistant>[é<end>\n]<user>b<end>\n<assistant>[a<end>\n]", list},
		{"generation", two, genTemplate, "<user>a<end><assistant>[é<end>]<user>b<end><assistant>[a<end>]", list},
		{"mark", think, forgets, "<user>a<end>\n<assistant>[a<end>\n]<user>b<end>\n<assistant>[x</think>y<end>\n]", list},
		{"json", `[{"conversations":"[{\"from\":\"human\",\"value\":\"q\"},{\"from\":\"gpt\",\"value\":\"r\"}]"}]`, plainTemplate,
			"<user>q<end>\n<assistant>[r<end>\n]", text},
		{"empty", `[{"messages":[]}]`, plainTemplate, "", list},
		{"reasoning", `[{"conversations":"[{\"role\":\"assistant\",\"reasoning\":\"r\"}]"}]`,
			"{% for m in messages %}{% generation %}{{ m }}{% endgeneration %}{% endfor %}",
			"[{'thinking': 'r', 'role': 'assistant', 'reasoning': 'r', 'reasoning_content': 'r'}]", text},
	} {
		got, err := one(t, record(t, c.fields, c.json), Options{Kind: Chat, Template: c.template})
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
}

func TestColumnsBesideTheConversation(t *testing.T) {
	rec := record(t, []arrow.Field{
		{Name: "messages", Type: messageType, Nullable: true},
		{Name: "tools", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "sys", Type: arrow.BinaryTypes.String, Nullable: true},
	}, `[{"messages":[{"role":"user","content":"a","n":3}],"tools":"[{\"name\":\"f\"}]","sys":"S"}]`)
	opt := Options{Kind: Chat, System: "sys", Template: "{{ bos_token }}{{ tools|tojson }}{{ messages }}",
		Variables: []jinja.Var{{Name: "bos_token", Value: jinja.Str("<s>")}}}
	got, err := one(t, rec, opt)
	want := `<s>[{"name": "f"}][{'role': 'system', 'content': 'S'}, {'role': 'user', 'content': 'a', 'n': 3}]`
	if err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestNullFieldsAreNoneOrLeftOut(t *testing.T) {
	rec := record(t, []arrow.Field{{Name: "messages", Type: messageType, Nullable: true}}, `[{"messages":[{"role":"user","content":"a"}]}]`)
	for drop, want := range map[bool]string{false: "{'role': 'user', 'content': 'a', 'n': None}", true: "{'role': 'user', 'content': 'a'}"} {
		if got, err := one(t, rec, Options{Kind: Chat, Template: "{{ messages[0] }}", DropNulls: drop}); err != nil || got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

func TestAlpacaHasTwoPrompts(t *testing.T) {
	fields := []arrow.Field{{Name: "instruction", Type: arrow.BinaryTypes.String}, {Name: "input", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "output", Type: arrow.BinaryTypes.String}}
	for in, want := range map[string]string{
		`[{"instruction":"I","input":null,"output":"O"}]`: "Below is an instruction that describes a task. Write a response that appropriately completes the request.\n\n### Instruction:\nI\n\n### Response:\n[O]",
		`[{"instruction":"I","input":"X","output":"O"}]`: "Below is an instruction that describes a task, paired with an input that provides further context. " +
			"Write a response that appropriately completes the request.\n\n### Instruction:\nI\n\n### Input:\nX\n\n### Response:\n[O]",
	} {
		if got, err := one(t, record(t, fields, in), Options{Kind: Alpaca}); err != nil || got != want {
			t.Errorf("%v\n got %q\nwant %q", err, got, want)
		}
	}
}

func TestPlainTextIsAllTheAssistants(t *testing.T) {
	rec := record(t, []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, `[{"text":"hello"}]`)
	if got, err := one(t, rec, Options{Kind: Plain}); err != nil || got != "[hello]" {
		t.Errorf("%q %v", got, err)
	}
}

func TestBrokenTextIsReplacedAsPythonDoes(t *testing.T) {
	for in, want := range map[string]string{"a\xffb": "a\ufffdb", "\xe4\xbd": "\ufffd", "\xed\xa0\x80": "\ufffd\ufffd\ufffd", "\xf0\x9f\x98x": "\ufffdx", "\xe4\xbd\xa0": "你"} {
		if got := valid(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestErrorsNameThePlaceAndTheWayOut(t *testing.T) {
	list := []arrow.Field{{Name: "messages", Type: messageType, Nullable: true}}
	text := []arrow.Field{{Name: "messages", Type: arrow.BinaryTypes.String, Nullable: true}}
	user := `[{"messages":[{"role":"user","content":"a"}]}]`
	for _, c := range []struct {
		json   string
		fields []arrow.Field
		opt    Options
		kind   error
		want   string
	}{
		{user, list, Options{Kind: Chat, Column: "chats", Template: "x"}, format.ErrUsage, `chat: there is no column "chats"; there are messages`},
		{user, list, Options{Kind: Chat}, format.ErrUsage, "chat: a conversation needs a template: a .jinja file, or a tokenizer_config.json that has a chat_template"},
		{user, list, Options{Kind: "qa"}, format.ErrUsage, `chat: there is no kind "qa"; there are chat, alpaca and text`},
		{user, list, Options{Kind: Plain, Column: "messages"}, format.ErrUsage, `chat: column "messages" is list<item: struct<role: utf8 nullable, content: utf8 nullable, n: int32 nullable>, nullable>; it must be text`},
		{user, list, Options{Kind: Chat, Template: "{% if"}, format.ErrUsage, "chat: template line 1, column 6: unexpected 'end of template'\n  {% if\n       ^"},
		{user, list, Options{Kind: Chat, Template: "{{ strftime_now('%Y') }}"}, format.ErrUsage, "chat: the template writes the date (strftime_now); give the date that it shall write"},
		{user, list, Options{Kind: Chat, Template: "{{ raise_exception('no') }}"}, format.ErrData, "chat: column \"messages\": template line 1, column 19: the template says: no\n  {{ raise_exception('no') }}\n                    ^"},
		{`[{"messages":null}]`, list, Options{Kind: Chat, Template: "x"}, format.ErrData, `chat: column "messages": the conversation is not a list of messages`},
		{`[{"messages":"[1"}]`, text, Options{Kind: Chat, Template: "x"}, format.ErrData, `chat: column "messages": JSON, byte 2: expected ',' or ']'`},
		{`[{"messages":"[1]"}]`, text, Options{Kind: Chat, Template: "x"}, format.ErrData, `chat: column "messages": message 1 is not a dictionary with role and content`},
		{`[{"messages":"[{\"role\":\"assistant\",\"tool_calls\":[1]},{\"role\":\"user\",\"content\":\"\"}]"}]`, text,
			Options{Kind: Chat, Template: "{{ messages|length }}"}, format.ErrData, "chat: column \"messages\": message 1, the assistant's, cannot be found in the text: " +
				"the template writes earlier turns in another way once later ones follow; put {% generation %} and {% endgeneration %} around what it writes for the assistant, or train on all of the text"},
	} {
		_, err := one(t, record(t, c.fields, c.json), c.opt)
		if err == nil || !errors.Is(err, c.kind) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestReadTemplatePicksByName(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("tokenizer_config.json", `{"bos_token":{"content":"<s>"},"eos_token":"</s>","pad_token":null,
		"chat_template":[{"name":"default","template":"D"},{"name":"rag","template":"R"}]}`)
	for name, want := range map[string]string{"": "D", "rag": "R"} {
		text, vars, err := ReadTemplate(config, name)
		if err != nil || text != want || len(vars) != 2 || vars[0].Name != "bos_token" || vars[1].Name != "eos_token" {
			t.Errorf("%q %v %v", text, vars, err)
		}
	}
	if _, _, err := ReadTemplate(config, "x"); !errors.Is(err, format.ErrUsage) || !strings.HasSuffix(err.Error(), `there is no chat template "x"; there are default, rag`) {
		t.Errorf("%v", err)
	}
	if text, vars, err := ReadTemplate(write("t.jinja", "J"), ""); err != nil || text != "J" || len(vars) != 2 {
		t.Errorf("%q %v %v", text, vars, err)
	}
}

func BenchmarkRow(b *testing.B) {
	json := `[{"messages":[{"role":"system","content":"You are helpful."},{"role":"user","content":"What is 2+2? Explain."},{"role":"assistant","content":"` +
		strings.Repeat("Four, because two and two make four. ", 10) + `"},{"role":"user","content":"Thanks"},{"role":"assistant","content":"Welcome"}]}]`
	rec := record(b, []arrow.Field{{Name: "messages", Type: messageType, Nullable: true}}, json)
	for name, tmpl := range map[string]string{"prefix": plainTemplate, "generation": genTemplate} {
		b.Run(name, func(b *testing.B) {
			r, err := New(rec.Schema(), Options{Kind: Chat, Template: tmpl, Now: time.Unix(0, 0)})
			if err != nil {
				b.Fatal(err)
			}
			s := r.NewScratch()
			var text []byte
			for b.Loop() {
				if text, _, err = r.Row(rec, 0, text[:0], s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
