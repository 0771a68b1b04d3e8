package npy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseLiteral reads what numpy writes into headers: a Python dictionary of
// strings, tuples, lists, whole numbers and truth values. Tuples and lists are
// []any.
func parseLiteral(s string) (any, error) {
	p := &literal{rest: s}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if strings.Trim(p.rest, " \n\x00") != "" {
		return nil, fmt.Errorf("%.20q behind its end", p.rest)
	}
	return v, nil
}

type literal struct{ rest string }

// depthMost is more than any type needs.
const depthMost = 16

func (p *literal) space() { p.rest = strings.TrimLeft(p.rest, " \t\n\r") }

// eat takes c if it comes next.
func (p *literal) eat(c byte) bool {
	p.space()
	if p.rest != "" && p.rest[0] == c {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

func (p *literal) value(depth int) (any, error) {
	if depth > depthMost {
		return nil, errors.New("too deep")
	}
	switch {
	case p.eat('{'):
		return p.dict(depth)
	case p.eat('('):
		return p.list(depth, ')')
	case p.eat('['):
		return p.list(depth, ']')
	case p.eat('\''):
		return p.text('\'')
	case p.eat('"'):
		return p.text('"')
	}
	n := strings.IndexAny(p.rest, ",:)]} \n")
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	switch word {
	case "True":
		return true, nil
	case "False":
		return false, nil
	case "None":
		return nil, nil
	}
	v, err := strconv.ParseInt(strings.TrimSuffix(word, "L"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%.20q is no value", word)
	}
	return v, nil
}

func (p *literal) dict(depth int) (any, error) {
	out := make(map[string]any)
	for !p.eat('}') {
		k, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok || !p.eat(':') {
			return nil, errors.New("a key that is none")
		}
		if out[key], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if !p.eat(',') {
			if !p.eat('}') {
				return nil, errors.New("a dictionary without its end")
			}
			break
		}
	}
	return out, nil
}

func (p *literal) list(depth int, end byte) (any, error) {
	out := []any{}
	for !p.eat(end) {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if !p.eat(',') {
			if !p.eat(end) {
				return nil, errors.New("a list without its end")
			}
			break
		}
	}
	return out, nil
}

// text reads up to the quote. Escapes are those of names only.
func (p *literal) text(quote byte) (any, error) {
	var out strings.Builder
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.rest = p.rest[i+1:]
			return out.String(), nil
		case c == '\\' && i+1 < len(p.rest):
			i++
			out.WriteByte(p.rest[i])
		default:
			out.WriteByte(c)
		}
	}
	return nil, errors.New("a text without its end")
}
