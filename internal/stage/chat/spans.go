package chat

import (
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/jinja"
)

// find fills s.spans with what the assistant wrote in text, for templates
// that do not mark it.
func (r *Renderer) find(text string, turns []jinja.Value, s *Scratch) error {
	if r.byPrefix(text, turns, s) {
		return nil
	}
	return r.byMark(text, turns, s)
}

// byPrefix takes each turn as what rendering one message more adds; false
// where the text so far is not the beginning of the whole.
func (r *Renderer) byPrefix(text string, turns []jinja.Value, s *Scratch) bool {
	s.spans = s.spans[:0]
	for i, m := range turns {
		if roleOf(m) != "assistant" {
			continue
		}
		var err error
		s.probe, _, err = s.render(s.probe[:0], turns[:i], true)
		if err != nil || !strings.HasPrefix(text, string(s.probe)) {
			return false
		}
		span := Span{From: len(s.probe), To: len(text)}
		if i+1 < len(turns) {
			s.probe, _, err = s.render(s.probe[:0], turns[:i+1], false)
			if err != nil || !strings.HasPrefix(text, string(s.probe)) {
				return false
			}
			span.To = len(s.probe)
		}
		if span.To < span.From {
			return false
		}
		s.spans = append(s.spans, span)
	}
	return true
}

// mark stands for a turn's content where its place in the text is looked for.
const mark = "\uf8f0weir\uf8f1mark\uf8f2"

// byMark finds each turn as the part of the text that changes with its
// content, and what ends the last turn behind it.
func (r *Renderer) byMark(text string, turns []jinja.Value, s *Scratch) error {
	s.spans = s.spans[:0]
	end := ""
	for i := len(turns) - 1; i >= 0; i-- {
		m := turns[i]
		if roleOf(m) != "assistant" {
			continue
		}
		span, ok := r.marked(text, turns, i, s)
		if !ok {
			return fmt.Errorf("message %d, the assistant's, cannot be found in the text: the template writes earlier turns in another way once later ones follow; "+
				"put {%% generation %%} and {%% endgeneration %%} around what it writes for the assistant, or train on all of the text", i+1)
		}
		if end == "" {
			end = r.ending(text, turns, i, span, s)
		}
		if strings.HasPrefix(text[span.To:], end) {
			span.To += len(end)
		}
		s.spans = append(s.spans, span)
	}
	for i, j := 0, len(s.spans)-1; i < j; i, j = i+1, j-1 {
		s.spans[i], s.spans[j] = s.spans[j], s.spans[i]
	}
	for i := 1; i < len(s.spans); i++ {
		if s.spans[i].From < s.spans[i-1].To {
			return fmt.Errorf("the assistant's messages overlap in the text; put {%% generation %%} and {%% endgeneration %%} around what the template writes for the assistant")
		}
	}
	return nil
}

// marked is where turn i's content stands.
func (r *Renderer) marked(text string, turns []jinja.Value, i int, s *Scratch) (Span, bool) {
	names, vals, _ := turns[i].Fields()
	var outN []string
	var outV []jinja.Value
	for k, n := range names {
		v := vals[k]
		switch n {
		case "tool_calls", "function_call":
			if items, ok := v.Items(); !v.IsNone() && (!ok || len(items) > 0) {
				return Span{}, false
			}
		case "content":
			if _, ok := v.Text(); !ok {
				return Span{}, false
			}
			v = jinja.Str(mark)
		}
		outN, outV = append(outN, n), append(outV, v)
	}
	kept := turns[i]
	turns[i] = jinja.Dict(outN, outV)
	probe, _, err := s.render(s.probe[:0], turns, false)
	turns[i] = kept
	if err != nil {
		return Span{}, false
	}
	s.probe = probe
	before, after, ok := strings.Cut(string(probe), mark)
	if !ok || strings.Contains(after, mark) {
		return Span{}, false
	}
	from := 0
	for from < min(len(before), len(text)) && before[from] == text[from] {
		from++
	}
	back := 0
	for back < min(len(after), len(text)-from) && after[len(after)-1-back] == text[len(text)-1-back] {
		back++
	}
	return Span{From: charStart(text, from), To: charStart(text, len(text)-back)}, true
}

// charStart moves back to where a character begins.
func charStart(text string, i int) int {
	for i > 0 && i < len(text) && text[i]&0xc0 == 0x80 {
		i--
	}
	return i
}

// ending is what the template writes behind the content of a turn that is
// the last: the end of the turn.
func (r *Renderer) ending(text string, turns []jinja.Value, i int, span Span, s *Scratch) string {
	if i == len(turns)-1 {
		return text[span.To:]
	}
	short, _, err := s.render(nil, turns[:i+1], false)
	if err != nil {
		return ""
	}
	span, ok := r.marked(string(short), turns[:i+1], i, s)
	if !ok {
		return ""
	}
	return string(short[span.To:])
}
