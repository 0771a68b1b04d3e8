package scale

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// stateMagic begins a saved fit.
const stateMagic = "weirfit1"

// fitState and columnState are the parts of a saved fit that have a fixed size.
type fitState struct {
	Design, Start, Began uint64
	Object, Row, Rows    int64
}

type columnState struct {
	Key                          uint64
	Nulls, NaNs, Infs, Full      int64
	Count                        int64
	Wide                         uint64
	Sum, Squares                 exact
	N                            int64
	Pivot, Min, Max              float64
	LaneSum, LaneSquares         [4]float64
	Sketch, Runs, Nodes, Entries uint64 // 1: a sketch; words of runs; summaries; table's keys
	OpenKey, Open                uint64
}

type nodeState struct{ First, Last, Count, Err, Values uint64 }

// digest tells designs apart.
func (d *Design) digest() uint64 {
	h := crc64.New(crc64.MakeTable(crc64.ECMA))
	for i := range d.cols {
		w := &d.cols[i]
		fmt.Fprintf(h, "%q %s %q\n", w.field.Name, w.field.Type, w.rules)
	}
	return h.Sum64()
}

// Save writes what the fit has seen, so that Restore goes on from here to the
// same bits, and Merge joins it with what others have seen.
func (f *Fit) Save(w io.Writer) error {
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	head := fitState{Design: f.d.digest(), Start: f.start, Object: int64(f.object), Row: f.row, Rows: f.rows}
	if f.began {
		head.Began = 1
	}
	out.WriteString(stateMagic) // bufio keeps the error until Flush
	binary.Write(out, binary.LittleEndian, &head)
	for i := range f.cols {
		f.cols[i].save(out)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, sum.Sum64())
}

func (c *column) save(out *bufio.Writer) {
	m, l := &c.moments, &c.moments.open
	s := columnState{Key: c.key, Nulls: c.nulls, NaNs: c.nans, Infs: c.infs, Full: c.full, Count: m.count,
		Sum: m.sum, Squares: m.squares, N: l.n, Pivot: l.pivot, Min: l.min, Max: l.max, LaneSum: l.sum, LaneSquares: l.squares}
	if m.wide {
		s.Wide = 1
	}
	o := c.order
	if o != nil && o.words == nil {
		s.Sketch, s.Nodes, s.OpenKey, s.Open = 1, uint64(len(o.nodes)), o.openKey, uint64(len(o.open))
	} else if o != nil {
		s.Runs = uint64(o.used)
	}
	if c.table != nil {
		s.Entries = uint64(c.table.n)
	}
	binary.Write(out, binary.LittleEndian, &s)
	if o != nil {
		out.Write(arrow.GetBytes(o.words[:o.used]))
		for i := range o.nodes {
			n := &o.nodes[i]
			binary.Write(out, binary.LittleEndian, &nodeState{n.first, n.last, n.count, n.err, uint64(len(n.values))})
			out.Write(arrow.GetBytes(n.values))
		}
		out.Write(arrow.GetBytes(o.open))
	}
	if c.table != nil {
		c.table.each(func(key []byte, n uint64) {
			var head [12]byte
			binary.LittleEndian.PutUint64(head[:], n)
			binary.LittleEndian.PutUint32(head[8:], uint32(len(key)))
			out.Write(head[:])
			out.Write(key)
		})
	}
}

