package jinja

import (
	"fmt"
	"strings"
	"time"
)

// Options bound a render and fix what it would otherwise take from the
// machine. The zero value has the defaults.
type Options struct {
	// Now is the clock of strftime_now, so that a run can be repeated.
	Now time.Time
	// Steps is the most statements, loop turns and calls of one render;
	// 0: 20 million.
	Steps int64
	// Bytes is the most bytes of text that one render makes, those of its
	// intermediate strings and lists as well; 0: 256 MiB.
	Bytes int64
}

// Template is a compiled template. It does not change: any number of
// goroutines may render it at the same time, each with its own Renderer.
type Template struct {
	src        string
	body       []stmt
	fn         *function
	enter      []load
	filters    map[string]*builtin
	tests      map[string]*builtin
	methods    [groupKind + 1]map[string]*builtin
	globals    map[string]Value
	generation bool
	opt        Options
}

// Var is a variable that a template sees.
type Var struct {
	Name  string
	Value Value
}

// Span is a range of bytes of the output.
type Span struct{ From, To int }

// Compile reads a template. Errors are *Error and say where.
func Compile(src string, opt Options) (t *Template, err error) {
	if opt.Steps == 0 {
		opt.Steps = 20e6
	}
	if opt.Bytes == 0 {
		opt.Bytes = 256 << 20
	}
	t = &Template{src: plainNewlines(src), opt: opt, fn: &function{}}
	defer catch(t, &err)
	t.filters, t.tests, t.methods, t.globals = filters(), tests(), methods(), globals()
	l := lexer{src: t.src, fail: t.fail}
	p := parser{toks: l.run(), fail: t.fail}
	t.body = p.body(0)
	t.fn.globals = t.globals
	c := (*scope)(nil).inner(t.fn)
	c.gather(t.body)
	k := linker{t: t}
	k.body(c, t.body)
	t.enter = c.entry()
	return t, nil
}

// HasGeneration says whether the template marks what the assistant wrote
// with {% generation %}.
func (t *Template) HasGeneration() bool { return t.generation }

// Renderer renders a template again and again, with memory that it keeps.
// One goroutine uses it at a time.
type Renderer struct{ s state }

// NewRenderer makes a renderer of the template.
func (t *Template) NewRenderer() *Renderer {
	return &Renderer{s: state{t: t, root: frame{vars: make([]Value, t.fn.slots)}}}
}

// Render appends the template's text with these variables to dst. spans are
// what {% generation %} blocks wrote, in bytes of the text appended; they
// are valid until the next call. Errors are *Error; dst then comes back as
// it was given.
func (r *Renderer) Render(dst []byte, vars []Var) (text []byte, spans []Span, err error) {
	s := &r.s
	s.out, s.base, s.vars = dst, len(dst), vars
	s.spans, s.args = s.spans[:0], s.args[:0]
	s.steps, s.bytes, s.depth, s.marks = s.t.opt.Steps, s.t.opt.Bytes, 0, 0
	given := dst
	defer func() {
		if err != nil {
			text, spans = given, nil
		}
		s.out, s.vars = nil, nil
	}()
	defer catch(s.t, &err)
	s.enter(&s.root, s.t.enter)
	s.run(s.t.body, &s.root)
	return s.out, s.spans, nil
}

// Error is a template that cannot be compiled or run, and where.
type Error struct {
	Line, Column int    // from 1; columns are characters
	Text         string // the cause
	Source       string // the line itself, or the part of it around the place
	// Raised says that the template itself refused its input with
	// raise_exception.
	Raised bool

	caret int // characters of Source before the place
}

func (e *Error) Error() string {
	return fmt.Sprintf("template line %d, column %d: %s\n  %s\n  %s^", e.Line, e.Column, e.Text, e.Source,
		strings.Map(func(r rune) rune {
			if r == '\t' {
				return '\t'
			}
			return ' '
		}, firstChars(e.Source, e.caret)))
}

func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// fail ends Compile or Render: errors travel up as panics of type *Error,
// which never leave the package.
func (t *Template) fail(pos int, format string, args ...any) {
	panic(t.failure(pos, fmt.Sprintf(format, args...)))
}

func (t *Template) failure(pos int, text string) *Error {
	pos = min(max(pos, 0), len(t.src))
	line := strings.LastIndexByte(t.src[:pos], '\n') + 1
	end := strings.IndexByte(t.src[pos:], '\n')
	if end < 0 {
		end = len(t.src) - pos
	}
	e := &Error{Line: 1 + strings.Count(t.src[:pos], "\n"), Text: text}
	before, after := t.src[line:pos], t.src[pos:pos+end]
	e.Column = 1 + runes(before)
	const around = 60 // a template may be one long line
	before, after = lastChars(before, around), firstChars(after, around)
	e.Source, e.caret = before+after, runes(before)
	return e
}

func lastChars(s string, n int) string {
	skip := runes(s) - n
	if skip <= 0 {
		return s
	}
	return s[len(firstChars(s, skip)):]
}

func catch(t *Template, err *error) {
	switch e := recover().(type) {
	case nil:
	case *Error:
		*err = e
	default:
		panic(e)
	}
}
