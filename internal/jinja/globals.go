package jinja

import (
	"fmt"
	"strings"
	"time"
)

// maxRange is the longest range() of Jinja's sandbox.
const maxRange = 100000

// globals are the functions that templates see without being given them.
func globals() map[string]Value {
	m := map[string]Value{}
	raw := func(name string, fn func(s *state, args []Value, kw []named) Value) {
		m[name] = Value{kind: funcKind, obj: &bound{fn: &builtin{name: name, raw: fn}}}
	}
	raw("range", rangeOf)
	raw("dict", func(s *state, args []Value, kw []named) Value { return dictOf(s.newDict(args, kw)) })
	raw("namespace", func(s *state, args []Value, kw []named) Value {
		d := s.newDict(args, kw)
		for i := range d.len() {
			if k := d.key(i); k.kind == strKind && strings.HasPrefix(k.str, "_") {
				s.fail("a namespace cannot have the attribute %s: it begins with an underscore", reprStr(k.str))
			}
		}
		return Value{kind: spaceKind, obj: &namespace{d: *d}}
	})
	raw("cycler", func(s *state, args []Value, _ []named) Value {
		if len(args) == 0 {
			s.fail("at least one item has to be provided")
		}
		return Value{kind: cyclerKind, obj: &cycler{items: args}}
	})
	one := func(name, params string, need int, fn func(s *state, a []Value) Value) {
		m[name] = Value{kind: funcKind, obj: &bound{fn: def(name, params, need, fn)}}
	}
	one("joiner", "sep", 0, func(_ *state, a []Value) Value {
		sep := Str(", ")
		if a[0].given() {
			sep = a[0]
		}
		return Value{kind: joinerKind, obj: &joiner{sep: sep}}
	})
	one("raise_exception", "message", 1, func(s *state, a []Value) Value {
		e := s.t.failure(s.pos, "the template says: "+s.str(a[0]))
		e.Raised = true
		panic(e)
	})
	one("strftime_now", "format", 1, func(s *state, a []Value) Value { return Str(s.strftime(s.text(a[0]), s.t.opt.Now)) })
	raw("lipsum", func(s *state, _ []Value, _ []named) Value {
		s.fail("the function 'lipsum' is not supported: its text is random")
		return Value{}
	})
	return m
}

func rangeOf(s *state, args []Value, kw []named) Value {
	if len(args) < 1 || len(args) > 3 || len(kw) > 0 {
		s.fail("range() takes one to three arguments")
	}
	r := &span{0, s.whole(args[0], 0), 1}
	if len(args) > 1 {
		r.start, r.stop = r.stop, s.whole(args[1], 0)
	}
	if len(args) > 2 {
		r.step = s.whole(args[2], 1)
	}
	if r.step == 0 {
		s.fail("range() arg 3 must not be zero")
	}
	const far = 1 << 60
	if max(abs(r.start), abs(r.stop), abs(r.step)) > far {
		s.fail("the range reaches too far")
	}
	if r.len() > maxRange {
		s.fail("Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return Value{kind: rangeKind, obj: r}
}

func (s *state) newDict(args []Value, kw []named) *dict {
	d := &dict{}
	if len(args) > 1 {
		s.fail("dict expected at most 1 argument, got %d", len(args))
	}
	if len(args) == 1 {
		switch v := args[0]; v.kind {
		case dictKind:
			d = s.copyDict(v.dict())
		case undefinedKind:
			s.fail("%s", undefinedText(v))
		default:
			c := s.iterate(v)
			for x, ok := c.next(s); ok; x, ok = c.next(s) {
				s.tick()
				pair := s.collect(x)
				if len(pair) != 2 {
					s.fail("dictionary update sequence element has length %d; 2 is required", len(pair))
				}
				s.hashable(pair[0])
				d.put(pair[0], pair[1])
			}
		}
	}
	for _, k := range kw {
		d.put(Str(k.name), k.v)
	}
	return d
}

type joiner struct {
	sep  Value
	used bool
}

func (j *joiner) call() Value {
	if !j.used {
		j.used = true
		return Str("")
	}
	return j.sep
}

type cycler struct {
	items []Value
	at    int
}

func (c *cycler) next() Value {
	v := c.items[c.at]
	c.at = (c.at + 1) % len(c.items)
	return v
}

func (c *cycler) attr(name string) (Value, bool) {
	if name == "current" {
		return c.items[c.at], true
	}
	return Value{}, false
}

// strftime is Python's, in the C locale.
func (s *state) strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		bare := false
		if format[i] == '-' && i+1 < len(format) {
			bare = true
			i++
		}
		text, ok := strftimeOne(format[i], t)
		if !ok {
			s.fail("strftime_now: the directive %%%c is not supported", format[i])
		}
		if bare {
			text = strings.TrimLeft(text, "0 ")
			if text == "" {
				text = "0"
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// layouts are strftime's directives as Go writes them.
var layouts = map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'm': "01",
	'y': "06", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04",
	'D': "01/02/06", 'x': "01/02/06", 'X': "15:04:05", 'c': "Mon Jan _2 15:04:05 2006"}

func strftimeOne(c byte, t time.Time) (string, bool) {
	if l, ok := layouts[c]; ok {
		return t.Format(l), true
	}
	switch c {
	case '%':
		return "%", true
	case 'Y':
		return fmt.Sprint(t.Year()), true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'z', 'Z': // the clock has no zone
		return "", true
	}
	return "", false
}
