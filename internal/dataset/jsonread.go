package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/weir-data/weir/internal/mem"
)

// fewBytes is what a value may have without a lease of its own.
const fewBytes = 16 << 10

// jsonReader takes a JSON document apart piece by piece, in the order in which
// it was written. Memory is bounded by the largest piece, which is leased.
type jsonReader struct {
	url string
	in  meter
	d   *json.Decoder
}

func newJSONReader(url string, r io.Reader, share *mem.Budget) *jsonReader {
	j := &jsonReader{url: url, in: meter{r: r, share: share}}
	j.d = json.NewDecoder(&j.in)
	j.d.DisallowUnknownFields()
	return j
}

// close gives the memory back.
func (j *jsonReader) close() { j.in.reset() }

// wrong places an error; the store's own and those of memory stay what they
// are.
func (j *jsonReader) wrong(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(j.in.err, mem.ErrTooSmall):
		return fmt.Errorf("%s: byte %d: %w", j.url, j.d.InputOffset(), j.in.err)
	case j.in.err != nil:
		return j.in.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return damaged(j.url, "it ends too early: %w", io.ErrUnexpectedEOF)
	case errors.As(err, &syntax):
		return damaged(j.url, "byte %d: not JSON: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		return damaged(j.url, "byte %d: %s is not what %q is", j.d.InputOffset(), kind.Value, kind.Field)
	}
	return damaged(j.url, "byte %d: %w", j.d.InputOffset(), err)
}

// delim takes a bracket.
func (j *jsonReader) delim(want json.Delim) error {
	t, err := j.d.Token()
	if err != nil {
		return j.wrong(err)
	}
	if t != want {
		return j.wrong(fmt.Errorf("%.99v instead of %v", t, want))
	}
	return nil
}

// key takes the name of the next member, which must be that.
func (j *jsonReader) key(name string) error {
	t, err := j.d.Token()
	if err != nil {
		return j.wrong(err)
	}
	if t != name {
		return j.wrong(fmt.Errorf("%.99q should be next, there is %.99v", name, t))
	}
	j.in.reset()
	return nil
}

// value takes one into v.
func (j *jsonReader) value(v any) error {
	if err := j.d.Decode(v); err != nil {
		return j.wrong(err)
	}
	j.in.reset()
	return nil
}

// member takes a name and its value.
func (j *jsonReader) member(name string, v any) error {
	if err := j.key(name); err != nil {
		return err
	}
	return j.value(v)
}

// large takes a name and its value, or passes over that.
func (j *jsonReader) large(name string, v any, over bool) error {
	if !over {
		return j.member(name, v)
	}
	if err := j.key(name); err != nil {
		return err
	}
	for depth := 0; ; {
		t, err := j.d.Token()
		if err != nil {
			return j.wrong(err)
		}
		j.in.reset()
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// array hands each element's place to take, which reads it.
func (j *jsonReader) array(take func() error) error {
	if err := j.delim('['); err != nil {
		return err
	}
	for j.d.More() {
		if err := take(); err != nil {
			return err
		}
	}
	return j.delim(']')
}

// end says that nothing follows.
func (j *jsonReader) end() error {
	t, err := j.d.Token()
	if err == io.EOF && j.in.err == nil {
		return nil
	}
	if err != nil {
		return j.wrong(err)
	}
	return j.wrong(fmt.Errorf("%.99v after its end", t))
}

// meter pays for what a decoder holds: the bytes that came since the last value
// was complete, twice since its buffer doubles, and as much again for the
// value made of them.
type meter struct {
	r     io.Reader
	share *mem.Budget
	lease *mem.Lease
	since int64
	err   error // what ended the reading, if it was not the data
}

func (m *meter) reset() {
	m.since = 0
	m.lease.Release()
	m.lease = nil
}

func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.r.Read(p[:min(len(p), fewBytes)])
	if err != nil && err != io.EOF {
		m.err = err
		return n, err
	}
	m.since += int64(n)
	if need := 4 * m.since; m.since > fewBytes && (m.lease == nil || m.lease.Size() < need) {
		m.err = m.grow(2 * need)
		if m.err != nil {
			return 0, m.err
		}
	}
	return n, err
}

func (m *meter) grow(n int64) error {
	m.lease.Release()
	var ok bool
	if m.lease, ok = m.share.TryAcquire(n); !ok {
		return &mem.TooSmallError{Share: "one value of a manifest", Need: n, Limit: m.share.Free()}
	}
	return nil
}
