// Package tokenize makes rows of tokens out of rows of text: plain, a
// conversation, or an instruction and its answer. What the model is not to learn
// has the label -100.
package tokenize

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/chat"
	"github.com/weir-data/weir/internal/stream"
	"github.com/weir-data/weir/internal/tokenizer"
)

// Ignore is the label of tokens that are not learned.
const Ignore = -100

// Options say what becomes of a row.
type Options struct {
	Chat       chat.Options // where the text comes from
	Mask       bool         // labels are those of the assistant's tokens alone; false: there are no labels
	End        string       // a token that is put behind every row; "": none
	AddSpecial bool         // the tokens of the tokenizer's post-processor are added
	MaxLength  int          // rows are cut behind so many tokens; 0: never
	Keep       []string     // columns that are passed through, names or globs
	Check      bool         // tokens are decoded again, and rows that then differ are counted
	Threads    int
}

// Difference is a row whose tokens do not decode to its text.
type Difference struct {
	Row  int64
	Text string // about where the two part, as it was
	Back string // and as it came back
}

// mostDifferences are told.
const mostDifferences = 20

const (
	// cacheBytes is what an encoder remembers words in, and leastCache where
	// there is little memory.
	cacheBytes = 4 << 20
	leastCache = 512 << 10
	// chunkBytes of rows are made tokens of by one thread at a time, leastChunk
	// where there is little memory, and stepChunks such for every thread before
	// all wait for each other.
	chunkBytes = 64 << 10
	leastChunk = 8 << 10
	stepChunks = 4
	mostRows   = 64 << 10 // of a step
	// tokenBytes is what a byte of text may need: an id and a place or a label,
	// and the text itself as it is rendered.
	tokenBytes = 4 + 8 + 2
)

// Stage makes tokens. It is used by one goroutine.
type Stage struct {
	opt    Options
	text   *chat.Renderer
	tok    *tokenizer.Tokenizer
	end    int64 // id; -1: none
	schema *arrow.Schema
	scales *weight.Scales
	keep   *kept // nil: no column is passed through

	share   *mem.Budget
	lease   *mem.Lease
	chunk   int64 // bytes of rows that are a chunk
	pool    *stream.Pool[worker]
	weights []int32
	chunks  []chunk
	tokens  int64
	cut     int64

	mu     sync.Mutex
	differ int64 // rows
	told   []Difference
}

// worker is what a thread has of its own.
type worker struct {
	enc    *tokenizer.Encoder
	chat   *chat.Scratch
	text   []byte
	starts []int
}

// chunk is rows that one thread makes tokens of.
type chunk struct {
	rows   []int32 // of the record
	weight int64
	ids    []uint32
	labels []int32
	ends   []int32 // of each row, in ids
	cut    int64   // rows that were
	// Where ends and tokens go in the record: behind so many.
	row, at int
}

// Schema is that of the rows that are made of rows of a schema: those kept, then
// input_ids and, with Mask, labels.
func (o Options) Schema(in *arrow.Schema) (*arrow.Schema, error) {
	keep, err := newKept(in, o.Keep)
	if err != nil {
		return nil, err
	}
	return o.schema(keep), nil
}

func (o Options) schema(keep *kept) *arrow.Schema {
	var fields []arrow.Field
	if keep != nil {
		fields = append(fields, keep.schema.Fields()...)
	}
	list := arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int32})
	fields = append(fields, arrow.Field{Name: "input_ids", Type: list})
	if o.Mask {
		fields = append(fields, arrow.Field{Name: "labels", Type: list})
	}
	return arrow.NewSchema(fields, nil)
}

// Memory is what a stage cannot do without beside the tokenizer, and what it can
// make use of.
func (o Options) Memory() (least, most int64) {
	return cost(1, leastChunk, leastCache), 4 * cost(int64(max(1, o.Threads)), chunkBytes, cacheBytes)
}

// cost is what a stage leases, and the records that it makes: one, and one that
// is still in use.
func cost(threads, chunk, cache int64) int64 {
	return own(threads, chunk, cache) + 2*threads*stepChunks*chunk*tokenBytes
}

