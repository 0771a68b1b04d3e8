package parquet

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// segmentMost is the largest request for a remote object: larger ones
	// gain nothing, smaller ones pay a round trip more often.
	segmentMost = 4 << 20
	// segmentLeast is the smallest request made ahead of need.
	segmentLeast = 128 << 10
	// gapMost is how much unwanted data is read to join two requests.
	gapMost = 256 << 10
)

// span is a part of a file.
type span struct {
	off int64
	n   int
}

// segment is a span that was asked for.
type segment struct {
	span
	block *mem.Block
	read  *stream.Future
	refs  int // guarded by readahead.mu; the list's own included
}

// readahead is a source that asks for spans of a remote file before they are
// needed, as far as its limit and the budget go.
type readahead struct {
	direct
	ctx    context.Context
	cancel context.CancelFunc
	budget *mem.Budget
	limit  int

	mu    sync.Mutex
	todo  []span // ascending
	segs  []*segment
	asked int // bytes of segs
}

// newReadahead begins to read todo, which ascends.
func newReadahead(ctx context.Context, d direct, budget *mem.Budget, limit int, todo []span) *readahead {
	r := &readahead{direct: d, budget: budget, limit: limit, todo: todo}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.more()
	return r
}

// more asks for what fits.
func (r *readahead) more() {
	for len(r.todo) > 0 && r.asked+r.todo[0].n <= r.limit {
		sp := r.todo[0]
		block, ok := r.budget.TryMap(sp.n + slack)
		if !ok {
			return
		}
		r.todo = r.todo[1:]
		r.asked += sp.n
		r.segs = append(r.segs, &segment{span: sp, block: block, refs: 1, read: stream.Async(func() error {
			return r.r.ReadAt(r.ctx, block.Bytes()[:sp.n], sp.off)
		})})
	}
}

// pin finds the segment in which off lies, and keeps it until unpin.
func (r *readahead) pin(off int64) *segment {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := slices.BinarySearchFunc(r.segs, off, func(s *segment, off int64) int {
		switch {
		case s.off > off:
			return 1
		case s.off+int64(s.n) <= off:
			return -1
		}
		return 0
	})
	if !ok {
		return nil
	}
	r.segs[i].refs++
	return r.segs[i]
}

func (r *readahead) unpin(s *segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.refs--; s.refs == 0 {
		s.block.Free()
	}
}

// wait returns the segment's bytes from off on; nil if they could not be read.
func (r *readahead) wait(s *segment, off int64) []byte {
	start := time.Now()
	err := s.read.Wait()
	r.waits.Store.Add(int64(time.Since(start)))
	if err != nil {
		return nil
	}
	return s.block.Bytes()[off-s.off : s.n]
}

func (r *readahead) peek(off int64, n int) ([]byte, func()) {
	s := r.pin(off)
	if s == nil {
		return nil, nil
	}
	if off+int64(n) <= s.off+int64(s.n) {
		if b := r.wait(s, off); b != nil {
			return b[:n], func() { r.unpin(s) }
		}
	}
	r.unpin(s)
	return nil, nil
}

func (r *readahead) held(off int64) bool {
	s := r.pin(off)
	if s != nil {
		r.unpin(s)
	}
	return s != nil
}

// read copies what was read ahead, and reads the rest now.
func (r *readahead) read(ctx context.Context, dst []byte, off int64) error {
	for len(dst) > 0 {
		s := r.pin(off)
		if s == nil {
			break
		}
		b := r.wait(s, off)
		n := copy(dst, b)
		r.unpin(s)
		if b == nil {
			break
		}
		dst, off = dst[n:], off+int64(n)
	}
	if len(dst) == 0 {
		return nil
	}
	return r.direct.read(ctx, dst, off)
}

func (r *readahead) take(ctx context.Context, dst []byte, off int64) error {
	return r.read(ctx, dst, off)
}

