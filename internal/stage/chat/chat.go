// Package chat turns a row into text, and says which bytes of it the
// assistant wrote.
//
// Three kinds of rows are read. Conversations: a column with a list of
// structs (role, content, and whatever else the template asks for), or with
// the same as JSON text; turns in ShareGPT's from and value are taken as role
// and content. Alpaca: the columns instruction, input and output in the two
// prompts of the Alpaca paper's code. Plain: one column of text, which the
// assistant wrote as a whole.
//
// What the assistant wrote is what {% generation %} marks, where a template
// has it. Other templates are rendered once more for every assistant's turn:
// with the messages before it and add_generation_prompt, and with those up to
// it. Where each text begins with the one before, the difference is the turn.
// Templates that write earlier turns in another way once later ones follow
// (those that drop old reasoning) are rendered with a mark in place of each
// assistant's content instead: the part of the text that changes with it is
// the turn, with the text that ends the last turn where that follows. Turns
// with tool calls cannot be found so. A row where neither works is an error
// that names the way out.
package chat

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/jinja"
)

// Kind is the shape of the rows.
type Kind string

const (
	// Chat rows have a conversation.
	Chat Kind = "chat"
	// Alpaca rows have instruction, input and output.
	Alpaca Kind = "alpaca"
	// Plain rows have text.
	Plain Kind = "text"
)

// Options say where the text comes from. Columns left empty have the names
// that people use.
type Options struct {
	Kind   Kind
	Column string // of the conversation (messages, conversations) or the text (text)
	Tools  string // column of tools, as a list of structs or JSON; "" : none, or "tools" where there is one
	System string // column of a system text, put before the conversation; "": none

	Template  string      // Jinja text, for Chat; see ReadTemplate
	Variables []jinja.Var // bos_token and the like; see ReadTemplate
	Now       time.Time   // clock of strftime_now
	DropNulls bool        // fields that are null are left out of messages and tools, not None
	NoSpans   bool        // spans are not wanted: templates are rendered once
}

// Span is a range of bytes of the text that the assistant wrote.
type Span = jinja.Span

// Renderer makes text of rows of one schema. It does not change: Scratch
// has what a goroutine needs of its own.
type Renderer struct {
	opt    Options
	tmpl   *jinja.Template
	schema *arrow.Schema
	main   int // column of the conversation or text
	tools  int // -1: none
	system int
	alpaca [3]int
}

// Scratch is the memory of one goroutine.
type Scratch struct {
	r      *jinja.Renderer
	vars   []jinja.Var
	probe  []byte
	spans  []Span
	values arena
}

// NewScratch makes the memory of one goroutine.
func (r *Renderer) NewScratch() *Scratch {
	s := &Scratch{}
	if r.tmpl != nil {
		s.r = r.tmpl.NewRenderer()
	}
	return s
}

// New checks the options against the schema. Errors are format.ErrUsage:
// columns that are not there or of a type that holds no text, a template that
// cannot be compiled.
func New(schema *arrow.Schema, opt Options) (*Renderer, error) {
	r := &Renderer{opt: opt, schema: schema, tools: -1, system: -1}
	var err error
	switch opt.Kind {
	case Chat:
		err = r.openChat()
	case Alpaca:
		for i, name := range []string{"instruction", "input", "output"} {
			if r.alpaca[i] = r.column(name); r.alpaca[i] < 0 && name != "input" {
				return nil, r.noColumn(name)
			}
		}
	case Plain:
		r.main, err = r.pick(opt.Column, "text", "content")
	default:
		return nil, format.Error(format.ErrUsage, "chat: there is no kind %q; there are chat, alpaca and text", string(opt.Kind))
	}
	if err != nil {
		return nil, err
	}
	if r.opt.Now.IsZero() && strings.Contains(opt.Template, "strftime_now") {
		return nil, format.Error(format.ErrUsage, "chat: the template writes the date (strftime_now); give the date that it shall write")
	}
	return r, r.checkTypes()
}