// own is what a stage leases from the beginning.
func own(threads, chunk, cache int64) int64 {
	return threads*(cache+stepChunks*chunk*tokenBytes) + mostRows*8
}

// sizes are how many threads, and bytes of a chunk and of a cache, fit in a limit.
func sizes(most, limit int64) (threads, chunk, cache int64) {
	threads, chunk, cache = most, chunkBytes, cacheBytes
	for threads > 1 && cost(threads, leastChunk, leastCache) > limit {
		threads--
	}
	for chunk > leastChunk && cost(threads, chunk, cache) > limit {
		chunk /= 2
	}
	for cache > leastCache && cost(threads, chunk, cache) > limit {
		cache /= 2
	}
	return threads, chunk, cache
}

// New plans for rows of a schema. The share is the stage's alone until Close.
func New(ctx context.Context, in *arrow.Schema, t *tokenizer.Tokenizer, o Options, share *mem.Budget) (*Stage, error) {
	s := &Stage{opt: o, tok: t, end: -1, share: share, scales: weight.New(in, in)}
	o.Chat.NoSpans = !o.Mask
	var err error
	if s.text, err = chat.New(in, o.Chat); err != nil {
		return nil, err
	}
	if o.End != "" {
		id, ok := t.ID(o.End)
		if !ok {
			return nil, format.Error(format.ErrUsage, "tokenize: the tokenizer has no token %q to end rows with", o.End)
		}
		s.end = int64(id)
	}
	if s.keep, err = newKept(in, o.Keep); err != nil {
		return nil, err
	}
	s.schema = o.schema(s.keep)
	threads, chunkSize, cache := sizes(int64(max(1, o.Threads)), share.Limit())
	s.chunk = chunkSize
	if s.lease, err = share.Acquire(ctx, own(threads, s.chunk, cache)); err != nil {
		return nil, err
	}
	if s.keep != nil {
		if err := s.keep.open(share); err != nil {
			s.lease.Release()
			return nil, err
		}
	}
	s.weights, s.chunks = make([]int32, mostRows), make([]chunk, threads*stepChunks)
	s.pool = stream.NewPool(int(threads), func() *worker { return &worker{enc: t.NewEncoder(int(cache)), chat: s.text.NewScratch()} })
	return s, nil
}

// Schema is that of the rows that are made.
func (s *Stage) Schema() *arrow.Schema { return s.schema }

// Tokens is how many were made, and Cut how many rows were longer than
// MaxLength.
func (s *Stage) Tokens() int64 { return s.tokens }
func (s *Stage) Cut() int64    { return s.cut }

// Differences is how many rows do not decode to their text, and the first of them
// in each part that a thread has had.
func (s *Stage) Differences() (rows int64, told []Difference) { return s.differ, s.told }

// check decodes tokens.
func (s *Stage) check(row int64, text []byte, ids []uint32) {
	back := s.tok.Decode(ids, s.opt.AddSpecial)
	if bytes.Equal(back, text) {
		return
	}
	at := 0
	for at < min(len(text), len(back)) && text[at] == back[at] {
		at++
	}
	some := func(b []byte) string { return string(b[max(0, at-20):min(len(b), at+40)]) }
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.differ++; len(s.told) < mostDifferences {
		s.told = append(s.told, Difference{row, some(text), some(back)})
	}
}

// Close gives the memory back, except that of records.
func (s *Stage) Close() {
	s.pool.Close()
	if s.keep != nil {
		s.keep.close()
	}
	s.lease.Release()
}

// Rows makes tokens of rows of rec, which are ascending: of as many of them as it
// says, one row each, in a record that the caller releases. First is the number
// of rec's first row, for errors.
func (s *Stage) Rows(ctx context.Context, rec arrow.RecordBatch, rows []int32, first int64) (arrow.RecordBatch, int, error) {
	s.scales.Rows(s.weights, rec)
	chunks, n := s.divide(rows)
	more, err := s.room(ctx, chunks)
	if err != nil {
		return nil, 0, err
	}
	defer more.Release()
	err = s.pool.Each(len(chunks), func(i int, w *worker) error { return s.encode(rec, &chunks[i], w, first) })
	if err != nil {
		return nil, 0, err
	}
	out, err := s.record(ctx, rec, rows[:n], chunks)
	for i := range chunks {
		c := &chunks[i]
		s.cut += c.cut
		if c.weight > 2*s.chunk {
			*c = chunk{} // its memory was leased for this call alone
		}
	}
	return out, n, err
}