// trim lets go of what lies before off and asks for more.
func (r *readahead) trim(off int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.segs) > 0 && r.segs[0].off+int64(r.segs[0].n) <= off {
		r.forget(r.segs[0])
		r.segs = r.segs[1:]
	}
	for len(r.todo) > 0 && r.todo[0].off+int64(r.todo[0].n) <= off {
		r.todo = r.todo[1:]
	}
	r.more()
}

// forget ends the list's hold on s; the caller holds mu.
func (r *readahead) forget(s *segment) {
	_ = s.read.Wait()
	r.asked -= s.n
	if s.refs--; s.refs == 0 {
		s.block.Free()
	}
}

// close ends the reads under way and frees what they read.
func (r *readahead) close() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.segs {
		r.forget(s)
	}
	r.segs, r.todo = nil, nil
}

// cutSpan divides [off, end) into spans of at most size bytes.
func cutSpan(out []span, off, end int64, size int) []span {
	for off < end {
		n := min(end-off, int64(size))
		out = append(out, span{off, int(n)})
		off += n
	}
	return out
}

// joinChunks makes few large spans of chunks that lie side by side.
func joinChunks(chunks []meta.Chunk) []span {
	at := make([]span, len(chunks))
	for i, c := range chunks {
		at[i] = span{c.Start, int(c.Compressed)}
	}
	slices.SortFunc(at, func(a, b span) int { return int(min(1, max(-1, a.off-b.off))) })
	var out []span
	for i := 0; i < len(at); {
		off, end := at[i].off, at[i].off+int64(at[i].n)
		for i++; i < len(at) && at[i].off <= end+gapMost; i++ {
			end = max(end, at[i].off+int64(at[i].n))
		}
		out = cutSpan(out, off, end, segmentMost)
	}
	return out
}

// sources gives each chunk of row group i a source; in a remote file one that
// reads ahead: all chunks together where two row groups fit, else each chunk
// at its own pace.
func (g *group) sources(ctx context.Context, i int) []source {
	s, d := g.s, g.s.file.src
	out := make([]source, len(s.chunks))
	for j := range out {
		out[j] = d
	}
	if !d.r.Remote() || s.ahead == nil {
		return out
	}
	if all := s.whole(i, s.chunks); all != nil {
		g.ahead = append(g.ahead, all)
		for j := range out {
			out[j] = shared{all}
		}
		s.readNext(ctx, i)
		return out
	}
	room := int(s.ahead.Limit()) / len(s.chunks)
	size := min(segmentMost, room/2)
	if size < segmentLeast {
		return out
	}
	for j, c := range s.chunks {
		r := newReadahead(s.ctx, d, s.ahead, room, cutSpan(nil, c.Start, c.Start+c.Compressed, size))
		g.ahead = append(g.ahead, r)
		out[j] = r
	}
	return out
}

// whole reads all chunks of a row group ahead, or goes on with what readNext
// began; nil where they take more than half of the memory for it.
func (s *scan) whole(i int, chunks []meta.Chunk) *readahead {
	if r := s.nextAhead; r != nil {
		s.nextAhead = nil
		if s.nextIndex == i {
			return r
		}
		r.close()
	}
	spans := joinChunks(chunks)
	total := 0
	for _, sp := range spans {
		total += mem.BlockSize(sp.n + slack)
	}
	if int64(total) > s.ahead.Limit()/2 {
		return nil
	}
	return newReadahead(s.ctx, s.file.src, s.ahead, total, spans)
}

// readNext begins to read the row group of the file that this scan comes to
// after i. It is only a beginning: errors come up when the group is opened.
func (s *scan) readNext(ctx context.Context, i int) {
	next := i + s.stride
	if next >= s.file.meta.Groups() {
		return
	}
	chunks, err := s.file.meta.Chunks(ctx, next, s.file.ordinals, nil)
	if err != nil {
		return
	}
	s.nextAhead, s.nextIndex = s.whole(next, chunks), next
}

// shared is a readahead that several leaves use: none knows what the others
// still need.
type shared struct{ *readahead }

func (shared) trim(int64) {}