func (r *Renderer) openChat() error {
	var err error
	if r.main, err = r.pick(r.opt.Column, "messages", "conversations", "conversation"); err != nil {
		return err
	}
	switch {
	case r.opt.Tools != "":
		if r.tools, err = r.pick(r.opt.Tools); err != nil {
			return err
		}
	default:
		r.tools = r.column("tools")
	}
	if r.opt.System != "" {
		if r.system, err = r.pick(r.opt.System); err != nil {
			return err
		}
	}
	if r.opt.Template == "" {
		return format.Error(format.ErrUsage, "chat: a conversation needs a template: a .jinja file, or a tokenizer_config.json that has a chat_template")
	}
	r.tmpl, err = jinja.Compile(r.opt.Template, jinja.Options{Now: r.opt.Now})
	if err != nil {
		return format.Error(format.ErrUsage, "chat: %w", err)
	}
	return nil
}

// column is the place of a column, or -1.
func (r *Renderer) column(name string) int {
	at := r.schema.FieldIndices(name)
	if len(at) == 0 {
		return -1
	}
	return at[0]
}

// pick is the place of the named column, or where no name is given of the
// first of the usual ones.
func (r *Renderer) pick(name string, usual ...string) (int, error) {
	if name != "" {
		usual = []string{name}
	}
	for _, n := range usual {
		if i := r.column(n); i >= 0 {
			return i, nil
		}
	}
	return 0, r.noColumn(usual[0])
}

func (r *Renderer) noColumn(name string) error {
	var have []string
	for _, f := range r.schema.Fields() {
		have = append(have, f.Name)
	}
	return format.Error(format.ErrUsage, "chat: there is no column %q; there are %s", name, strings.Join(have, ", "))
}

func (r *Renderer) checkTypes() error {
	texts := []int{r.main}
	switch r.opt.Kind {
	case Alpaca:
		texts = slices.DeleteFunc(slices.Clone(r.alpaca[:]), func(i int) bool { return i < 0 })
	case Chat:
		texts = texts[:0]
		if r.system >= 0 {
			texts = append(texts, r.system)
		}
		for _, i := range []int{r.main, r.tools} {
			if i >= 0 && !isList(r.schema.Field(i).Type) && !isText(r.schema.Field(i).Type) {
				return format.Error(format.ErrUsage, "chat: column %q is %s; it must be a list of structs, or JSON text",
					r.schema.Field(i).Name, r.schema.Field(i).Type)
			}
		}
	}
	for _, i := range texts {
		if !isText(r.schema.Field(i).Type) {
			return format.Error(format.ErrUsage, "chat: column %q is %s; it must be text", r.schema.Field(i).Name, r.schema.Field(i).Type)
		}
	}
	return nil
}

// Row appends the text of a row to dst. The spans are bytes of that text,
// counted from where it begins; they are valid until the next call with this
// scratch. Errors are format.ErrData, say what is wrong with the row, and
// leave dst as it was.
func (r *Renderer) Row(rec arrow.RecordBatch, row int, dst []byte, s *Scratch) (text []byte, spans []Span, err error) {
	s.values.reset()
	s.spans = s.spans[:0]
	switch r.opt.Kind {
	case Alpaca:
		return r.alpacaRow(rec, row, dst, s)
	case Plain:
		from := len(dst)
		dst = append(dst, textAt(rec.Column(r.main), row)...)
		s.spans = append(s.spans, Span{From: 0, To: len(dst) - from})
		return dst, s.spans, nil
	}
	text, spans, err = r.chatRow(rec, row, dst, s)
	if err != nil {
		var te *jinja.Error
		kind := format.ErrData
		if errors.As(err, &te) {
			err = te
		}
		return dst, nil, format.Error(kind, "chat: column %q: %w", r.schema.Field(r.main).Name, err)
	}
	return text, spans, nil
}