// divide gives rows to chunks, as many as there are.
func (s *Stage) divide(rows []int32) (chunks []chunk, n int) {
	for n < len(rows) && len(chunks) < len(s.chunks) {
		chunks = s.chunks[:len(chunks)+1]
		c := &chunks[len(chunks)-1]
		from := n
		for c.weight = 0; n < len(rows) && c.weight < s.chunk; n++ {
			c.weight += int64(s.weights[rows[n]])
		}
		c.rows = rows[from:n]
	}
	return chunks, n
}

// room leases what long rows need beyond what is leased for all.
func (s *Stage) room(ctx context.Context, chunks []chunk) (*mem.Lease, error) {
	var need int64
	for i := range chunks {
		need += max(0, chunks[i].weight-2*s.chunk) * tokenBytes
	}
	if need == 0 {
		return nil, nil
	}
	return s.share.Acquire(ctx, need)
}

// encode makes tokens of a chunk's rows.
func (s *Stage) encode(rec arrow.RecordBatch, c *chunk, w *worker, first int64) error {
	c.ids, c.labels, c.ends, c.cut = c.ids[:0], c.labels[:0], c.ends[:0], 0
	for _, row := range c.rows {
		text, spans, err := s.text.Row(rec, int(row), w.text[:0], w.chat)
		if err != nil {
			return fmt.Errorf("row %d: %w", first+int64(row), err)
		}
		w.text = text
		from := len(c.ids)
		if s.opt.Mask {
			c.ids, w.starts = w.enc.EncodeSpans(c.ids, w.starts[:0], text, tokenizer.EncodeOptions{AddSpecial: s.opt.AddSpecial})
			c.labels = mask(c.labels, c.ids[from:], w.starts, len(text), spans)
		} else {
			c.ids = w.enc.Encode(c.ids, text, tokenizer.EncodeOptions{AddSpecial: s.opt.AddSpecial})
		}
		if s.opt.Check {
			s.check(first+int64(row), text, c.ids[from:])
		}
		s.finish(c, from, len(text), spans)
	}
	if int64(cap(w.text)) > 2*s.chunk {
		w.text, w.starts = nil, nil
	}
	return nil
}

// finish ends a row: with the token that ends rows, and not behind MaxLength. The
// end is learned where it is behind what the assistant wrote.
func (s *Stage) finish(c *chunk, from, size int, spans []chat.Span) {
	if s.end >= 0 {
		c.ids = append(c.ids, uint32(s.end))
		if s.opt.Mask {
			label := int32(Ignore)
			if n := len(spans); n > 0 && spans[n-1].To == size {
				label = int32(s.end)
			}
			c.labels = append(c.labels, label)
		}
	}
	if most := s.opt.MaxLength; most > 0 && len(c.ids)-from > most {
		c.cut++
		c.ids = c.ids[:from+most]
		if s.opt.Mask {
			c.labels = c.labels[:from+most]
		}
	}
	c.ends = append(c.ends, int32(len(c.ids)))
}

// mask appends the labels of tokens that begin at bytes of a text of a size:
// themselves where they have a byte of a span.
func mask(labels []int32, ids []uint32, starts []int, size int, spans []chat.Span) []int32 {
	at := 0
	for i, id := range ids {
		next := size
		if i+1 < len(ids) {
			next = starts[i+1]
		}
		for at < len(spans) && starts[i] >= spans[at].To {
			at++
		}
		label := int32(Ignore)
		if at < len(spans) && next > spans[at].From {
			label = int32(id)
		}
		labels = append(labels, label)
	}
	return labels
}
