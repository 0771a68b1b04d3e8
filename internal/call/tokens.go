package call

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"

	arrows "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/chat"
	"github.com/weir-data/weir/internal/stage/tokenize"
	"github.com/weir-data/weir/internal/stream"
	"github.com/weir-data/weir/internal/tokenizer"
)

// tokens makes tokens of texts, and texts of tokens. The output becomes, of an
// encode, where each row's tokens end, int64 with a 0 before, and the tokens,
// int32; of a decode the same of texts.
type tokens struct {
	*desk
	tok    *tokenizer.Tokenizer
	lease  *mem.Lease
	stages [2]*tokenize.Stage // without and with the post-processor's tokens; nil: not asked for yet
	every  []int32            // the numbers of rows
}

// mostTokenizer is the most bytes of a tokenizer.json: several times those of
// the largest vocabularies.
const mostTokenizer = 1 << 30

func newTokens(ctx context.Context, d *desk) (*tokens, error) {
	w := &tokens{desk: d, every: make([]int32, batchRows)}
	for i := range w.every {
		w.every[i] = int32(i)
	}
	if err := w.load(ctx, d.Paths[0]); err != nil {
		return nil, err
	}
	least, _ := w.options(false).Memory()
	if err := d.divide(2*least, 1<<50); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *tokens) load(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if size := info.Size(); size > mostTokenizer || !info.Mode().IsRegular() {
		return format.Error(format.ErrUsage, "%s: %s; a tokenizer.json is a file of less than %s", path, mem.Format(size), mem.Format(mostTokenizer))
	}
	need := info.Size() + tokenizer.Cost(int(info.Size()))
	if need > w.budget.Free() {
		return w.tooSmall(need)
	}
	if w.lease, err = w.budget.Acquire(ctx, need); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if w.tok, err = tokenizer.Load(data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	w.lease.Shrink(w.tok.Bytes())
	return nil
}

func (w *tokens) options(special bool) tokenize.Options {
	return tokenize.Options{Chat: chat.Options{Kind: chat.Plain, Column: "text"}, AddSpecial: special, Threads: w.Threads}
}

func (w *tokens) close() {
	for _, s := range w.stages {
		if s != nil {
			s.Close()
		}
	}
	w.lease.Release()
	w.desk.close()
}

func (w *tokens) do(ctx context.Context, q *question) (answer, error) {
	switch q.Do {
	case "encode":
		return w.encode(ctx, q)
	case "decode":
		return w.decode(ctx, q)
	case "id":
		if id, ok := w.tok.ID(q.Token); ok {
			return answer{ID: int64(id)}, nil
		}
		return answer{ID: -1}, nil
	case "size":
		return answer{Rows: int64(w.tok.Size())}, nil
	}
	return answer{}, unknown(q.Do)
}

// stage is the one for a question. Each has half of the memory.
func (w *tokens) stage(ctx context.Context, schema *arrows.Schema, special bool) (*tokenize.Stage, error) {
	i := 0
	if special {
		i = 1
	}
	if w.stages[i] != nil {
		return w.stages[i], nil
	}
	n := w.budget.Free()
	if w.stages[1-i] == nil {
		n /= 2
	}
	share, err := w.budget.Carve("tokens", n)
	if err != nil {
		return nil, err
	}
	w.stages[i], err = tokenize.New(ctx, schema, w.tok, w.options(special), share)
	return w.stages[i], err
}

func (w *tokens) encode(ctx context.Context, q *question) (answer, error) {
	out := newLayout(w.outputs[q.Slot], q.Rows)
	err := w.each(ctx, q, func(b *stream.Batch) error {
		stage, err := w.stage(ctx, b.Record.Schema(), q.Special)
		if err != nil {
			return err
		}
		for rows := w.every[:b.Rows()]; len(rows) > 0; {
			made, n, err := stage.Rows(ctx, b.Record, rows, out.rows-int64(rows[0]))
			if err != nil {
				return w.advise(err)
			}
			err = out.tokens(made.Column(0).(*array.List))
			made.Release()
			if err != nil {
				return err
			}
			rows = rows[n:]
		}
		return nil
	})
	return out.answer(), err
}

// textBytes are written to the output at a time.
const textBytes = 1 << 20

func (w *tokens) decode(ctx context.Context, q *question) (answer, error) {
	out := newLayout(w.outputs[q.Slot], q.Rows)
	var text []byte
	var ends []int64
	flush := func() error {
		err := out.put(text, ends)
		text, ends = text[:0], ends[:0]
		return err
	}
	err := w.each(ctx, q, func(b *stream.Batch) error {
		lists, ok := b.Record.Column(0).(*array.LargeList)
		if !ok {
			return unknown("texts of " + b.Record.Column(0).DataType().String())
		}
		ids := lists.ListValues().(*array.Uint32).Uint32Values()
		for i := range lists.Len() {
			from, to := lists.ValueOffsets(i)
			text = append(text, w.tok.Decode(ids[from:to], q.Special)...)
			ends = append(ends, out.size+int64(len(text)))
			if len(text) >= textBytes {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
	return out.answer(), err
}

// layout is rows on their way to the output: where they end, and what is in
// them.
type layout struct {
	output *os.File
	from   int64 // where the second begins
	rows   int64
	size   int64 // of what is in them, in bytes
	buffer []byte
}

// newLayout is an output of so many rows.
func newLayout(output *os.File, rows int64) *layout {
	return &layout{output: output, from: (8*(rows+1) + 63) &^ 63}
}

// tokens adds rows of tokens.
func (l *layout) tokens(rows *array.List) error {
	if rows.Len() == 0 {
		return nil
	}
	ends := make([]int64, rows.Len())
	base, _ := rows.ValueOffsets(0)
	last := base
	for i := range ends {
		_, last = rows.ValueOffsets(i)
		ends[i] = l.size/4 + last - base
	}
	ids := rows.ListValues().(*array.Int32).Int32Values()[base:last]
	return l.put(arrows.GetBytes(ids), ends)
}

// put adds rows that end where ends says, in the unit of the caller.
func (l *layout) put(values []byte, ends []int64) error {
	b, at := l.buffer[:0], 8*(l.rows+1)
	if l.rows == 0 {
		b, at = binary.LittleEndian.AppendUint64(b, 0), 0
	}
	for _, e := range ends {
		b = binary.LittleEndian.AppendUint64(b, uint64(e))
	}
	if at+int64(len(b)) > l.from {
		return unknown("more rows than were said")
	}
	if _, err := l.output.WriteAt(values, l.from+l.size); err != nil {
		return err
	}
	l.buffer = b
	l.rows += int64(len(ends))
	l.size += int64(len(values))
	_, err := l.output.WriteAt(b, at)
	return err
}

func (l *layout) answer() answer { return answer{Rows: l.rows, From: l.from, To: l.from + l.size} }
