package scale

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// lexicon is the dictionary of a copied column: the values of the first
// dictionary that came, and of others what was not there.
type lexicon struct {
	values *copied
	width  int // bytes of an index
	most   int // values that indices tell apart

	src   arrow.ArrayData // the dictionary all of whose values are there
	fresh []int           // values of the one at hand that are to be added
	moved []int           // where each of its values is; nil: at its own place
	index map[string]int  // where values are, once two dictionaries differ
	known int             // values that index has
}

func newLexicon(t *arrow.DictionaryType) *lexicon {
	bits := t.IndexType.(arrow.FixedWidthDataType).BitWidth()
	w := &lexicon{values: newCopied(t.ValueType), width: bits / 8, most: math.MaxInt32}
	if arrow.IsSignedInteger(t.IndexType.ID()) {
		bits--
	}
	if bits < 31 {
		w.most = 1 << bits
	}
	return w
}

// from turns to another dictionary and measures what is new in it.
func (w *lexicon) from(d arrow.ArrayData) error {
	w.fresh = w.fresh[:0]
	if err := w.values.from(d); err != nil || d == w.src {
		return err
	}
	w.src, w.moved = nil, nil
	if w.begins(d) {
		for i := w.values.n; i < d.Len(); i++ {
			w.fresh = append(w.fresh, i)
		}
	} else {
		w.find(d)
	}
	for _, i := range w.fresh {
		w.values.measure(i, 1)
	}
	if n := w.values.n + len(w.fresh); n > w.most {
		return format.Error(format.ErrUsage, "the dictionaries of its batches have %d different values, of which its indices tell %d apart", n, w.most)
	}
	return nil
}

// here is the values that are there.
func (w *lexicon) here() arrow.ArrayData { return w.values.array(memory.NewBufferBytes) }

// begins says that d and the values that are there are the same as far as both
// go.
func (w *lexicon) begins(d arrow.ArrayData) bool {
	if w.values.n == 0 {
		return true
	}
	here := w.here()
	defer here.Release()
	var a, b []byte
	for i := range min(here.Len(), d.Len()) {
		a, b = appendKey(a[:0], here, i), appendKey(b[:0], d, i)
		if !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}

// find looks the values of d up.
func (w *lexicon) find(d arrow.ArrayData) {
	here := w.here()
	defer here.Release()
	if w.index == nil {
		w.index = make(map[string]int)
	}
	var key []byte
	for ; w.known < here.Len(); w.known++ {
		key = appendKey(key[:0], here, w.known)
		w.index[string(key)] = w.known
	}
	w.moved = make([]int, d.Len())
	for i := range w.moved {
		key = appendKey(key[:0], d, i)
		at, ok := w.index[string(key)]
		if !ok {
			at = w.values.n + len(w.fresh)
			w.fresh = append(w.fresh, i)
		}
		w.moved[i] = at
	}
}

// add adds what is new.
func (w *lexicon) add() {
	w.values.begin()
	for _, i := range w.fresh {
		w.values.add(i, 1)
	}
	w.src, w.fresh = w.values.src, w.fresh[:0]
}

// plan makes room for what is there and was measured, and a quarter more if
// there is to be more than that.
func (w *lexicon) plan(factor float64) int {
	v := w.values
	return v.plan(int(float64(v.n+v.wantRows)*max(1, min(factor, 1.25))), min(factor, 1.25))
}

// translate copies indices of the dictionary at hand. Those of nulls may be
// anything.
func (w *lexicon) translate(dst, src []byte) {
	var wide [8]byte
	for i := 0; i < len(src); i += w.width {
		clear(wide[:])
		copy(wide[:], src[i:i+w.width])
		at := binary.LittleEndian.Uint64(wide[:])
		if at >= uint64(len(w.moved)) {
			at = 0
		} else {
			at = uint64(w.moved[at])
		}
		binary.LittleEndian.PutUint64(wide[:], at)
		copy(dst[i:i+w.width], wide[:])
	}
}

func (w *lexicon) place(ram []byte) []byte {
	w.src, w.index, w.known = nil, nil, 0
	return w.values.place(ram)
}

func (w *lexicon) end() {
	w.src, w.moved, w.index, w.known = nil, nil, nil, 0
	w.values.end()
}

// appendKey adds bytes that are those of value i alone.
func appendKey(dst []byte, d arrow.ArrayData, i int) []byte {
	at := d.Offset() + i
	raw := func(k int) []byte { return d.Buffers()[k].Bytes() }
	t := layout.Storage(d.DataType())
	if t.ID() == arrow.NULL || d.NullN() != 0 && d.Buffers()[0] != nil && !bitutil.BitIsSet(raw(0), at) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	ends := func(width int) (from, to int) {
		if width == 4 {
			return int(binary.LittleEndian.Uint32(raw(1)[4*at:])), int(binary.LittleEndian.Uint32(raw(1)[4*at+4:]))
		}
		return int(binary.LittleEndian.Uint64(raw(1)[8*at:])), int(binary.LittleEndian.Uint64(raw(1)[8*at+8:]))
	}
	text := func(width int) []byte {
		from, to := ends(width)
		if dst = binary.AppendUvarint(dst, uint64(to-from)); to > from {
			dst = append(dst, raw(2)[from:to]...)
		}
		return dst
	}
	items := func(from, to int) []byte {
		dst = binary.AppendUvarint(dst, uint64(to-from))
		for k := from; k < to; k++ {
			dst = appendKey(dst, d.Children()[0], k)
		}
		return dst
	}
	switch t := t.(type) {
	case *arrow.BooleanType:
		if bitutil.BitIsSet(raw(1), at) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case *arrow.StringType, *arrow.BinaryType:
		return text(4)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return text(8)
	case *arrow.LargeListType:
		return items(ends(8))
	case *arrow.FixedSizeListType:
		return items(at*int(t.Len()), (at+1)*int(t.Len()))
	case *arrow.StructType:
		for _, c := range d.Children() {
			dst = appendKey(dst, c, at)
		}
		return dst
	case arrow.ListLikeType:
		return items(ends(4))
	case *arrow.DictionaryType:
		var wide [8]byte
		n := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		copy(wide[:], raw(1)[at*n:(at+1)*n])
		return appendKey(dst, d.Dictionary(), int(binary.LittleEndian.Uint64(wide[:])))
	case arrow.FixedWidthDataType:
		n := t.BitWidth() / 8
		return append(dst, raw(1)[at*n:(at+1)*n]...)
	}
	return dst
}
