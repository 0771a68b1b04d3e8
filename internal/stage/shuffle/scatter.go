package shuffle

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// Config is what the two halves of a shuffle have in common. Partitions is
// Layout's.
type Config struct {
	Schema     *arrow.Schema
	Seed       uint64
	Scratch    *spill.Dir
	Name       string // of the scratch files, before the number of a partition
	Partitions int
	Threads    int // of Scatter, and of every partition that is open; 0: one
}

// State is what Scatter has written: a plain value to store and to go on from.
type State struct {
	Partitions []Part `json:"partitions"`
}

// Part is what a partition has.
type Part struct {
	Bytes int64 `json:"bytes"`
	Rows  int64 `json:"rows"`
}

// Rows is the number of all rows.
func (s State) Rows() (n int64) {
	for _, p := range s.Partitions {
		n += p.Rows
	}
	return n
}

// Bytes is what lies on scratch disk.
func (s State) Bytes() (n int64) {
	for _, p := range s.Partitions {
		n += p.Bytes
	}
	return n
}

// Scatter deals rows to partitions. It is used by one goroutine. After an error
// it can only be discarded.
type Scatter struct {
	form  *rows.Form
	keys  Keys
	share *mem.Budget
	heap  *mem.Lease
	hands *hands
	in    *rows.Encoder
	// Of the rows that are dealt at once:
	key   []uint64
	sizes []int
	at    []int
}

