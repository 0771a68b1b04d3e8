package prepare

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
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// sheet is one array of any split.
type sheet struct {
	letter  string // of its name
	columns []string
	typ     arrow.FixedWidthDataType // float32, float64 or int64
	matrix  bool                     // of two dimensions
}

// sheets are the arrays of every split: X, and y where there is a label.
func (w *work) sheets(out *arrow.Schema, p *scale.Params) []*sheet {
	x := &sheet{letter: "X", columns: w.features(out, p), typ: arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType), matrix: true}
	if w.Scale.Dtype == "float32" {
		x.typ = arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType)
	}
	label, ok := out.FieldsByName(w.Scale.Label)
	if !ok {
		return []*sheet{x}
	}
	y := &sheet{letter: "y", columns: []string{w.Scale.Label}, typ: arrow.PrimitiveTypes.Int64.(arrow.FixedWidthDataType)}
	switch label[0].Type.ID() {
	case arrow.FLOAT64:
		y.typ = arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType)
	case arrow.FLOAT32, arrow.FLOAT16:
		y.typ = arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType)
	}
	return []*sheet{x, y}
}

// row is the bytes of a row.
func (s *sheet) row() int { return len(s.columns) * s.typ.Bytes() }

func (s *sheet) shape(rows int64) []int64 {
	if s.matrix {
		return []int64{rows, int64(len(s.columns))}
	}
	return []int64{rows}
}

// describe is what the manifest says of a sheet's file.
func (s *sheet) describe(p dataset.Part) dataset.Array {
	return dataset.Array{Part: p, Shape: s.shape(p.Rows), Dtype: s.typ.Name(), Columns: append([]string{}, s.columns...)}
}

// tabled is a table of some T.
type tabled interface {
	take(rec arrow.RecordBatch, at []int)
	rows(dst []byte, from, n int)
}

func (s *sheet) table() tabled {
	switch s.typ.ID() {
	case arrow.FLOAT32:
		return &table[float32]{cast: arrow.Float32Traits.CastFromBytes}
	case arrow.FLOAT64:
		return &table[float64]{cast: arrow.Float64Traits.CastFromBytes}
	}
	return &table[int64]{cast: arrow.Int64Traits.CastFromBytes}
}

// A turn is the rows that are put together, of all sheets, and then written
// while the next are put together; bytes of its memory.
const (
	mostTurn  = 2 << 20
	leastTurn = 256 << 10
	turnAlign = 64 // of what each sheet has of it
)

// rowOf is the bytes of a row in all sheets.
func rowOf(sheets []*sheet) (n int) {
	for _, s := range sheets {
		n += s.row()
	}
	return n
}

// stackMemory is what the arrays of one split need: the least, the most, and
// the turn that goes with the least.
func (w *work) stackMemory(sheets []*sheet) (least, most int64, turn int) {
	out, mostOut := store.WriteCost(w.Out)
	outs := int64(len(sheets)) * out
	turn = max(leastTurn, rowOf(sheets)+turnAlign*len(sheets))
	least = 2*int64(mem.BlockSize(turn)) + outs
	most = 2*int64(mem.BlockSize(max(turn, mostTurn))) + outs + mostOut - out
	return least, most, turn
}

// arraysLeast is about what the third pass needs, reading included; 0: there is
// none. Out is the schema of the parts.
func (w *work) arraysLeast(out *arrow.Schema) int64 {
	if !w.Npy {
		return 0
	}
	sheets := w.sheets(out, &scale.Params{})
	least, _, _ := w.stackMemory(sheets)
	columns, row := int64(0), int64(rowOf(sheets))
	for _, s := range sheets {
		columns += int64(len(s.columns))
	}
	group := w.groupSizes()[0]
	// A row group that is held as it is stored and as it is, what each column
	// is rounded up by, and three batches of 256 rows.
	return least + group*9/4 + columns*(16<<10) + 3*max(512<<10, min(320*row, 16<<20), 2*row)
}

// stackTarget prepares the arrays of a split, which end with done. In is the
// schema of its parts; nil: there are none.
func (w *work) stackTarget(in *arrow.Schema, split dataset.Split, sheets []*sheet, done func([]dataset.Part) error) run.Prepared {
	least, most, turn := w.stackMemory(sheets)
	open := func(ctx context.Context, share *mem.Budget) (run.Sink, error) {
		s := &stacking{ctx: ctx, split: split, done: done}
		spare := share.Limit() - least
		for n := mostTurn; n > turn; n /= 2 {
			if 2*int64(mem.BlockSize(n)-mem.BlockSize(turn)) <= spare {
				turn = n
			}
		}
		if err := s.open(w, share, in, sheets, turn); err != nil {
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
	*sheet
	*parts.File // nil: not begun
	name        string
	share       *mem.Budget
	table       tabled
	at          []int // its columns' places in a batch
	from        int   // its place in a turn
}

func (s *stacking) open(w *work, share *mem.Budget, in *arrow.Schema, sheets []*sheet, turn int) error {
	s.room = max(1, (turn-turnAlign*len(sheets))/max(1, rowOf(sheets)))
	for i := range s.turns {
		var ok bool
		if s.turns[i], ok = share.TryMap(turn); !ok {
			return tooSmall("rows of an array", 2*int64(mem.BlockSize(turn)), share.Limit())
		}
	}
	least, _ := store.WriteCost(w.Out)
	from := 0
	for i, sh := range sheets {
		f := &stacked{sheet: sh, name: arrayName(sh.letter, s.split.Name), table: sh.table(), from: from}
		from += (s.room*sh.row() + turnAlign - 1) &^ (turnAlign - 1)
		for _, name := range sh.columns {
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
		if f.File, err = parts.Create(s.ctx, w.Store, strings.TrimRight(w.Out, "/")+"/", f.name, f.share); err != nil {
			return err
		}
		if _, err := f.Write(npy.Header(sh.typ, sh.shape(s.split.Rows)...)); err != nil {
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
		if !f.matrix {
			if i, why := badLabel(b.Record.Column(f.at[0])); why != "" {
				return format.Error(format.ErrData, "%s: row %d is %s", f.name, s.taken-int64(n-i), why)
			}
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
