package tensor

import (
	"fmt"
	"math"
	"sort"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/weir-data/weir/internal/format"
)

// Piece is rows of a window: those that Rows names, in its order, or N from From
// on where it is nil.
type Piece struct {
	Window  *Window
	Rows    []int32
	From, N int
}

// Taker makes batches of a frame, one goroutine at a time. On the Go heap it
// takes 16 bytes for every row of the largest batch.
type Taker struct {
	f    *Frame
	runs []run
	rows int
	st   []state

	used    int // bytes of the batch placed so far
	fields  []int64
	buffers []int64
	body    int // where the Arrow record's buffers begin, and end
	bodyEnd int
	tensors []Tensor
}

// run is neighbours of one record.
type run struct {
	src    *source
	row, n int32
}

// state is what is wanted of a node and how much of it is there.
type state struct {
	rows, data, nulls int
	plain             bool // no part has nulls, or a dictionary
	length            int  // of padded lists

	n, at               int // rows and data written
	valid, values, ends []byte
	lengths             []byte
}

// NewTaker makes one.
func (f *Frame) NewTaker() *Taker { return &Taker{f: f, st: make([]state, len(f.nodes))} }

// Measure chooses the rows of the next batch, of windows that f.Open made, and
// says how many bytes it will have. Values that cannot be what they should are
// ErrData.
func (t *Taker) Measure(pieces ...Piece) (int, error) {
	t.runs, t.rows = t.runs[:0], 0
	for _, p := range pieces {
		if err := t.choose(p); err != nil {
			return 0, err
		}
	}
	for i := range t.st {
		t.st[i] = state{plain: true}
	}
	for i := range t.f.columns {
		c := &t.f.columns[i]
		var err error
		if c.form == asPadded || c.form == asRagged {
			err = t.measureLists(c)
		} else {
			for _, r := range t.runs {
				t.measure(c.root, r.src, int(r.row), int(r.n))
			}
		}
		if err == nil {
			err = t.check(c.root)
		}
		if err != nil {
			return 0, format.Error(format.ErrData, "column %q: %w", c.name, err)
		}
	}
	return t.size(), nil
}

// choose finds the records that rows are of.
func (t *Taker) choose(p Piece) error {
	n := p.N
	if p.Rows != nil {
		n = len(p.Rows)
	}
	w, s := p.Window, (*source)(nil)
	for i := range n {
		row := p.From + i
		if p.Rows != nil {
			row = int(p.Rows[i])
		}
		if row < 0 || row >= w.rows {
			return fmt.Errorf("tensor: row %d of a window of %d rows", row, w.rows)
		}
		if s == nil || row < s.first || row >= s.first+s.rows {
			s = &w.sources[sort.Search(len(w.sources), func(k int) bool { return w.sources[k].first+w.sources[k].rows > row })]
		}
		at := int32(row - s.first)
		if k := len(t.runs) - 1; k >= 0 && t.runs[k].src == s && t.runs[k].row+t.runs[k].n == at {
			t.runs[k].n++
		} else {
			t.runs = append(t.runs, run{s, at, 1})
		}
	}
	t.rows += n
	return nil
}

// nullsIn counts them among n rows from i on, of a dictionary those of its values
// too.
func (p *part) nullsIn(i, n int) int {
	if p.dict != nil {
		count := 0
		for k := range n {
			if p.entry(i+k) < 0 {
				count++
			}
		}
		return count
	}
	if p.valid == nil {
		return 0
	}
	if n == 1 {
		if p.null(i) {
			return 1
		}
		return 0
	}
	return n - bitutil.CountSetBits(p.valid, p.off+i, n)
}

// bounds is where rows from i on begin and end in bytes or in the child.
func (p *part) bounds(i, n int) (from, to int) {
	if p.short != nil {
		return int(p.short[i]), int(p.short[i+n])
	}
	return int(p.long[i]), int(p.long[i+n])
}

// text is that of row i; nil where it is null in a way that has none.
func (p *part) text(i int) []byte {
	switch {
	case p.dict != nil:
		if k := p.entry(i); k >= 0 {
			return p.dict.text(k)
		}
		return nil
	case p.views != nil:
		if p.null(i) {
			return nil
		}
		b, _ := p.view(i)
		return b
	}
	from, to := p.bounds(i, 1)
	return p.data[0][from:to]
}

// measure counts n rows of a node from i on.
func (t *Taker) measure(nd *node, s *source, i, n int) {
	if n == 0 {
		return
	}
	st, p := &t.st[nd.id], &s.parts[nd.id]
	st.rows += n
	if nd.kind == nulls {
		st.nulls += n
		return
	}
	if p.valid != nil || p.dict != nil {
		st.nulls += p.nullsIn(i, n)
		st.plain = false
	}
	switch nd.kind {
	case text:
		if p.dict == nil && p.views == nil {
			from, to := p.bounds(i, n)
			st.data += to - from
			return
		}
		st.plain = false
		for k := range n {
			st.data += len(p.text(i + k))
		}
	case list:
		from, to := p.bounds(i, n)
		st.data += to - from
		t.measure(nd.kids[0], s, from, to-from)
	case vector:
		t.measure(nd.kids[0], s, (p.off+i)*nd.width, n*nd.width)
	case record:
		for _, k := range nd.kids {
			t.measure(k, s, p.off+i, n)
		}
	}
}

// measureLists counts the values of lists that become tensors.
func (t *Taker) measureLists(c *column) error {
	nd, kid := c.root, c.root.kids[0]
	st := &t.st[nd.id]
	st.length = c.pad.Length
	for _, r := range t.runs {
		p := &r.src.parts[nd.id]
		for k := range int(r.n) {
			from, n := p.list(int(r.row) + k)
			if c.pad.Length > 0 && n > c.pad.Length {
				if !c.pad.Cut {
					return fmt.Errorf("a list has %d values, more than its pad length %d; make that larger, or cut lists", n, c.pad.Length)
				}
				n = c.pad.Length
			}
			st.length = max(st.length, n)
			st.data += n
			t.measure(kid, r.src, from, n)
		}
	}
	st.rows = t.rows
	if c.form == asPadded {
		if st.length > 0 && t.rows > math.MaxInt/16/st.length {
			return fmt.Errorf("%d rows of %d values are too many", t.rows, st.length)
		}
		t.st[kid.id].rows = t.rows * st.length
	}
	return nil
}

// list is where the values of row i are; none where it is null.
func (p *part) list(i int) (from, n int) {
	if p.null(i) {
		return 0, 0
	}
	from, to := p.bounds(i, 1)
	return from, to - from
}

// check says no to what a node cannot hold.
func (t *Taker) check(nd *node) error {
	st := &t.st[nd.id]
	if (nd.kind == text || nd.kind == list) && nd.width == 4 && st.data > math.MaxInt32 {
		return fmt.Errorf("%d values or bytes in a batch are more than it can hold; take fewer rows at a time", st.data)
	}
	leaf := nd
	for leaf.kind == vector || leaf.kind == list {
		leaf = leaf.kids[0]
	}
	if nd.dense && st.nulls > 0 && leaf.nan == nil {
		return fmt.Errorf("%d values of a batch are null, which a tensor of this type cannot say; fill them with weir prepare, or take the column as Arrow", st.nulls)
	}
	for _, k := range nd.kids {
		if err := t.check(k); err != nil {
			return err
		}
	}
	return nil
}
