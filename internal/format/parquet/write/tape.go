package write

import (
	"bufio"
	"io"

	"github.com/weir-data/weir/internal/mem"
)

// tape keeps bytes that go to the end of the file, in the order in which they
// come.
type tape struct {
	share  *mem.Budget
	blocks []*mem.Block
	used   int // bytes of the last block
	total  int64
}

// Sizes of a tape's blocks: a quarter of what there is, in between.
const (
	leastTape = 4 << 10
	mostTape  = 256 << 10
)

// Write appends p; mem.ErrTooSmall if there is no room.
func (t *tape) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if len(t.blocks) == 0 || t.used == len(t.last()) {
			size := int(max(leastTape, min(t.total/4, mostTape)))
			b, ok := t.share.TryMap(size)
			if !ok {
				return n, &mem.TooSmallError{Share: "the footer", Need: t.total + int64(size), Limit: t.total + t.share.Free()}
			}
			t.blocks = append(t.blocks, b)
			t.used = 0
		}
		k := copy(t.last()[t.used:], p[n:])
		n += k
		t.used += k
		t.total += int64(k)
	}
	return len(p), nil
}

func (t *tape) last() []byte { return t.blocks[len(t.blocks)-1].Bytes() }

// cut takes back what was written since the tape had a total.
func (t *tape) cut(total int64) {
	for t.total > total {
		k := min(int64(t.used), t.total-total)
		t.used -= int(k)
		t.total -= k
		if t.used == 0 {
			t.blocks[len(t.blocks)-1].Free()
			if t.blocks = t.blocks[:len(t.blocks)-1]; len(t.blocks) > 0 {
				t.used = len(t.last())
			}
		}
	}
}

// free gives the memory back.
func (t *tape) free() {
	for _, b := range t.blocks {
		b.Free()
	}
	t.blocks, t.used, t.total = nil, 0, 0
}

// WriteTo writes everything.
func (t *tape) WriteTo(w io.Writer) (int64, error) {
	var n int64
	for i, b := range t.blocks {
		p := b.Bytes()
		if i == len(t.blocks)-1 {
			p = p[:t.used]
		}
		k, err := w.Write(p)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// reader reads everything from the beginning, through a buffer of a few KiB.
func (t *tape) reader() *bufio.Reader {
	return bufio.NewReader(&tapeReader{t: t})
}

type tapeReader struct {
	t     *tape
	block int
	at    int
}

func (r *tapeReader) Read(p []byte) (int, error) {
	for ; r.block < len(r.t.blocks); r.block, r.at = r.block+1, 0 {
		b := r.t.blocks[r.block].Bytes()
		if r.block == len(r.t.blocks)-1 {
			b = b[:r.t.used]
		}
		if r.at < len(b) {
			n := copy(p, b[r.at:])
			r.at += n
			return n, nil
		}
	}
	return 0, io.EOF
}
