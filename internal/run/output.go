package run

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/stream"
)

// Writer turns batches into the bytes of one format. Close ends the format,
// not the file below.
type Writer interface {
	Write(*stream.Batch) error
	Close() error
}

// NewWriter begins a file of one format. The writer may call w with small
// pieces: they are collected.
type NewWriter func(w io.Writer, schema *arrow.Schema) (Writer, error)

// outputBuffer is what every output collects before it writes: the size of a
// Linux pipe.
const outputBuffer = 64 << 10

// ErrOutput is wrapped by every error of writing the output, so that a full
// disk is not taken for a fault of the store that is read.
var ErrOutput = errors.New("output")

// Output is the sink that writes to a file, which appears under its name
// whole, when the scan is done, or not at all. A name that is a pipe or a
// device is written straight.
func Output(name string, open NewWriter, schema *arrow.Schema) (Sink, error) {
	f, err := create(name)
	if err != nil {
		return nil, outputError(err)
	}
	return newOutput(f, f, open, schema)
}

// Pipe is the sink that writes to w, which is not closed.
func Pipe(w io.Writer, open NewWriter, schema *arrow.Schema) (Sink, error) {
	return newOutput(w, nil, open, schema)
}

func newOutput(w io.Writer, f *outFile, open NewWriter, schema *arrow.Schema) (Sink, error) {
	o := &output{file: f, buf: bufio.NewWriterSize(w, outputBuffer)}
	var err error
	if o.w, err = open(o.buf, schema); err != nil {
		f.discard()
		return nil, err
	}
	return o, nil
}

type output struct {
	file *outFile // nil for a pipe
	buf  *bufio.Writer
	w    Writer
}

func (o *output) Write(b *stream.Batch) error { return outputError(o.w.Write(b)) }

func (o *output) Close() error {
	err := o.w.Close()
	if err == nil {
		err = o.buf.Flush()
	}
	if err != nil {
		o.file.discard()
		return outputError(err)
	}
	return outputError(o.file.commit())
}

func (o *output) Abort() { o.file.discard() }

func outputError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrOutput, err)
}

// outFile is a file that is not yet there under its name; temp is "" for one
// that is written straight. A nil one has nothing to commit or discard.
type outFile struct {
	*os.File
	temp, name string
}

func create(name string) (*outFile, error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &outFile{File: f, name: name}, nil
	}
	dir, base := filepath.Split(name)
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%s.tmp", base, rand.Text()[:8]))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) { // name the file that was asked for
			err = fmt.Errorf("%s: %w", name, path.Err)
		}
		return nil, err
	}
	return &outFile{File: f, temp: temp, name: name}, nil
}

// commit makes the file durable and gives it its name.
func (f *outFile) commit() error {
	if f == nil {
		return nil
	}
	var err error
	if f.temp != "" {
		err = f.Sync()
	}
	if e := f.File.Close(); err == nil {
		err = e
	}
	if err == nil && f.temp != "" {
		err = os.Rename(f.temp, f.name)
	}
	if err != nil && f.temp != "" {
		os.Remove(f.temp)
	}
	return err
}

// discard leaves nothing behind, as far as that can be undone.
func (f *outFile) discard() {
	if f == nil {
		return
	}
	f.File.Close()
	if f.temp != "" {
		os.Remove(f.temp)
	}
}
