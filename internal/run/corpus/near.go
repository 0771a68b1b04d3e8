package corpus

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stage/dedup/near"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// signRows is how many signatures are made at a time, chunkSigns how many by
	// one thread.
	signRows   = 4 << 10
	chunkSigns = 256
	signBytes  = 4 * near.Places
	placeBytes = 16
)

// near is how texts are compared.
func (d *Dedup) near() near.Options {
	o := near.Options{Threshold: d.Near, Gram: near.Gram{N: d.Ngram, Bytes: d.Bytes}, Check: d.Check, Exact: d.Exact}
	if o.Gram.N == 0 {
		o.Gram.N = 5
	}
	return o
}

// Chances says how likely rows that are alike by so much are found; "": only equal
// ones are looked for.
func (d *Dedup) Chances() string {
	if d == nil || d.Near <= 0 {
		return ""
	}
	bands, err := d.near().Bands()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("pairs that are alike are found by %v", bands)
}

// nearing finds rows whose texts are nearly the same.
type nearing struct {
	*work
	ctx        context.Context
	columns    []int // that have text
	pool       *stream.Pool[signing]
	lease      *mem.Lease
	signatures []near.Signature
	places     []near.Place // of their n-grams; nil: they are not kept
	block      *mem.Block   // of the keepers
	set        *near.Set
	share      *mem.Budget // its
	last       time.Time   // of the last checkpoint
}

// signing is what a thread has of its own.
type signing struct {
	signer *near.Signer
	keeper *near.Keeper // in the signer's place; nil: n-grams are not kept
	text   []byte
	plain  []byte // its normal form
	normal dedup.HashScratch
}

func newNearing(ctx context.Context, w *work, schema *arrow.Schema) (*nearing, error) {
	n := &nearing{work: w, ctx: ctx, last: time.Now()}
	for i, f := range schema.Fields() {
		if hasText(f.Type) {
			n.columns = append(n.columns, i)
		}
	}
	if len(n.columns) == 0 {
		return nil, format.Error(format.ErrUsage, "dedup: near: none of the columns has text; choose those to compare with --by")
	}
	return n, nil
}

// hasText says that values of a type are text, or have some in them.
func hasText(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return true
	case *arrow.DictionaryType:
		return hasText(t.ValueType)
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if hasText(f.Type) {
				return true
			}
		}
	}
	return false
}

func (n *nearing) open(share *mem.Budget) (err error) {
	o, threads := n.Dedup.near(), max(1, n.Run.Options.Threads)
	if n.lease, err = share.Acquire(n.ctx, signHeap(o)); err != nil {
		return err
	}
	n.signatures = make([]near.Signature, signRows)
	if o.Exact {
		n.places = make([]near.Place, signRows)
		if n.block, err = share.Map(n.ctx, near.KeepersCost(threads)); err != nil {
			return err
		}
	}
	if n.share, err = share.Carve("set", share.Free()); err != nil {
		return err
	}
	c := near.Config{Options: o, Share: n.share, Scratch: n.scratch, Threads: threads, Examples: n.Dedup.Show}
	if n.state.Near == nil {
		n.set, err = near.Open(n.ctx, c)
	} else {
		n.set, err = near.Resume(n.ctx, c, *n.state.Near)
	}
	if err != nil {
		return err
	}
	var given atomic.Int32 // each thread asks for its own
	n.pool = stream.NewPool(threads, func() *signing {
		if o.Exact {
			return &signing{keeper: n.set.NewKeeper(n.block.Bytes(), int(given.Add(1)-1))}
		}
		return &signing{signer: near.NewSigner(o.Gram)}
	})
	return nil
}

// signHeap is what signatures that wait have on the Go heap.
func signHeap(o near.Options) int64 {
	n := int64(signRows * signBytes)
	if o.Exact {
		n += signRows * placeBytes
	}
	return n
}

// signLeast is what making signatures cannot do without.
func (w *work) signLeast() int64 {
	o, threads := w.Dedup.near(), max(1, w.Run.Options.Threads)
	n := signHeap(o)
	if o.Exact {
		n += int64(mem.BlockSize(near.KeepersCost(threads)))
	}
	return n
}

func (n *nearing) close() {
	if n.set != nil {
		n.set.Close()
	}
	if n.pool != nil {
		n.pool.Close()
	}
	n.share.Close()
	n.block.Free()
	n.lease.Release()
}

// Write adds the signatures of a batch.
func (n *nearing) Write(b *stream.Batch) error {
	rows := int(b.Rows())
	for from := 0; from < rows; from += signRows {
		some := n.signatures[:min(signRows, rows-from)]
		err := n.pool.Each((len(some)+chunkSigns-1)/chunkSigns, func(i int, s *signing) error {
			for j := i * chunkSigns; j < min((i+1)*chunkSigns, len(some)); j++ {
				s.text = s.text[:0]
				for _, c := range n.columns {
					s.text = appendText(s.text, b.Record.Column(c), from+j)
				}
				if err := n.sign(j, s); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := n.set.Add(n.ctx, some, n.places[:min(len(some), len(n.places))]); err != nil {
			return err
		}
	}
	if time.Since(n.last) < n.Every {
		return nil
	}
	return n.note(b.After)
}

// sign makes a signature of a thread's text.
func (n *nearing) sign(i int, s *signing) (err error) {
	text := s.text
	if n.Dedup.Normalize {
		s.plain = s.normal.Normal(s.plain[:0], string(text))
		text = s.plain
	}
	if s.keeper != nil {
		n.places[i], err = s.keeper.Sign(&n.signatures[i], text)
		return err
	}
	s.signer.Sign(&n.signatures[i], text)
	return nil
}

// note makes a checkpoint behind a batch.
func (n *nearing) note(after stream.Cursor) error {
	set, err := n.set.Checkpoint(n.ctx)
	if err != nil {
		return err
	}
	n.last, n.state.Near = time.Now(), &set
	return n.checkpoint(n.ctx, dataset.Checkpoint{Pass: passHash, Cursor: after})
}

// Close finds out which rows are kept.
func (n *nearing) Close() error {
	kept, err := n.set.Finish(n.ctx)
	if err != nil {
		return err
	}
	n.state.Near = nil
	return n.found(n.ctx, kept, n.set.Remove)
}

// Abort leaves what the last checkpoint needs.
func (n *nearing) Abort() {}

// appendText adds all text of a value, a line for each.
func appendText(dst []byte, a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return dst
	}
	switch a := a.(type) {
	case *array.String:
		return append(append(dst, a.Value(i)...), '\n')
	case *array.LargeString:
		return append(append(dst, a.Value(i)...), '\n')
	case *array.StringView:
		return append(append(dst, a.Value(i)...), '\n')
	case *array.Dictionary:
		return appendText(dst, a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		for j := from; j < to; j++ {
			dst = appendText(dst, a.ListValues(), int(j))
		}
	case *array.Struct:
		for f := range a.NumField() {
			dst = appendText(dst, a.Field(f), i)
		}
	}
	return dst
}
