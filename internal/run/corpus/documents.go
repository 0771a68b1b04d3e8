package corpus

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/pack"
	"github.com/weir-data/weir/internal/stage/tokenize"
	"github.com/weir-data/weir/internal/tokenizer"
)

// Tokenize says how rows become tokens.
type Tokenize struct {
	tokenize.Options
	Tokenizer *tokenizer.Tokenizer
}

// What packing cannot do without, and what it can make use of.
const (
	leastPack = 8 << 20
	mostPack  = 64 << 20
)

// packBytes is what packing gets: of it follows how many documents are looked at
// together, and so which rows they make, which must not depend on threads, and
// not change in the middle of a run.
func (w *work) packBytes() int64 {
	if w.state.Window == 0 {
		w.state.Window = max(leastPack, min(mostPack, w.Run.Memory/8))
	}
	return w.state.Window
}

// packedBytes is what a token takes that is packed: in three columns.
const packedBytes = 12

// schemas finds out what the rows will be.
func (w *work) schemas() error {
	w.out = w.reading.Schema()
	var err error
	if w.Tokenize != nil {
		if w.out, err = w.Tokenize.Schema(w.out); err != nil {
			return err
		}
	}
	if w.Pack != nil {
		w.out, err = pack.Schema(*w.Pack)
	}
	return err
}

// openTokens makes the stage that makes tokens.
func (l *line) openTokens(share *mem.Budget) error {
	least, most := l.Tokenize.Memory()
	own, err := l.carve(share, "tokens", least, most)
	if err != nil {
		return err
	}
	l.tokens, err = tokenize.New(l.ctx, l.reading.Schema(), l.Tokenize.Tokenizer, l.Tokenize.Options, own)
	return err
}

// openPack makes the stage that packs rows of a schema.
func (l *line) openPack(share *mem.Budget, in *arrow.Schema) error {
	own, err := l.carve(share, "packing", l.packBytes(), l.packBytes())
	if err != nil {
		return err
	}
	l.packer, err = pack.New(l.ctx, in, *l.Pack, own)
	return err
}

// carve takes a share for a stage: a quarter of what there is, within bounds.
func (l *line) carve(share *mem.Budget, name string, least, most int64) (*mem.Budget, error) {
	own, err := share.Carve(name, max(least, min(most, share.Free()/4)))
	if err == nil {
		l.shares = append(l.shares, own)
	}
	return own, err
}

// encode makes tokens of rows of rec, which lie behind so many of the batch, and
// passes them on.
func (l *line) encode(rec arrow.RecordBatch, rows []int32, from int64) error {
	for len(rows) > 0 {
		made, n, err := l.tokens.Rows(l.ctx, rec, rows, l.row)
		if err != nil {
			return err
		}
		err = l.take(made, l.all[:n], rows[:n], from)
		made.Release()
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// heavy is what a row adds to a chapter: packed rows have more columns.
func (l *line) heavy(weight int32) int64 {
	if l.packer == nil {
		return int64(weight)
	}
	return int64(weight) / 4 * packedBytes
}

// give hands rows of rec to the packer, or on.
func (l *line) give(rec arrow.RecordBatch, rows []int32) error {
	if l.packer == nil {
		if len(rows) == 0 {
			return nil
		}
		return l.out.add(rec, rows, l.weigh)
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n] == rows[0]+int32(n) {
			n++
		}
		run := rec.NewSlice(int64(rows[0]), int64(rows[0])+int64(n))
		err := l.pack(run)
		run.Release()
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// pack packs all rows of a record.
func (l *line) pack(rec arrow.RecordBatch) error {
	for from := 0; ; {
		n, err := l.packer.Add(rec, from)
		if err != nil {
			return err
		}
		if from += n; from == int(rec.NumRows()) {
			return nil
		}
		if err := l.drain(); err != nil {
			return err
		}
	}
}

// drain passes on the rows that are packed.
func (l *line) drain() error {
	for {
		rec, err := l.packer.Next(l.ctx)
		if rec == nil || err != nil {
			return err
		}
		l.packed.Rows(l.heft, rec)
		err = l.out.add(rec, l.all[:rec.NumRows()], l.heft)
		rec.Release()
		if err != nil {
			return err
		}
	}
}

// flush packs what waits for more: what follows does not depend on it.
func (l *line) flush() error {
	if l.packer == nil {
		return nil
	}
	l.packer.Flush()
	return l.drain()
}

// count notes what was done with the documents.
func (l *line) count() {
	if l.tokens != nil {
		l.differ, l.differences = l.tokens.Differences()
		l.state.Tokens, l.state.Cut = l.docs.Tokens+l.tokens.Tokens(), l.docs.Cut+l.tokens.Cut()
	}
	if l.packer != nil {
		l.state.Packed = l.docs.Packed.Plus(l.packer.Report())
	}
}
