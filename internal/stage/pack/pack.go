package pack

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// doc is a document, or a piece of one, in the window.
type doc struct{ at, n, bin int32 }

const (
	// docBytes is what a document costs on the Go heap: itself, its place in two
	// orders, a bin of its own, and two nodes of a tree that may be half empty.
	docBytes = 12 + 4 + 4 + 12 + 16
	// tokensPerDoc is how short documents may be on average for a window to be
	// filled by tokens and not by documents.
	tokensPerDoc = 32
	// mostBatch bounds the batches that are given out, unless a row is larger.
	mostBatch = 1 << 20
)

// Packer makes rows of documents. It is used by one goroutine: documents are added
// until not all of them are taken, then rows are asked for until there are none.
type Packer struct {
	o      Options
	column [2]int // of tokens and labels; less than 0: none
	schema *arrow.Schema
	share  *mem.Budget
	heap   *mem.Lease
	block  *mem.Block
	in     [2]lists

	arena [2][]int32 // tokens and labels of the documents in the window
	used  int
	docs  []doc
	order []int32
	tree  []int32
	bins  bins
	rooms *rooms
	begin []int32 // of each row that is ready, its first document in order
	row   int     // the next of them
	ready bool
	flush bool // rows are made until no document is left

	inside bool // a row of the record was taken in part
	done   int  // of its tokens
	pieces int
	left   int // concatenated: tokens that the last row has room for

	report Report
}

// New plans packing for documents of a schema: a column of lists of tokens, and
// one of labels if it is there, else tokens are their own labels. All memory is
// leased from share until Close: a window of up to Options.LookAhead bytes and a
// batch. A share that cannot hold a window of four rows is mem.ErrTooSmall.
func New(ctx context.Context, schema *arrow.Schema, o Options, share *mem.Budget) (*Packer, error) {
	column, err := columns(schema, o)
	if err != nil {
		return nil, err
	}
	p := &Packer{o: o.filled(), column: column, share: share, schema: outSchema(o.Length)}
	if err := p.acquire(ctx); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	p.left = p.o.Length
	return p, nil
}

// acquire takes the memory of the window.
func (p *Packer) acquire(ctx context.Context) (err error) {
	wide := 4
	if p.column[1] >= 0 {
		wide = 8
	}
	cost := func(tokens int) int64 {
		return int64(mem.BlockSize(tokens*wide)) + int64(p.maxDocs(tokens))*docBytes + 2*roomsBytes(p.o.Length)
	}
	batch := 2 * int64(mem.BlockSize(p.batchRows()*rowBytes(p.o.Length, p.o.Length)))
	least := 4 * p.o.Length
	tokens := int(min(max(p.o.LookAhead/int64(wide), int64(least)), math.MaxInt32/2))
	for tokens > least && cost(tokens)+batch > p.share.Limit() {
		tokens = max(least, tokens*7/8)
	}
	if need := cost(tokens) + batch; need > p.share.Limit() {
		return &mem.TooSmallError{Share: "a window of rows", Need: need, Limit: p.share.Limit()}
	}
	n := p.maxDocs(tokens)
	if p.heap, err = p.share.Acquire(ctx, int64(n)*docBytes+2*roomsBytes(p.o.Length)); err != nil {
		return err
	}
	if p.block, err = p.share.Map(ctx, tokens*wide); err != nil {
		p.heap.Release()
		return err
	}
	all := int32s(p.block.Bytes())
	p.arena[0], p.arena[1] = all[:tokens], all[len(all)-tokens:]
	p.docs, p.order, p.begin = make([]doc, 0, n), make([]int32, n), make([]int32, 0, n+1)
	p.bins = bins{make([]int32, 0, n), make([]int32, 0, n)}
	switch p.o.Method {
	case BestFit:
		p.rooms = newRooms(p.o.Length)
	case FirstFit:
		leaves := 1
		for leaves < n {
			leaves *= 2
		}
		p.tree = make([]int32, 2*leaves)
	}
	return nil
}