// Restore begins a fit where another was saved.
func (d *Design) Restore(r io.Reader, share *mem.Budget, threads int, prior *Params) (*Fit, error) {
	f, err := d.NewFit(share, threads, prior)
	if err != nil {
		return nil, err
	}
	if err := f.Merge(r); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Merge adds what a fit of the rows behind those of f had seen when it was
// saved. The two give the same bits as one fit of all rows. After an error f
// can only be closed.
func (f *Fit) Merge(r io.Reader) error {
	in := &reader{in: bufio.NewReader(r), sum: crc64.New(crc64.MakeTable(crc64.ECMA))}
	err := f.merge(in)
	if errors.Is(err, mem.ErrTooSmall) {
		return fmt.Errorf("saved fit: %w", err)
	}
	if err != nil {
		return format.Error(format.ErrData, "saved fit: %w", err)
	}
	return nil
}

// reader reads a saved fit, and keeps the first error.
type reader struct {
	in  *bufio.Reader
	sum hash.Hash64
	err error
}

func (r *reader) bytes(p []byte) error {
	if r.err == nil {
		if _, r.err = io.ReadFull(r.in, p); r.err == io.EOF {
			r.err = io.ErrUnexpectedEOF
		}
		r.sum.Write(p)
	}
	return r.err
}

func (r *reader) fixed(v any) error {
	if r.err == nil {
		if r.err = binary.Read(io.TeeReader(r.in, r.sum), binary.LittleEndian, v); r.err == io.EOF {
			r.err = io.ErrUnexpectedEOF
		}
	}
	return r.err
}

func (f *Fit) merge(in *reader) error {
	var magic [len(stateMagic)]byte
	var head fitState
	if err := in.bytes(magic[:]); err != nil {
		return err
	}
	if err := in.fixed(&head); err != nil {
		return err
	}
	switch {
	case string(magic[:]) != stateMagic:
		return errors.New("it is none")
	case head.Design != f.d.digest():
		return errors.New("it is of other columns or rules")
	case head.Object < 0 || head.Object >= 1<<(64-blockBits) || head.Row < 0 || head.Row/Block >= 1<<blockBits || head.Rows < 0 || f.rows+head.Rows < 0:
		return errors.New("a position is out of range")
	case f.began && head.Began == 1 && head.Start <= key(int64(f.object), max(0, f.row-1)):
		return fmt.Errorf("its rows do not lie behind row %d of object %d", f.row, f.object)
	}
	if head.Began == 1 && !f.began {
		f.begin(head.Start)
	}
	next := key(head.Object, max(0, head.Row-1))
	for i := range f.cols {
		if err := f.cols[i].merge(in, f.pool.Own(), next); err != nil {
			return fmt.Errorf("column %q: %w", f.cols[i].work.field.Name, err)
		}
		if err := f.bounded(&f.cols[i], head.Row); err != nil {
			return err
		}
	}
	if head.Began == 1 {
		f.object, f.row = int(head.Object), head.Row
	}
	f.rows += head.Rows
	for i := range f.cols {
		if !f.cols[i].consistent(f.rows) {
			return fmt.Errorf("column %q: its counts are not those of %d rows", f.cols[i].work.field.Name, f.rows)
		}
	}
	want := in.sum.Sum64()
	var sum uint64
	if err := in.fixed(&sum); err != nil {
		return err
	}
	if sum != want {
		return errors.New("its checksum does not match")
	}
	return nil
}

// key is that of the block of a row.
func key(object, row int64) uint64 { return uint64(object)<<blockBits | uint64(row/Block) }

func (c *column) merge(in *reader, s *scratch, next uint64) error {
	var st columnState
	if err := in.fixed(&st); err != nil {
		return err
	}
	if st.N < 0 || st.N > Block || st.Count < 0 || (st.Sketch|st.Runs|st.Nodes|st.Open) != 0 && c.order == nil || st.Entries != 0 && c.table == nil {
		return errors.New("it cannot be so")
	}
	c.nulls, c.nans, c.infs = c.nulls+st.Nulls, c.nans+st.NaNs, c.infs+st.Infs
	c.full = max(c.full, st.Full)
	m := moments{sum: st.Sum, squares: st.Squares, count: st.Count, wide: st.Wide != 0}
	m.open.min, m.open.max = st.Min, st.Max
	c.moments.end()
	c.moments.join(&m)
	l := &c.moments.open
	l.n, l.pivot, l.sum, l.squares = st.N, st.Pivot, st.LaneSum, st.LaneSquares
	c.key = st.Key
	if c.order != nil {
		if err := c.order.merge(in, &st, s, next); err != nil {
			return err
		}
	}
	for range st.Entries {
		var head [12]byte
		if err := in.bytes(head[:]); err != nil {
			return err
		}
		n := int(binary.LittleEndian.Uint32(head[8:]))
		if n > len(c.table.arena) {
			return &mem.TooSmallError{Share: "fit: categories", Need: int64(n), Limit: int64(len(c.table.arena))}
		}
		text := slices.Grow(s.text[:0], n)[:n]
		if err := in.bytes(text); err != nil {
			return err
		}
		if !c.table.add(text, binary.LittleEndian.Uint64(head[:])) {
			return &mem.TooSmallError{Share: "fit: categories", Need: 2 * int64(len(c.table.arena)), Limit: int64(len(c.table.arena))}
		}
	}
	return nil
}

// consistent says that what was counted is rows.
func (c *column) consistent(rows int64) bool {
	left := rows
	for _, n := range [...]int64{c.nulls, c.nans, c.infs, c.moments.count, c.moments.open.n} {
		if n < 0 || n > left {
			return false
		}
		left -= n
	}
	if c.work.numeric() && left != 0 {
		return false
	}
	there := uint64(rows - c.nulls - c.nans - c.infs)
	if c.order != nil && c.order.total() != there {
		return false
	}
	if c.table == nil || c.full > 0 {
		return true
	}
	sum, ok := uint64(0), true
	c.table.each(func(key []byte, n uint64) {
		ok = ok && n <= there-sum && (!c.work.numeric() || len(key) == 8)
		if ok {
			sum += n
		}
	})
	return ok && sum == there
}

// total is the number of values; more than there can be, where counts are
// wrong.
func (o *order) total() uint64 {
	n := uint64(len(o.open))
	for at := 0; at < o.used; at += 2 + int(o.words[at+1]) {
		n += o.words[at+1]
	}
	for i := range o.nodes {
		n += o.nodes[i].count // no more than 256 of at most 2^50
	}
	return n
}

// merge adds the values behind those of o.
func (o *order) merge(in *reader, st *columnState, s *scratch, next uint64) error {
	for left := st.Runs; left > 0; {
		var head [2]uint64
		if err := in.fixed(&head); err != nil {
			return err
		}
		if head[1] > Block || head[1]+2 > left {
			return errors.New("a run is too long")
		}
		v := s.values[:head[1]]
		if err := in.numbers(v); err != nil {
			return err
		}
		if err := o.add(head[0], v); err != nil {
			return err
		}
		left -= head[1] + 2
	}
	if st.Sketch == 0 {
		return nil
	}
	if o.words != nil {
		if err := o.overflow(); err != nil {
			return err
		}
	}
	if err := o.end(); err != nil {
		return err
	}
	for range st.Nodes {
		if err := o.mergeNode(in); err != nil {
			return err
		}
	}
	if err := o.settle(next); err != nil || st.Open == 0 {
		return err
	}
	if st.Open > Block {
		return errors.New("a block is too long")
	}
	v := s.values[:st.Open]
	if err := in.numbers(v); err != nil {
		return err
	}
	return o.add(st.OpenKey, v)
}

// mergeNode reads one summary.
func (o *order) mergeNode(in *reader) error {
	var st nodeState
	if err := in.fixed(&st); err != nil {
		return err
	}
	if st.Values == 0 || st.Values > keep || st.Values > st.Count || st.Count > 1<<50 || st.Err > st.Count || st.First > st.Last || len(o.nodes) >= 256 ||
		len(o.nodes) > 0 && st.First <= o.nodes[len(o.nodes)-1].last {
		return errors.New("a summary cannot be so")
	}
	n, err := o.make(int(st.Values))
	if err != nil {
		return err
	}
	n.first, n.last, n.count, n.err = st.First, st.Last, st.Count, st.Err
	o.nodes = append(o.nodes, n)
	if err := in.numbers(n.values); err != nil {
		return err
	}
	if !slices.IsSorted(n.values) {
		return errors.New("a summary is not in order")
	}
	return nil
}

// numbers reads finite values.
func (r *reader) numbers(v []float64) error {
	if err := r.bytes(arrow.GetBytes(v)); err != nil {
		return err
	}
	for _, x := range v {
		if x-x != 0 {
			return errors.New("a value is not finite")
		}
	}
	return nil
}
