package dedup

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// keptName is the file of the answer: a bit a row, in words of 64, the lowest
// bit first.
const keptName = "dedup-kept"

// Kept is the answer: how many rows are kept. Which ones lies in scratch space,
// where any process finds it again that was told these numbers.
type Kept struct {
	Rows     int64 `json:"rows"`
	Distinct int64 `json:"distinct"` // rows that are kept

	Examples []Example `json:"examples,omitempty"` // as many as Config asked for
}

// Open reads the answer from scratch space, beginning with any row.
func (k Kept) Open(ctx context.Context, dir *spill.Dir, share *mem.Budget) (*Bits, error) {
	f, err := dir.Reader(keptName)
	if err != nil {
		return nil, fmt.Errorf("dedup: %w", err)
	}
	if want := (k.Rows + 63) / 64 * 8; f.Size() != want {
		f.Close()
		return nil, fmt.Errorf("dedup: scratch: %s: %d bytes, %d were written", keptName, f.Size(), want)
	}
	block, err := share.Map(ctx, bitsBuffer)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("dedup: %w", err)
	}
	return &Bits{rows: k.Rows, file: f, block: block}, nil
}

// bitsBuffer is what Bits reads at a time, in bytes.
const bitsBuffer = 64 << 10

// Bits reads which rows are kept. It is used by one goroutine.
type Bits struct {
	rows  int64
	file  *spill.Reader
	block *mem.Block
	from  int64 // the first row in the block, a multiple of 64
	have  int64 // rows in the block
}

// Read sets the lowest n bits of dst to those of n rows beginning with any:
// 1: keep. The bits of dst behind them, up to the end of a word, become 0.
func (b *Bits) Read(row int64, n int, dst []uint64) error {
	if row < 0 || n < 0 || row+int64(n) > b.rows || (n+63)/64 > len(dst) {
		return fmt.Errorf("dedup: a bug in weir, please report it: rows %d to %d of %d", row, row+int64(n), b.rows)
	}
	for i := range (n + 63) / 64 {
		at := row + int64(i)*64
		w, err := b.word(at &^ 63)
		if err != nil {
			return err
		}
		rest := n - i*64
		if shift := at & 63; shift != 0 {
			w >>= shift
			if int64(rest) > 64-shift {
				next, err := b.word(at&^63 + 64)
				if err != nil {
					return err
				}
				w |= next << (64 - shift)
			}
		}
		if rest < 64 {
			w &= 1<<rest - 1
		}
		dst[i] = w
	}
	return nil
}

// word is the bits of 64 rows, the first of which is a multiple of 64.
func (b *Bits) word(row int64) (uint64, error) {
	if row < b.from || row >= b.from+b.have {
		off := row / 8
		p := b.block.Bytes()[:min(bitsBuffer, b.file.Size()-off)]
		if _, err := b.file.ReadAt(p, off); err != nil {
			return 0, fmt.Errorf("dedup: %w", err)
		}
		b.from, b.have = row, int64(len(p))*8
	}
	return binary.LittleEndian.Uint64(b.block.Bytes()[(row-b.from)/8:]), nil
}

// Close gives the memory back; the answer stays.
func (b *Bits) Close() error {
	b.block.Free()
	return b.file.Close()
}
