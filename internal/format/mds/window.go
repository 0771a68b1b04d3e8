package mds

import (
	"context"
	"io"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/input"
)

const (
	windowLeast = 64 << 10
	// windowMost bounds one value of an index: a shard of some hundred
	// thousand columns.
	windowMost = 16 << 20
)

// window is a part of a JSON text that is read from front to back.
type window struct {
	ctx context.Context
	in  *input.Reader
	buf []byte
	at  int // of the next byte in buf
	end int // of what was read
	err error
}

// more reads what fits behind buf[keep:], which moves to the front. It is
// io.EOF at the text's end.
func (w *window) more(keep int) error {
	if w.err != nil {
		return w.err
	}
	copy(w.buf, w.buf[keep:w.end])
	w.at -= keep
	w.end -= keep
	if w.end == len(w.buf) {
		if len(w.buf) >= windowMost {
			return format.Error(format.ErrData, "byte %d: a value of more than %d bytes", w.offset(), windowMost)
		}
		w.buf = append(w.buf, make([]byte, max(windowLeast, len(w.buf)))...)
	}
	n, err := w.in.Fill(w.ctx, w.buf[w.end:])
	w.end += n
	w.err = err
	if n > 0 {
		return nil
	}
	return err
}

// offset is that of the next byte in the text.
func (w *window) offset() int64 { return w.in.At() - int64(w.end-w.at) }

// next is the next byte that is not space, without taking it; 0 at the end.
func (w *window) next() (byte, error) {
	for {
		for w.at < w.end {
			switch c := w.buf[w.at]; c {
			case ' ', '\t', '\r', '\n':
				w.at++
			default:
				return c, nil
			}
		}
		if err := w.more(w.at); err == io.EOF {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// take takes the next byte, which has to be c.
func (w *window) take(c byte) error {
	got, err := w.next()
	if err != nil {
		return err
	}
	if got != c {
		return w.unexpected(string(c), got)
	}
	w.at++
	return nil
}

func (w *window) unexpected(want string, got byte) error {
	if got == 0 {
		return format.Error(format.ErrData, "byte %d: %w", w.offset(), io.ErrUnexpectedEOF)
	}
	return format.Error(format.ErrData, "byte %d: %q where %s should be", w.offset(), got, want)
}

// another says, behind an element of a list that ends with last, whether another
// one follows.
func (w *window) another(last byte) (bool, error) {
	c, err := w.next()
	if err != nil {
		return false, err
	}
	if c != ',' && c != last {
		return false, w.unexpected("a comma or "+string(last), c)
	}
	w.at++
	return c == ',', nil
}

// value takes one value and returns its bytes, which stay where they are until
// the next call. Only its borders are found: whether it is right JSON its
// reader sees.
func (w *window) value() ([]byte, error) {
	first, err := w.next()
	if err != nil {
		return nil, err
	}
	if first == 0 {
		return nil, w.unexpected("a value", 0)
	}
	var s borders
	from := w.at
	for i := from; ; {
		n, done := s.scan(w.buf[i:w.end])
		i += n
		if done {
			w.at = i
			return w.buf[from:i], nil
		}
		w.at = i
		err := w.more(from)
		i, from = w.at, 0
		if err == io.EOF {
			return nil, w.unexpected("a value", 0)
		}
		if err != nil {
			return nil, err
		}
	}
}

// borders finds the end of a value.
type borders struct {
	depth   int
	text    bool // within a string
	escaped bool // behind a backslash
	begun   bool // of a value without brackets or quotes: some of it was seen
}

// scan goes through p; done: the value ends behind its first n bytes.
func (s *borders) scan(p []byte) (n int, done bool) {
	for i := 0; i < len(p); i++ {
		if s.text {
			if s.escaped {
				s.escaped = false
				continue
			}
			for i < len(p) && p[i] != '"' && p[i] != '\\' {
				i++
			}
			if i == len(p) {
				return i, false
			}
			if p[i] == '\\' {
				s.escaped = true
				continue
			}
			s.text = false
			if s.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch p[i] {
		case '"':
			s.text = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
			if s.depth < 0 {
				return i, true
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if s.depth == 0 && s.begun {
				return i, true
			}
		default:
			s.begun = true
		}
	}
	return len(p), false
}