// maxDocs is how many documents a window of tokens has at most. Where they are
// concatenated, those of a row that is not full can all wait.
func (p *Packer) maxDocs(tokens int) int {
	n := max(tokens/tokensPerDoc, 64)
	if p.o.Method == Concat {
		n = max(n, 2*p.o.Length)
	}
	return n
}

// int32s is mapped memory as what lies in it.
func int32s(b []byte) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// Schema is that of the rows, as the function of that name says.
func (p *Packer) Schema() *arrow.Schema { return p.schema }

// Report is what was packed so far.
func (p *Packer) Report() Report { return p.report }

// Add takes documents of rec from a row on and says how many. Where these are not
// all, Next is called until it gives nothing, and then Add with the same record and
// the rows that were not taken; of their first some may have been.
func (p *Packer) Add(rec arrow.RecordBatch, from int) (rows int, err error) {
	for i, c := range p.column {
		if c >= 0 {
			if err := p.in[i].open(rec, c); err != nil {
				return 0, fmt.Errorf("pack: %w", err)
			}
		}
	}
	for row := from; row < int(rec.NumRows()) && !p.ready; row++ {
		whole, err := p.add(row)
		if err != nil {
			return rows, fmt.Errorf("pack: row %d of a batch: %w", row, err)
		}
		if whole {
			rows++
		}
	}
	return rows, nil
}

// add takes a document; false: some of it is left when the window is full.
func (p *Packer) add(row int) (bool, error) {
	at, n := p.in[0].span(row)
	labels := at
	if p.column[1] >= 0 {
		var k int
		if labels, k = p.in[1].span(row); k != n {
			return false, format.Error(format.ErrData, "%d labels for %d tokens", k, n)
		}
	}
	n = p.enter(n)
	for p.done < n {
		k := min(n-p.done, p.o.Length)
		if p.o.Method == Concat {
			k = min(k, p.left)
		}
		if len(p.docs) == cap(p.docs) || p.used+k > len(p.arena[0]) {
			p.solve(false)
			return false, nil
		}
		if err := p.copy(at+p.done, labels+p.done, k); err != nil {
			return false, err
		}
		p.done += k
		p.pieces++
	}
	if p.pieces > 1 {
		p.report.Split++
	}
	p.inside, p.done, p.pieces = false, 0, 0
	return true, nil
}

// enter counts a document of n tokens, unless it was, and says how many of them
// are taken.
func (p *Packer) enter(n int) int {
	long := n > p.o.Length && p.o.Method != Concat
	keep := n
	switch {
	case long && p.o.Long == Truncate:
		keep = p.o.Length
	case long && p.o.Long == Drop:
		keep = 0
	}
	if p.inside {
		return keep
	}
	p.inside = true
	p.report.Documents++
	p.report.Tokens += int64(n)
	p.report.Lost += int64(n - keep)
	switch {
	case n == 0:
		p.report.Empty++
	case keep == 0:
		p.report.Dropped++
	case keep < n:
		p.report.Truncated++
	}
	return keep
}

// copy puts a document of n tokens in the window.
func (p *Packer) copy(at, labels, n int) error {
	if err := p.in[0].copy(p.arena[0][p.used:p.used+n], at); err != nil {
		return err
	}
	if p.column[1] >= 0 {
		if err := p.in[1].copy(p.arena[1][p.used:p.used+n], labels); err != nil {
			return err
		}
	}
	p.docs = append(p.docs, doc{at: int32(p.used), n: int32(n)})
	p.used += n
	if p.left -= n; p.left <= 0 {
		p.left = p.o.Length
	}
	return nil
}

// Flush makes rows of all documents that wait; they are there for Next. What
// follows does not depend on what was before.
func (p *Packer) Flush() {
	if p.flush = true; !p.ready {
		p.solve(true)
	}
}

// Close gives the memory back, except that of batches.
func (p *Packer) Close() {
	p.block.Free()
	p.heap.Release()
}
