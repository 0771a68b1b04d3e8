package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

const (
	fileMagic    = "ARROW1"
	featherMagic = "FEA1"
	// fileHead is the magic and what fills it up to a multiple of 8.
	fileHead = 8
	// fileTail is the length of the footer and the magic again.
	fileTail = 4 + int64(len(fileMagic))
)

// file is an open file, or a stream that lies in one.
type file struct {
	name   string
	r      direct
	peek   peeker
	schema *schema

	// One or the other: where the messages of a stream begin behind the
	// schema, or the footer that says where they are.
	first   int64
	footer  []byte
	dicts   vector
	batches vector
}

// open finds out what an object is and reads its schema.
func open(ctx context.Context, src store.Store, o store.Object, waits *stream.Waits) (*file, error) {
	r, err := src.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	f := &file{name: o.URL, r: direct{r, waits}}
	f.peek.r = f.r
	if err := f.describe(ctx); err != nil {
		r.Close()
		return nil, inFile(o.URL, err)
	}
	// The first bytes are not read again; saying so tells a store that drops
	// what was read to read nothing ahead by itself.
	r.Drop(0, 1)
	return f, nil
}

func (f *file) describe(ctx context.Context) error {
	head, err := f.peek.bytes(ctx, 0, int(min(fileHead, f.r.Size())))
	switch {
	case err != nil:
		return err
	case len(head) == 0:
		return damaged("the file is empty: %w", io.ErrUnexpectedEOF)
	case bytes.HasPrefix(head, []byte(featherMagic)):
		return damaged("Feather version 1 is not read; pyarrow.feather.write_feather(pyarrow.feather.read_table(path), path) makes it version 2")
	case bytes.HasPrefix(head, []byte(fileMagic)):
		return f.readFooter(ctx)
	}
	var m message
	if err := f.peek.message(ctx, 0, &m); err != nil {
		if errors.Is(err, io.EOF) {
			return damaged("the stream has no schema")
		}
		return err
	}
	if m.kind != schemaMessage {
		return damaged("the stream does not begin with a schema")
	}
	f.first = m.end()
	f.schema, err = parseSchema(m.head)
	return err
}

// readFooter reads the schema of a file and where its messages are.
func (f *file) readFooter(ctx context.Context) error {
	var tail [fileTail]byte
	at := f.r.Size() - fileTail
	if at < fileHead {
		return damaged("the file ends before its footer: %w", io.ErrUnexpectedEOF)
	}
	if err := f.r.ReadAt(ctx, tail[:], at); err != nil {
		return err
	}
	if string(tail[4:]) != fileMagic {
		return damaged("there is no footer; the file was cut or never closed: %w", io.ErrUnexpectedEOF)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n == 0 || n > metaMost || n > at-fileHead {
		return damaged("a footer of %d bytes", n)
	}
	f.footer = make([]byte, n)
	if err := f.r.ReadAt(ctx, f.footer, at-n); err != nil {
		return err
	}
	fl := &flat{b: f.footer}
	t := fl.root()
	f.dicts, f.batches = t.vector(2, blockSize), t.vector(3, blockSize)
	s := t.table(1)
	if fl.bad || !s.there() {
		return damaged("the footer is damaged")
	}
	var err error
	f.schema, err = parseSchema(s)
	return err
}

// blockSize is a footer's entry: offset, length of the metadata, of the body.
const blockSize = 24

// walk visits all messages that hold data, in their order; for files the
// dictionaries first. The message is valid until visit returns or reads
// another one.
func (f *file) walk(ctx context.Context, visit func(at int64, m *message) error) error {
	if f.footer == nil {
		return f.hop(ctx, visit)
	}
	for _, list := range []struct {
		vector
		kind byte
	}{{f.dicts, dictMessage}, {f.batches, batchMessage}} {
		for i := range list.n {
			at := list.int64(i, 0)
			if at < fileHead || at >= f.r.Size() {
				return damaged("the footer points to byte %d", at)
			}
			var m message
			err := f.peek.message(ctx, at, &m)
			if err == nil && m.kind != list.kind || errors.Is(err, io.EOF) {
				err = damaged("the footer points to byte %d, where something else is", at)
			}
			if err == nil {
				err = visit(at, &m)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// hop goes from message to message. A stream may end without saying so.
func (f *file) hop(ctx context.Context, visit func(at int64, m *message) error) error {
	for at := f.first; ; {
		var m message
		err := f.peek.message(ctx, at, &m)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && m.kind != dictMessage && m.kind != batchMessage {
			err = damaged("the message at byte %d is neither a batch nor a dictionary", at)
		}
		next := m.end()
		if err == nil {
			err = visit(at, &m)
		}
		if err != nil {
			return err
		}
		at = next
	}
}

func (f *file) close() {
	if f != nil {
		f.r.Close()
	}
}
