package arrays

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/npy"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// A turn is the rows that are put together, of all sheets, and then written
// while the next are put together; bytes of its memory.
const (
	mostTurn  = 2 << 20
	leastTurn = 256 << 10
	turnAlign = 64 // of what each sheet has of it
)

// rowOf is the bytes of a row in all sheets.
func rowOf(sheets []*Sheet) (n int) {
	for _, s := range sheets {
		n += s.row()
	}
	return n
}

// needs is what the arrays of one split need: the least, the most, and the turn
// that goes with the least.
func needs(out string, sheets []*Sheet) (least, most int64, turn int) {
	cost, mostCost := store.WriteCost(out)
	outs := int64(len(sheets)) * cost
	turn = max(leastTurn, rowOf(sheets)+turnAlign*len(sheets))
	least = 2*int64(mem.BlockSize(turn)) + outs
	most = 2*int64(mem.BlockSize(max(turn, mostTurn))) + outs + mostCost - cost
	return least, most, turn
}

// Memory is what the arrays of one split cannot do without beside reading, and
// what makes them faster.
func Memory(out string, sheets []*Sheet) (least, most int64) {
	least, most, _ = needs(out, sheets)
	return least, most
}

// Least is about what writing sheets below out needs, with the reading of parts
// that have row groups of so many bytes.
func Least(out string, sheets []*Sheet, group int64) int64 {
	least, _, _ := needs(out, sheets)
	columns, row := int64(0), int64(rowOf(sheets))
	for _, s := range sheets {
		columns += int64(len(s.Columns))
	}
	// A row group that is held as it is stored and as it is, what each column
	// is rounded up by, and three batches of 256 rows.
	return least + group*9/4 + columns*(16<<10) + 3*max(512<<10, min(320*row, 16<<20), 2*row)
}

// target prepares the arrays of a split, which end with done. In is the schema
// of its parts; nil: there are none.
func (p *Pass) target(in *arrow.Schema, split dataset.Split, done func([]dataset.Part) error) run.Prepared {
	least, most, turn := needs(p.Out, p.Sheets)
	open := func(ctx context.Context, share *mem.Budget) (run.Sink, error) {
		s := &stacking{ctx: ctx, split: split, done: done}
		spare := share.Limit() - least
		for n := mostTurn; n > turn; n /= 2 {
			if 2*int64(mem.BlockSize(n)-mem.BlockSize(turn)) <= spare {
				turn = n
			}
		}
		if err := s.open(p, share, in, turn); err != nil {
			s.Abort()
			return nil, err
		}
		return s, nil
	}
	return run.Prepared{Least: least, Most: most, Open: open}
}

// stacking is the sink that writes the arrays of a split.
type stacking struct {
	ctx   context.Context
	split dataset.Split
	done  func([]dataset.Part) error
	files []*stacked

	turns  [2]*mem.Block  // the first is being filled
	room   int            // rows of a turn
	filled int            // of them
	taken  int64          // rows in all
	sent   *stream.Future // writes the other turn; nil: nothing was written yet
}

// stacked is one array being written.
type stacked struct {
	*Sheet
	*parts.File // nil: not begun
	name        string
	share       *mem.Budget
	table       tabled
	at          []int // its columns' places in a batch
	from        int   // its place in a turn
}

func (s *stacking) open(p *Pass, share *mem.Budget, in *arrow.Schema, turn int) error {
	sheets := p.Sheets
	s.room = max(1, (turn-turnAlign*len(sheets))/max(1, rowOf(sheets)))
	for i := range s.turns {
		var ok bool
		if s.turns[i], ok = share.TryMap(turn); !ok {
			return &mem.TooSmallError{Share: "rows of an array", Need: 2 * int64(mem.BlockSize(turn)), Limit: share.Limit()}
		}
	}
	least, _ := store.WriteCost(p.Out)
	from := 0
	for i, sh := range sheets {
		f := &stacked{Sheet: sh, name: sh.Name(s.split.Name), table: sh.table(), from: from}
		from += (s.room*sh.row() + turnAlign - 1) &^ (turnAlign - 1)
		for _, name := range sh.Columns {
			if in != nil {
				f.at = append(f.at, in.FieldIndices(name)[0])
			}
		}
		var err error
		// What is there beyond the least is for the first, which is the largest.
		if f.share, err = share.Carve("output "+f.name, share.Free()-least*int64(len(sheets)-1-i)); err != nil {
			return err
		}
		s.files = append(s.files, f)
		if f.File, err = parts.Create(s.ctx, p.Store, strings.TrimRight(p.Out, "/")+"/", f.name, f.share); err != nil {
			return err
		}
		if _, err := f.Write(npy.Header(sh.Type, sh.shape(s.split.Rows)...)); err != nil {
			return err
		}
	}
	return nil
}

// Write puts the rows of a batch behind those before.
func (s *stacking) Write(b *stream.Batch) error {
	n := int(b.Rows())
	if s.taken += int64(n); s.taken > s.split.Rows {
		return s.miscounted()
	}
	for _, f := range s.files {
		f.table.take(b.Record, f.at)
		if len(f.at) == 0 {
			continue
		}
		if i, why := f.misfit(b.Record.Column(f.at[0])); why != "" {
			return format.Error(format.ErrData, "%s: row %d is %s", f.name, s.taken-int64(n-i), why)
		}
	}
	for from := 0; from < n; {
		k := min(s.room-s.filled, n-from)
		turn := s.turns[0].Bytes()
		for _, f := range s.files {
			at := f.from + s.filled*f.row()
			f.table.rows(turn[at:at+k*f.row()], from, k)
		}
		from += k
		if s.filled += k; s.filled == s.room {
			if err := s.send(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stacking) miscounted() error {
	return format.Error(format.ErrData, "split %q: its parts have other than the %d rows that were written", s.split.Name, s.split.Rows)
}

// send has the turn written while the other is filled.
func (s *stacking) send() error {
	if err := s.wait(); err != nil {
		return err
	}
	turn, n := s.turns[0].Bytes(), s.filled
	s.turns[0], s.turns[1], s.filled = s.turns[1], s.turns[0], 0
	s.sent = stream.Async(func() error {
		for _, f := range s.files {
			if _, err := f.Write(turn[f.from : f.from+n*f.row()]); err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// wait waits for what is being written.
func (s *stacking) wait() error {
	if s.sent == nil {
		return nil
	}
	return s.sent.Wait()
}

// Close makes the arrays permanent.
func (s *stacking) Close() error {
	defer s.Abort()
	if s.taken != s.split.Rows {
		return s.miscounted()
	}
	if err := s.send(); err != nil {
		return err
	}
	if err := s.wait(); err != nil {
		return err
	}
	var made []dataset.Part
	for _, f := range s.files {
		if err := f.Out.Commit(s.ctx); err != nil {
			return err
		}
		made = append(made, dataset.Part{Name: f.name, Rows: s.taken, Bytes: f.Sent.N, Digest: f.Sum.String()})
	}
	return s.done(made)
}

// Abort gives all memory back; what was not made permanent is left out.
func (s *stacking) Abort() {
	s.wait() // its error, if any, is known or of no use
	for _, f := range s.files {
		if f.File != nil {
			f.Out.Abort()
		}
		f.share.Close()
	}
	for _, t := range s.turns {
		t.Free()
	}
}
