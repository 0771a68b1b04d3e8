package records

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// words is a format for tests: a row a line; lines that begin with "bad" are.
type words struct{ b *build.Batch }

func (w *words) Parse(p *Piece) error {
	for p.At < len(p.Data) && !w.b.Full() {
		n := bytes.IndexByte(p.Data[p.At:], '\n') + 1
		if n == 0 {
			n = len(p.Data) - p.At
		}
		line := bytes.TrimSuffix(p.Data[p.At:p.At+n], []byte{'\n'})
		if bytes.HasPrefix(line, []byte("bad")) {
			return &Bad{At: p.At, Line: p.Lines, Next: p.At + n, NextLines: p.Lines + 1, Err: errors.New(string(line))}
		}
		w.b.Column(0).Bytes(line)
		if !w.b.EndRow() {
			return nil
		}
		p.At += n
		p.Lines++
	}
	return nil
}

var oneString = arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String}}, nil)

// planned writes files and plans them.
func planned(t *testing.T, opt format.Options, files ...[]byte) format.Dataset {
	t.Helper()
	s := store.New(store.Options{})
	var src format.Source
	for i, f := range files {
		name := filepath.Join(t.TempDir(), fmt.Sprintf("%d.txt", i))
		if err := os.WriteFile(name, f, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		src.Objects = append(src.Objects, list...)
	}
	src.Store = s
	d, err := New(Layout{
		Name: "words", Source: src, Options: opt, Schema: oneString, Ratio: 1,
		Cutter: func(int) Cutter { return Lines{} },
		Parser: func(b *build.Batch) (Parser, error) { return &words{b}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read collects the rows, and how it ended.
func read(t *testing.T, d format.Dataset, share int64) ([]string, error) {
	t.Helper()
	budget := mem.New(share)
	s, err := d.Open(t.Context(), budget, stream.Cursor{}, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for {
		var b *stream.Batch
		if b, err = s.Next(t.Context()); err != nil {
			break
		}
		col := b.Record.Column(0).(*array.String)
		for i := range col.Len() {
			out = append(out, strings.Clone(col.Value(i)))
		}
		b.Release()
	}
	s.Close()
	if n := budget.Leased(); n != 0 {
		t.Errorf("%d bytes still leased", n)
	}
	if p := budget.Peak(); p > share {
		t.Errorf("peak %d of %d", p, share)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, err
}

func lines(n int) (text []byte, rows []string) {
	for i := range n {
		rows = append(rows, fmt.Sprintf("row %d %s", i, strings.Repeat("x", i%300)))
	}
	return []byte(strings.Join(rows, "\n") + "\n"), rows
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d: %.40q, want %.40q", i, got[i], want[i])
		}
	}
}

func TestABadRecordIsPlacedByLineAndByte(t *testing.T) {
	text, _ := lines(20_000)
	at := len(text)
	text = append(text, "bad one\nrow\n"...)
	for _, threads := range []int{1, 2, 4} {
		_, err := read(t, planned(t, format.Options{Threads: threads}, []byte("a\nb\n"), text), 8<<20)
		want := fmt.Sprintf("1.txt: line 20001, byte %d: bad one", at)
		if !errors.Is(err, format.ErrData) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestBadRecordsAreLeftOutInOrder(t *testing.T) {
	var text []byte
	var want, bad []string
	for i := range 30_000 {
		if i%7 == 3 {
			bad = append(bad, fmt.Sprintf("line %d, byte %d: bad %d", i+1, len(text), i))
			text = fmt.Appendf(text, "bad %d\n", i)
			continue
		}
		want = append(want, fmt.Sprint("row ", i))
		text = fmt.Appendf(text, "row %d\n", i)
	}
	for _, threads := range []int{1, 3} {
		for _, rows := range []int{0, 10} {
			var told []string
			opt := format.Options{Threads: threads, BatchRows: rows, Bad: func(err error) {
				_, place, _ := strings.Cut(err.Error(), ".txt: ")
				told = append(told, place)
			}}
			got, err := read(t, planned(t, opt, text), 4<<20)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, want)
			equal(t, told, bad)
		}
	}
}

func TestRecordsLargerThanAPieceAreRead(t *testing.T) {
	text, want := lines(5_000)
	place := fmt.Sprintf("0.txt: byte %d: a record of", len(text))
	huge := strings.Repeat("h", 9<<20)
	text = append(append(text, huge...), '\n')
	want = append(want, huge)
	more, rest := lines(5_000)
	text, want = append(text, more...), append(want, rest...)
	for _, threads := range []int{1, 4} {
		got, err := read(t, planned(t, format.Options{Threads: threads}, text), 44<<20)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
		_, err = read(t, planned(t, format.Options{Threads: threads}, text), 16<<20)
		if !errors.Is(err, mem.ErrTooSmall) || !strings.Contains(err.Error(), place) {
			t.Errorf("with too little memory: %v", err)
		}
	}
}

func TestABombIsStoppedByTheBudget(t *testing.T) {
	var zip bytes.Buffer
	z := gzip.NewWriter(&zip)
	for range 256 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	_, err := read(t, planned(t, format.Options{}, zip.Bytes()), 32<<20)
	if !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("%v", err)
	}
}

func TestAReadingThatIsCancelledEnds(t *testing.T) {
	text, _ := lines(50_000)
	d := planned(t, format.Options{Threads: 3}, text)
	budget := mem.New(8 << 20)
	s, err := d.Open(t.Context(), budget, stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.Close()
	if n := budget.Leased(); n != 0 {
		t.Errorf("%d bytes still leased", n)
	}
}