// NewScatter begins, or goes on behind a checkpoint where from is not nil. It
// holds half of share until Close.
func NewScatter(ctx context.Context, c Config, share *mem.Budget, from *State) (_ *Scatter, err error) {
	f, err := rows.New(c.Schema)
	if err == nil && len(c.Schema.Fields()) == 0 {
		err = format.Error(format.ErrUsage, "there are no columns")
	}
	if err == nil && from != nil && len(from.Partitions) != c.Partitions {
		err = fmt.Errorf("a checkpoint of %d partitions, not %d", len(from.Partitions), c.Partitions)
	}
	if err != nil {
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	s := &Scatter{form: f, keys: NewKeys(c.Seed), share: share, in: f.NewEncoder()}
	n := chunk(share.Limit())
	if s.heap, err = share.Acquire(ctx, scatterHeap(f, c.Partitions)+24*int64(n)); err != nil {
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	s.key, s.sizes, s.at = make([]uint64, n), make([]int, n), make([]int, n)
	if s.hands, err = newHands(ctx, c, share, from); err != nil {
		s.heap.Release()
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	return s, nil
}

// scatterHeap is what dealing has on the Go heap, whatever number of rows at once.
func scatterHeap(f *rows.Form, partitions int) int64 {
	return int64(f.Nodes())*128 + int64(partitions)*256
}

// Add takes the rows of rec, which it borrows, the first of which has a number.
// No two rows have the same number, and they are added in any order. A row that
// the share cannot hold is mem.ErrTooSmall.
func (s *Scatter) Add(ctx context.Context, rec arrow.RecordBatch, firstRow int64) error {
	err := s.in.Open(rec)
	if err == nil {
		err = s.run(ctx, 0, int(rec.NumRows()), firstRow)
	}
	if err != nil {
		return fmt.Errorf("shuffle: %w", err)
	}
	return nil
}

// AddRows is Add for those rows of rec that are named, which are numbered one after
// the other.
func (s *Scatter) AddRows(ctx context.Context, rec arrow.RecordBatch, rows []int32, firstRow int64) error {
	err := s.in.Open(rec)
	for len(rows) > 0 && err == nil {
		n := 1
		for n < len(rows) && rows[n] == rows[0]+int32(n) {
			n++
		}
		err = s.run(ctx, int(rows[0]), n, firstRow)
		rows, firstRow = rows[n:], firstRow+int64(n)
	}
	if err != nil {
		return fmt.Errorf("shuffle: %w", err)
	}
	return nil
}

// run deals n rows of the record that follow each other.
func (s *Scatter) run(ctx context.Context, from, n int, number int64) error {
	for n > 0 {
		k, err := s.deal(ctx, from, min(len(s.at), n), number)
		if err != nil {
			return err
		}
		from, n, number = from+k, n-k, number+int64(k)
	}
	return nil
}

// deal puts up to n rows from a row on in the hands of their partitions, and
// returns how many.
func (s *Scatter) deal(ctx context.Context, from, n int, number int64) (int, error) {
	err := s.pieces(n, 4096, func(a, b int) error {
		for i := a; i < b; i++ {
			s.key[i] = s.keys.Key(number + int64(i))
		}
		return s.in.Sizes(from+a, s.sizes[a:b])
	})
	if err != nil {
		return 0, err
	}
	k, partitions := 0, uint64(len(s.hands.parts))
	for ; k < n; k++ {
		at, ok := s.hands.take(int(part(s.key[k], partitions)), keyBytes+s.sizes[k])
		if !ok {
			break
		}
		s.at[k] = at + keyBytes
	}
	ram := s.hands.block.Bytes()
	err = s.pieces(k, 512, func(a, b int) error {
		for i, at := range s.at[a:b] {
			binary.LittleEndian.PutUint64(ram[at-keyBytes:], s.key[a+i])
		}
		s.in.Write(ram, s.at[a:b], s.sizes[a:b], from+a)
		return nil
	})
	if err != nil || k == n {
		return k, err
	}
	if s.hands.holds(keyBytes + s.sizes[k]) {
		return k, s.hands.makeRoom(int(part(s.key[k], partitions)))
	}
	return k + 1, s.large(ctx, from+k, s.sizes[k], s.key[k])
}

// pieces divides n rows among the threads: some of them for each before it looks
// for more.
func (s *Scatter) pieces(n, some int, f func(from, to int) error) error {
	return s.hands.pool.Each((n+some-1)/some, func(i int, _ *struct{}) error {
		return f(i*some, min(i*some+some, n))
	})
}

// large writes a row that no hand holds.
func (s *Scatter) large(ctx context.Context, row, size int, key uint64) error {
	b, err := beside(ctx, s.share, int64(s.hands.block.Cap())+s.heap.Size(), headBytes+keyBytes+size)
	if err != nil {
		return fmt.Errorf("a row of %s: %w", mem.Format(int64(size)), err)
	}
	defer b.Free()
	binary.LittleEndian.PutUint64(b.Bytes()[headBytes:], key)
	s.in.Write(b.Bytes(), []int{headBytes + keyBytes}, []int{size}, row)
	return s.hands.write(int(part(key, uint64(len(s.hands.parts)))), b.Bytes(), 1)
}

// Checkpoint makes all rows that were added durable and says how to go on behind
// them.
func (s *Scatter) Checkpoint() (State, error) {
	err := s.hands.flush()
	if err == nil {
		err = s.hands.sync()
	}
	if err != nil {
		return State{}, fmt.Errorf("shuffle: %w", err)
	}
	return State{append([]Part(nil), s.hands.parts...)}, nil
}

// Close writes the rest and gives the memory back. The files are not synced: a
// caller who wants to go on from here in a later process takes a Checkpoint first.
func (s *Scatter) Close() (State, error) {
	if s.hands == nil {
		return State{}, fmt.Errorf("shuffle: a bug in weir, please report it: scattering has ended")
	}
	defer s.Discard()
	if err := s.hands.flush(); err != nil {
		return State{}, fmt.Errorf("shuffle: %w", err)
	}
	return State{s.hands.parts}, nil
}

// Discard gives the memory back without writing what is in hand. It may be
// called again, and after Close.
func (s *Scatter) Discard() {
	if s.hands != nil {
		s.hands.free()
		s.hands = nil
	}
	s.heap.Release()
}
