package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/store"
)

// A sealed object ends in a line of its own with the hash of all before it, as
// a JSON string: one that was torn or altered is known for that.
const sealBytes = len("\"") + 32 + len("\"\n")

// window is what is read of an object at a time.
const window = 256 << 10

// hasher is a hash in the spelling of seals and listings.
type hasher struct{ *xxh3.Hasher128 }

func newHasher() hasher { return hasher{xxh3.New128()} }

func (h hasher) String() string {
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

// putSealed writes one object and its seal. What fill writes ends in a newline
// or is not text.
func (d *directory) putSealed(ctx context.Context, rel string, fill func(io.Writer) error) error {
	return d.put(ctx, rel, func(w io.Writer) error {
		h := newHasher()
		if err := fill(io.MultiWriter(w, h)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%q\n", h.String())
		return err
	})
}

// writeJSON writes one value and a newline; the same value gives the same
// bytes.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// body is the first bytes of an object, front to back.
type body struct {
	ctx  context.Context
	r    store.Reader
	off  int64
	size int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.off == b.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), b.size-b.off))
	if err := b.r.ReadAt(b.ctx, p[:n], b.off); err != nil {
		return 0, err
	}
	b.off += int64(n)
	return n, nil
}

// read hands an object's first size bytes to use.
func (d *directory) read(ctx context.Context, o store.Object, size int64, use func(io.Reader) error) error {
	r, err := d.Store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	return use(bufio.NewReaderSize(&body{ctx: ctx, r: r, size: size}, window))
}

// readSealed hands what stands before the seal to use once the seal is found
// to be right.
func (d *directory) readSealed(ctx context.Context, o store.Object, use func(io.Reader) error) error {
	size := o.Size - int64(sealBytes)
	if size < 0 {
		return damaged(o.URL, "%d bytes are too few: %w", o.Size, io.ErrUnexpectedEOF)
	}
	var want [sealBytes]byte
	h := newHasher()
	err := d.read(ctx, o, o.Size, func(r io.Reader) error {
		if _, err := io.CopyN(h, r, size); err != nil {
			return err
		}
		_, err := io.ReadFull(r, want[:])
		return err
	})
	if err != nil {
		return err
	}
	if string(want[:]) != fmt.Sprintf("%q\n", h.String()) {
		return damaged(o.URL, "the hash at its end is not that of its content")
	}
	return d.read(ctx, o, size, use)
}

// getSealed reads one JSON value of at most most bytes.
func (d *directory) getSealed(ctx context.Context, o store.Object, most int64, v any) error {
	if o.Size > most {
		return damaged(o.URL, "%d bytes, at most %d can be", o.Size, most)
	}
	return d.readSealed(ctx, o, func(r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			return damaged(o.URL, "%w", err)
		}
		return nil
	})
}
