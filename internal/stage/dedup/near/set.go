package near

import (
	"context"
	"fmt"
	"sync"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// Floor is the least share of a Set. It does for 130 million rows, with a check
// for 14 million, with an exact one for 64 million. The share that is needed grows
// with the square root of the rows: a billion of them need 11 MiB, with a check 29
// MiB, with an exact one 15 MiB. Keepers take theirs beside it. See Least; a share that turns out to be too small is an error of Finish.
const Floor = 4 << 20

const (
	// accounts is what a Set keeps on the Go heap.
	accounts = 256 << 10
	// sketchBuffer is that of the file of sketches.
	sketchBuffer = 64 << 10
	// mostRegions is the most memory for rows on their way to partitions: more
	// would not make writing faster.
	mostRegions = 64 << 20
	// mostExamples bounds what examples take on the Go heap.
	mostExamples = 1000

	keysName     = "near-keys-%02x"
	sketchesName = "near-sketches"
)

// Options say which texts are nearly the same. All of them change the answer.
type Options struct {
	Threshold float64 `json:"threshold"` // of Jaccard similarity, between 0 and 1
	Gram      Gram    `json:"gram"`      // that signatures were made with
	// Check compares the signatures of rows that have a band in common, and takes
	// those for different that agree less than a standard deviation below the threshold.
	Check bool `json:"check,omitempty"`
	// Exact compares the n-grams of rows that have a band in common, which a
	// Keeper has kept, and takes those for different whose similarity is below the
	// threshold. It is instead of Check.
	Exact bool `json:"exact,omitempty"`
}

// checks says that rows with a band in common are looked at once more.
func (o Options) checks() bool { return o.Check || o.Exact }

// Config is what a Set works with.
type Config struct {
	Options
	Share    *mem.Budget // all of it may be used; at least Floor
	Scratch  *spill.Dir
	Threads  int // that solve; 0: one
	Examples int // of rows that are not kept, with the first of their group: the first ones, 1000 at most
}

// Set takes the signatures of rows in order and says which rows are the first
// of their group: rows are in a group that are nearly the same, or linked by
// others that are. It is used by one goroutine. The answer is the same whatever
// the share, the threads, and the calls of Add the rows are cut into.
type Set struct {
	c        Config
	bands    Bands
	lease    *mem.Lease
	keys     *fan          // rows by the hashes of their bands
	sketches *spill.Writer // of all rows in order; nil: without a check
	places   *spill.Writer // of all rows in order; nil: not exact
	keeping  sync.Mutex    // for sets
	sets     *spill.Writer // n-grams, of a row together; nil: not exact
	hashes   []uint64      // of a row
	rows     int64
	err      error // of a call that left the Set unusable
}

// Open makes an empty set.
func Open(ctx context.Context, c Config) (*Set, error) {
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	create := func(name string) (*spill.Writer, error) { return c.Scratch.Create(ctx, name, c.Share, sketchBuffer) }
	if c.Check {
		s.sketches, err = create(sketchesName)
	}
	if c.Exact {
		if s.places, err = create(placesName); err == nil {
			s.sets, err = create(setsName)
		}
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("dedup: %w", err)
	}
	return s, nil
}

// writers are the files that have something of every row, with the names of all.
func (s *Set) writers() map[string]*spill.Writer {
	all := make(map[string]*spill.Writer)
	for name, w := range map[string]*spill.Writer{sketchesName: s.sketches, placesName: s.places, setsName: s.sets} {
		if w != nil {
			all[name] = w
		}
	}
	return all
}

// open is all but the sketches.
func open(ctx context.Context, c Config) (*Set, error) {
	if c.Share.Limit() < Floor {
		return nil, fmt.Errorf("dedup: %w", &mem.TooSmallError{Share: "dedup", Need: Floor, Limit: c.Share.Limit()})
	}
	if c.Check && c.Exact {
		return nil, format.Error(format.ErrUsage, "dedup: near: pairs are checked by signatures or exactly, not both")
	}
	bands, err := c.Options.Bands()
	if err != nil {
		return nil, err
	}
	c.Threads = max(c.Threads, 1)
	s := &Set{c: c, bands: bands, hashes: make([]uint64, bands.Count)}
	if s.lease, err = c.Share.Acquire(ctx, accounts); err != nil {
		return nil, fmt.Errorf("dedup: %w", err)
	}
	regions := min(c.Share.Limit()/4, mostRegions)
	if s.keys, err = newFan(ctx, c.Scratch, c.Share, keysName, parts, keyBytes, int(regions/parts)); err != nil {
		s.lease.Release()
		return nil, fmt.Errorf("dedup: %w", err)
	}
	return s, nil
}

// Scratch is the most scratch space that rows need, in bytes: 12 a band and,
// while it is solved, 8 more; with a check 16 more, and 64 a row. With a
// threshold of 0.8 that is 181 bytes a row without a check and 429 with one. Rows
// that have nothing in common with others need 109 and 221. An exact check needs 12
// a row instead of 64, and 8 an n-gram: of words, 6 bytes of text are reckoned for
// each, which is an estimate.
func Scratch(rows, text int64, o Options) (int64, error) {
	b, err := o.Bands()
	if err != nil {
		return 0, err
	}
	each := int64(b.Count) * (keyBytes + pairBytes)
	sets := int64(0)
	switch {
	case o.Check:
		each += int64(b.Count)*pairBytes + sketchBytes
	case o.Exact && o.Gram.Bytes:
		each, sets = each+int64(b.Count)*pairBytes+placeBytes, text*gramBytes
	case o.Exact:
		each, sets = each+int64(b.Count)*pairBytes+placeBytes, text/6*gramBytes
	}
	return rows*each + sets + rows/4 + 4096*(2*parts+3), nil
}

// Add takes the signatures of the next rows, and where a Keeper has put their
// n-grams; nil without Exact. No Keeper is at work meanwhile.
func (s *Set) Add(ctx context.Context, signatures []Signature, places []Place) error {
	if s.err != nil {
		return s.err
	}
	if s.c.Exact && len(places) != len(signatures) {
		return fmt.Errorf("dedup: a bug in weir, please report it: %d rows, n-grams of %d", len(signatures), len(places))
	}
	if err := s.add(ctx, signatures, places); err != nil {
		s.err = fmt.Errorf("dedup: %w", err)
	}
	return s.err
}

func (s *Set) add(ctx context.Context, signatures []Signature, places []Place) error {
	if s.rows+int64(len(signatures)) > mostRows {
		return format.Error(format.ErrUsage, "near duplicates are looked for in %d rows at most", int64(mostRows))
	}
	for i := range signatures {
		s.bands.Hash(s.hashes, &signatures[i])
		for _, h := range s.hashes {
			dst, err := s.keys.next(ctx, int(h>>hashBits))
			if err != nil {
				return err
			}
			packKey(dst, h, uint64(s.rows))
		}
		if s.sketches != nil {
			sketch := sketchOf(&signatures[i])
			if _, err := s.sketches.Write(sketch[:]); err != nil {
				return err
			}
		}
		if s.places != nil {
			var b [placeBytes]byte
			places[i].put(b[:])
			if _, err := s.places.Write(b[:]); err != nil {
				return err
			}
		}
		s.rows++
	}
	return nil
}

// Close gives all memory back. Files stay, for Resume.
func (s *Set) Close() {
	s.keys.free()
	for _, w := range s.writers() {
		w.Discard()
	}
	s.lease.Release()
	if s.err == nil {
		s.err = fmt.Errorf("dedup: a bug in weir, please report it: the set is closed")
	}
}

// Remove takes the files of the set away; what Finish returned stays.
func (s *Set) Remove() error {
	for p := range parts {
		if err := s.keys.remove(p); err != nil {
			return fmt.Errorf("dedup: %w", err)
		}
	}
	for name := range s.writers() {
		if err := s.c.Scratch.Remove(name); err != nil {
			return fmt.Errorf("dedup: %w", err)
		}
	}
	return nil
}
