package corpus

import (
	"context"
	"errors"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/shuffle"
)

// What rows on scratch disk are compressed with. State.Codec and
// Config.ScratchCodec are one of these, or empty: not chosen.
const (
	codecNone = "none"
	codecZstd = "zstd"
)

// variable is what texts and lists shrink to when they are compressed, in percent:
// 38 to 49 was measured of texts and tokens. Numbers count whole: of some that
// were drawn at random 95 remain.
const variable = 60

// chooseCodec decides how rows go to scratch disk, once for a run: compressed
// where they would not find room there otherwise, and probably do so.
func (w *work) chooseCodec() error {
	if !w.Shuffle || w.Out == "" || w.state.Codec != "" {
		return nil
	}
	if w.state.Codec = w.ScratchCodec; w.state.Codec != "" {
		return nil
	}
	w.state.Codec = codecNone
	plain, packed, err := w.scratchNeed()
	if _, small := errors.AsType[*run.TooSmallError](err); small || errors.Is(err, mem.ErrTooSmall) {
		return nil // what is refused later is refused with all that is needed
	}
	if err != nil {
		return err
	}
	free, err := spill.Free(w.Scratch, w.Disk)
	if err != nil {
		return err
	}
	if plain > free && packed <= free {
		w.state.Codec = codecZstd
	}
	return nil
}

// resume takes up the state of a run that was ended, and goes on with the codec
// that it had chosen.
func (w *work) resume(ctx context.Context) error {
	planned := w.state.Codec
	w.state.Codec = ""
	if err := w.from.Decode(ctx, w.Out, w.Run.Budget, w.data.State, &w.state); err != nil {
		return err
	}
	switch w.state.Codec {
	case codecNone, codecZstd:
	case "":
		w.state.Codec = codecNone
	default:
		return format.Error(format.ErrData, "%s: a checkpoint of scratch files in %q; --force begins anew", w.Out, w.state.Codec)
	}
	if w.state.Codec == planned {
		return nil
	}
	return w.fits()
}

// scratchNeed is what the rows take on scratch disk, and about what they take
// compressed.
func (w *work) scratchNeed() (plain, packed int64, err error) {
	least, most, err := w.writeMemory()
	if err != nil {
		return 0, 0, err
	}
	share, c, err := w.divide(w.reading, "rows", least, most)
	if err != nil {
		return 0, 0, err
	}
	limit := share.Limit()
	c.Budget.Close()
	share.Close()
	l, err := w.layout(limit)
	if err != nil {
		return 0, 0, err
	}
	packed, err = w.packedScratch(l)
	return l.Scratch, packed, err
}

// packedScratch is about what rows take compressed on scratch disk.
func (w *work) packedScratch(l shuffle.Layout) (int64, error) {
	f, err := rows.New(w.out)
	if err != nil {
		return 0, err
	}
	size, same := f.Fixed()
	if same {
		return l.Scratch, nil
	}
	fixed := int64(0)
	if info := w.reading.Info(); info.Rows > 0 && w.Tokenize == nil && w.Pack == nil {
		fixed = min(info.Rows*int64(size+keySize), l.Scratch)
	}
	return fixed + (l.Scratch-fixed)/100*variable, nil
}

// keySize is that of a row's key, by which rows are put in order.
const keySize = 8

// roomFor refuses to begin where scratch disk has too little room. With a codec
// that was asked for it is tried: nobody knows how far rows shrink.
func (w *work) roomFor(l shuffle.Layout) error {
	if w.state.Codec != codecZstd {
		return w.scratch.Check(l.Scratch)
	}
	if w.ScratchCodec == codecZstd {
		return nil
	}
	packed, err := w.packedScratch(l)
	if err != nil {
		return err
	}
	return w.scratch.Check(packed)
}

// coderLeast is what compressing cannot do without, of a pass.
func (w *work) coderLeast() int64 {
	if w.state.Codec != codecZstd {
		return 0
	}
	return spill.CodersCost(1)
}

// coderCount is how many coders a pass has that could use most of them: as many as
// take an eighth of its memory. 0: rows are not compressed.
func (w *work) coderCount(memory int64, most int) int {
	if w.state.Codec != codecZstd {
		return 0
	}
	n := 1
	for n < most && spill.CodersCost(n+1) <= memory/8 {
		n++
	}
	return n
}

// codersCost is what those take.
func codersCost(n int) int64 {
	if n == 0 {
		return 0
	}
	return spill.CodersCost(n)
}

// compressor is scratch space for rows, and what it holds.
type compressor struct {
	scratch *spill.Dir
	coders  *spill.Coders // nil: nothing is compressed
	share   *mem.Budget
}

// openCompressor takes n coders out of a budget.
func (w *work) openCompressor(ctx context.Context, from *mem.Budget, n int) (c compressor, err error) {
	c.scratch = w.scratch
	if n == 0 {
		return c, nil
	}
	if c.share, err = from.Carve("coders", codersCost(n)); err != nil {
		return c, err
	}
	if c.coders, err = spill.OpenCoders(ctx, c.share, n); err != nil {
		c.share.Close()
		return c, err
	}
	c.scratch = w.scratch.Compressed(c.coders)
	return c, nil
}

// damaged makes a fault of scratch files one of data.
func damaged(err error) error {
	if errors.Is(err, spill.ErrDamaged) {
		return format.Error(format.ErrData, "%w", err)
	}
	return err
}

// close gives the memory back; it may be called again.
func (c *compressor) close() {
	c.coders.Close()
	c.share.Close()
}
