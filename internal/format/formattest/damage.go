package formattest

import (
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// damageSettings take turns.
var damageSettings = []setting{
	{threads: 1, budget: plenty},
	{threads: 1, budget: exactly, batch: 3},
	{threads: 2, budget: plenty, batch: 5},
}

// cut: a file that ends early is an error, or read as it was.
func (c *Case) cut(t *testing.T) {
	whole := c.with(c.Damage)
	for i := range c.Damage {
		s := damageSettings[i%len(damageSettings)]
		err := whole.with(c.Damage[:i]).try(t, s)
		if err == nil && !c.Cuttable {
			t.Errorf("cut at %d of %d: no error", i, len(c.Damage))
		}
		if t.Failed() {
			t.Fatalf("cut at %d, %s: %v", i, s, err)
		}
	}
}

// spoil: any byte may be wrong; what is read then is not known, but nothing
// falls over.
func (c *Case) spoil(t *testing.T) {
	for i := 0; i < len(c.Damage); i += max(1, c.Stride) {
		for k, mask := range []byte{0xff, 0x01, 0x80, 0x10} {
			data := slices.Clone(c.Damage)
			data[i] ^= mask
			s := damageSettings[(i+k)%len(damageSettings)]
			err := c.with(data).try(t, s)
			if t.Failed() {
				t.Fatalf("byte %d ^ %#x, %s: %v", i, mask, s, err)
			}
		}
	}
}

// noise: bytes that mean nothing, alone and behind a good beginning.
func (c *Case) noise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, uint64(len(c.Damage))))
	for i := range 150 {
		data := slices.Clone(c.Damage[:i%3*r.IntN(len(c.Damage))/2])
		for range r.IntN(3000) {
			data = append(data, byte(r.Uint32()))
		}
		s := damageSettings[i%len(damageSettings)]
		err := c.with(data).try(t, s)
		if t.Failed() {
			t.Fatalf("random bytes %d, %s: %v", i, s, err)
		}
	}
}

func (c *Case) with(file []byte) *Case {
	d := *c
	if c.Around != nil {
		d.Files = c.Around(file)
		return &d
	}
	d.Files, d.Names = [][]byte{file}, c.Names[:min(1, len(c.Names))]
	return &d
}

// heapMost is what a small file may allocate on the Go heap in all, batches
// and their bookkeeping, however wrong it is: a length that is only claimed
// gets no memory.
const heapMost = 64 << 20

// try reads a damaged file and holds that the error is of a known kind.
func (c *Case) try(t *testing.T, s setting) error {
	t.Helper()
	defer noGoroutineLeft(t)()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := c.readAll(t.Context(), t, &objects{files: c.Files, names: c.Names}, s)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > heapMost {
		t.Errorf("%s allocated on the Go heap", mem.Format(int64(n)))
	}
	if err != nil && !errors.Is(err, format.ErrData) && !errors.Is(err, mem.ErrTooSmall) &&
		!errors.Is(err, format.ErrUsage) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an error of no known kind: %v", err)
	}
	return err
}
