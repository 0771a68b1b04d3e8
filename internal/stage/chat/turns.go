package chat

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/jinja"
)

func (r *Renderer) chatRow(rec arrow.RecordBatch, row int, dst []byte, s *Scratch) ([]byte, []Span, error) {
	turns, err := r.messages(rec, row, s)
	if err != nil {
		return dst, nil, err
	}
	tools, err := r.toolsOf(rec, row, s)
	if err != nil {
		return dst, nil, err
	}
	s.vars = append(s.vars[:0],
		jinja.Var{Name: "messages"}, jinja.Var{Name: "add_generation_prompt", Value: jinja.Bool(false)},
		jinja.Var{Name: "tools", Value: tools}, jinja.Var{Name: "documents", Value: jinja.None()})
	s.vars = append(s.vars, r.opt.Variables...)
	from := len(dst)
	text, spans, err := s.render(dst, turns, false)
	if err != nil || r.opt.NoSpans {
		return text, nil, err
	}
	if r.tmpl.HasGeneration() {
		return text, spans, nil
	}
	if err := r.find(string(text[from:]), turns, s); err != nil {
		return dst, nil, err
	}
	return text, s.spans, nil
}

func (s *Scratch) render(dst []byte, turns []jinja.Value, prompt bool) ([]byte, []Span, error) {
	s.vars[0].Value = jinja.List(turns)
	s.vars[1].Value = jinja.Bool(prompt)
	return s.r.Render(dst, s.vars)
}

// messages is the row's conversation, with the system text in front and the
// names of fields that templates know.
func (r *Renderer) messages(rec arrow.RecordBatch, row int, s *Scratch) ([]jinja.Value, error) {
	v, err := r.nested(rec.Column(r.main), row, s)
	if err != nil {
		return nil, err
	}
	items, ok := v.Items()
	if !ok {
		return nil, fmt.Errorf("the conversation is not a list of messages")
	}
	out := s.values.take(len(items) + 1)
	for i, m := range items {
		if _, _, ok := m.Fields(); !ok {
			return nil, fmt.Errorf("message %d is not a dictionary with role and content", i+1)
		}
		out[i+1] = known(m)
	}
	if r.system < 0 || rec.Column(r.system).IsNull(row) {
		return out[1:], nil
	}
	if len(items) > 0 && roleOf(out[1]) == "system" {
		return out[1:], nil
	}
	text := textAt(rec.Column(r.system), row)
	if text == "" {
		return out[1:], nil
	}
	out[0] = jinja.Dict([]string{"role", "content"}, []jinja.Value{jinja.Str("system"), jinja.Str(text)})
	return out, nil
}

// nested is a column's value, read from JSON where it is text.
func (r *Renderer) nested(col arrow.Array, row int, s *Scratch) (jinja.Value, error) {
	if isText(col.DataType()) && !col.IsNull(row) {
		return jinja.ParseJSON(textAt(col, row))
	}
	return s.values.value(col, row, r.opt.DropNulls)
}

// toolsOf is what the row's tools column holds; items that are JSON text are
// read.
func (r *Renderer) toolsOf(rec arrow.RecordBatch, row int, s *Scratch) (jinja.Value, error) {
	if r.tools < 0 {
		return jinja.None(), nil
	}
	col := rec.Column(r.tools)
	if isText(col.DataType()) && textAt(col, row) == "" {
		return jinja.None(), nil
	}
	v, err := r.nested(col, row, s)
	if err != nil {
		return v, fmt.Errorf("column %q: %w", r.schema.Field(r.tools).Name, err)
	}
	items, _ := v.Items()
	for i, x := range items {
		text, ok := x.Text()
		if !ok {
			continue
		}
		if items[i], err = jinja.ParseJSON(text); err != nil {
			return v, fmt.Errorf("column %q: item %d: %w", r.schema.Field(r.tools).Name, i+1, err)
		}
	}
	return v, nil
}

func roleOf(m jinja.Value) string {
	v, _ := m.Field("role")
	role, _ := v.Text()
	return role
}

// shareGPT are the roles of conversations with from and value.
var shareGPT = map[string]string{
	"human": "user", "gpt": "assistant", "chatgpt": "assistant", "bard": "assistant", "bing": "assistant", "model": "assistant",
	"observation": "tool",
}

// known gives a message the fields that templates ask for: role and content
// for from and value; and as transformers does, a reasoning under whichever
// name it came also as reasoning_content and thinking.
func known(m jinja.Value) jinja.Value {
	names, vals, _ := m.Fields()
	_, hasRole := m.Field("role")
	from, hasFrom := m.Field("from")
	if _, ok := m.Field("value"); ok && hasFrom && !hasRole {
		names, vals = append([]string(nil), names...), append([]jinja.Value(nil), vals...)
		for i, n := range names {
			switch n {
			case "from":
				names[i] = "role"
				if role, ok := from.Text(); ok && shareGPT[role] != "" {
					vals[i] = jinja.Str(shareGPT[role])
				}
			case "value":
				names[i] = "content"
			}
		}
		m = jinja.Dict(names, vals)
	}
	for _, n := range [...]string{"reasoning_content", "thinking", "reasoning"} {
		if v, ok := m.Field(n); ok && !v.IsNone() {
			return withReasoning(m, v)
		}
	}
	return m
}

func withReasoning(m, reasoning jinja.Value) jinja.Value {
	names, vals, _ := m.Fields()
	first := reasoning
	if v, ok := m.Field("thinking"); ok {
		first = v
	}
	outN, outV := []string{"thinking"}, []jinja.Value{first}
	seen := false
	for i, n := range names {
		switch n {
		case "thinking":
			continue
		case "reasoning_content":
			seen = true
			outV = append(outV, reasoning)
		default:
			outV = append(outV, vals[i])
		}
		outN = append(outN, n)
	}
	if !seen {
		outN, outV = append(outN, "reasoning_content"), append(outV, reasoning)
	}
	return jinja.Dict(outN, outV)
}
