package shuffle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/weir-data/weir/internal/stream"
)

const (
	// leastSpan is what a thread reads, or puts in order, before it looks for more.
	leastSpan = 1 << 20
	// mostSpans bounds how many of them a file is divided into.
	mostSpans = 256
)

// buckets is how many parts rows are dealt to before they are sorted: few rows
// each, since keys are spread evenly.
func buckets(rows int64) int64 { return rows/8 + 1 }

// sorter puts the rows of a file that lies in memory in the order of their keys.
type sorter struct {
	*Partitions
	pool *stream.Pool[struct{}]
	file []byte
	dst  []entry
	next []uint32 // of every bucket: where in dst its next row goes
}

// fill reads a file and fills dst with its rows in the order of their keys.
func (p *Partitions) fill(dst []entry, file []byte, name string) error {
	s := sorter{Partitions: p, file: file, dst: dst, next: make([]uint32, buckets(int64(len(dst)))+1)}
	s.pool = stream.NewPool(min(max(p.c.Threads, 1), len(file)/leastSpan+1), func() *struct{} { return nil })
	defer s.pool.Close()
	if err := s.read(name); err != nil {
		return err
	}
	if err := s.sort(); err != nil {
		return fmt.Errorf("scratch: %s: %w", name, err)
	}
	return nil
}

// span is how large the pieces of the file are that threads work on.
func (s *sorter) span() int { return max(leastSpan, len(s.file)/mostSpans) }

func (s *sorter) read(name string) error {
	r, err := s.c.Scratch.Reader(name)
	if err != nil {
		return err
	}
	defer r.Close()
	size := s.span()
	return s.pool.Each((len(s.file)+size-1)/size, func(i int, _ *struct{}) error {
		_, err := r.ReadAt(s.file[i*size:min(len(s.file), (i+1)*size)], int64(i*size))
		return err
	})
}

// sort deals rows to buckets and sorts these.
func (s *sorter) sort() error {
	ends, err := s.divide()
	if err != nil {
		return err
	}
	var total atomic.Int64
	err = s.pool.Each(len(ends)-1, func(i int, _ *struct{}) error {
		n, err := s.count(s.file[ends[i]:ends[i+1]])
		total.Add(n)
		return err
	})
	if err == nil && total.Load() != int64(len(s.dst)) {
		err = errDamaged
	}
	if err != nil {
		return err
	}
	for i := range s.next[1:] {
		s.next[i+1] += s.next[i]
	}
	err = s.pool.Each(len(ends)-1, func(i int, _ *struct{}) error {
		s.deal(ends[i], ends[i+1])
		return nil
	})
	if err != nil {
		return err
	}
	n := len(s.next) - 1
	return s.pool.Each(min(n, mostSpans), func(i int, _ *struct{}) error {
		s.sortBuckets(i*n/min(n, mostSpans), (i+1)*n/min(n, mostSpans))
		return nil
	})
}

// divide finds blocks at which spans of the file begin, and its end.
func (s *sorter) divide() ([]int, error) {
	ends, size := []int{0}, s.span()
	for at := 0; at < len(s.file); {
		n, err := blockSize(s.file[at:], int64(len(s.file)-at))
		if err != nil {
			return nil, err
		}
		if at += int(n); at-ends[len(ends)-1] >= size || at == len(s.file) {
			ends = append(ends, at)
		}
	}
	return ends, nil
}

// count checks blocks and counts the rows that each bucket gets of them, behind
// the place of its own.
func (s *sorter) count(blocks []byte) (rows int64, err error) {
	n := uint64(len(s.next) - 1)
	for len(blocks) > 0 {
		size, err := blockSize(blocks, int64(len(blocks)))
		if err != nil {
			return 0, err
		}
		k, err := eachRow(s.form, blocks[:size], func(at, _ int) {
			x := s.zone.within(binary.LittleEndian.Uint64(blocks[at:]))
			atomic.AddUint32(&s.next[1+part(x, n)], 1)
		})
		if err != nil {
			return 0, err
		}
		rows, blocks = rows+k, blocks[size:]
	}
	return rows, nil
}

// deal puts the rows of blocks, which were checked, in their buckets.
func (s *sorter) deal(at, to int) {
	var few [64]entry
	k := 0
	for at < to {
		size, _ := blockSize(s.file[at:], int64(to-at))
		end := at + int(size)
		for at += headBytes; at < end; {
			few[k] = entry{s.zone.within(binary.LittleEndian.Uint64(s.file[at:])), at + keyBytes}
			if k++; k == len(few) {
				s.put(&few, k)
				k = 0
			}
			size, _ := s.form.Size(s.file[at+keyBytes:])
			at += keyBytes + size
		}
	}
	s.put(&few, k)
}

// put puts the first k rows of few in their buckets. Places are taken first: a
// processor that counts for others to see waits for what was written before.
func (s *sorter) put(few *[64]entry, k int) {
	var places [64]uint32
	n := uint64(len(s.next) - 1)
	for i := range few[:k] {
		places[i] = atomic.AddUint32(&s.next[part(few[i].within, n)], 1) - 1
	}
	for i := range few[:k] {
		s.dst[places[i]] = few[i]
	}
}

// sortBuckets sorts those from one on. Rows are dealt: a bucket ends where the one
// behind it began.
func (s *sorter) sortBuckets(from, to int) {
	begin := uint32(0)
	if from > 0 {
		begin = s.next[from-1]
	}
	for _, end := range s.next[from:to] {
		sortFew(s.dst[begin:end])
		begin = end
	}
}

// sortFew sorts a bucket.
func sortFew(v []entry) {
	if len(v) > 32 {
		slices.SortFunc(v, func(a, b entry) int { return cmp.Compare(a.within, b.within) })
		return
	}
	for i := 1; i < len(v); i++ {
		e, j := v[i], i
		for ; j > 0 && v[j-1].within > e.within; j-- {
			v[j] = v[j-1]
		}
		v[j] = e
	}
}
