package near

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/weir-data/weir/internal/format"
)

const (
	placesName = "near-places"
	setsName   = "near-sets"
	// placeBytes is what is kept of a row beside its n-grams: where they begin
	// among those of all rows, and their number.
	placeBytes = 12
	gramBytes  = 8
	// keeperBytes is the memory of a Keeper: texts of up to so many n-grams are
	// gone through once.
	keeperBytes = 128 << 10
)

// Place is where the n-grams of a row lie.
type Place struct {
	at int64 // n-grams before them
	n  uint32
}

func (p Place) put(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(p.at))
	binary.LittleEndian.PutUint32(b[8:], p.n)
}

func placeOf(b []byte) Place {
	return Place{int64(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint32(b[8:])}
}

// KeepersCost is the memory of n Keepers.
func KeepersCost(n int) int { return n * keeperBytes }

// Keeper makes signatures, and keeps the n-grams of the texts for a Set that
// compares them. Each goroutine has its own.
//
// An n-gram is kept as a hash of 64 bits: two that differ are taken for the same
// with a probability of about 10⁻¹⁹.
type Keeper struct {
	set    *Set
	signer *Signer
	room   []uint64
	n      int
	lo, hi uint64 // hashes that are collected
	full   bool   // there are too many of them
}

// NewKeeper makes the i-th of those that share memory of KeepersCost bytes.
func (s *Set) NewKeeper(memory []byte, i int) *Keeper {
	k := &Keeper{set: s, signer: NewSigner(s.c.Gram), room: viewOf[uint64](memory[i*keeperBytes : (i+1)*keeperBytes])}
	k.signer.visit = k.collect
	return k
}

// Sign sets dst to the signature of a text, and says where its n-grams lie.
// Texts may be kept in any order.
func (k *Keeper) Sign(dst *Signature, text []byte) (Place, error) {
	k.begin(0, math.MaxUint64)
	k.signer.Sign(dst, text)
	k.settle()
	k.set.keeping.Lock()
	defer k.set.keeping.Unlock()
	w := k.set.sets
	p := Place{at: w.Size() / gramBytes}
	if !k.full {
		return k.put(p)
	}
	// More n-grams than there is room for: those of one range of hashes after
	// the other.
	var again Signature
	for lo, width := uint64(0), uint64(math.MaxUint64/2); ; {
		hi := lo + width
		if hi < lo {
			hi = math.MaxUint64
		}
		k.begin(lo, hi)
		k.signer.Sign(&again, text)
		if k.settle(); k.full {
			width /= 2
			continue
		}
		var err error
		if p, err = k.put(p); err != nil || hi == math.MaxUint64 {
			return p, err
		}
		lo = hi + 1
	}
}

func (k *Keeper) begin(lo, hi uint64) { k.lo, k.hi, k.n, k.full = lo, hi, 0, false }

// collect takes n-grams of the text that is signed.
func (k *Keeper) collect(grams []uint64) {
	for _, g := range grams {
		if g < k.lo || g > k.hi || k.full {
			continue
		}
		if k.n == len(k.room) {
			// Texts that repeat themselves have few n-grams. A quarter has to be
			// gained, or sorting would be all that is done.
			if k.settle(); k.n > len(k.room)/4*3 {
				k.full = true
				continue
			}
		}
		k.room[k.n] = g
		k.n++
	}
}

// settle puts what was collected in order, each once.
func (k *Keeper) settle() {
	some := k.room[:k.n]
	slices.Sort(some)
	k.n = len(slices.Compact(some))
}

// put writes what was collected behind what a place has.
func (k *Keeper) put(p Place) (Place, error) {
	if uint64(p.n)+uint64(k.n) > math.MaxUint32 {
		return p, format.Error(format.ErrUsage, "dedup: near: a text of more than %d n-grams cannot be compared exactly", uint32(math.MaxUint32))
	}
	p.n += uint32(k.n)
	_, err := k.set.sets.Write(bytesOf(k.room[:k.n]))
	return p, err
}
