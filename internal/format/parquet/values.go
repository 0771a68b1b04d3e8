package parquet

import (
	"errors"
	"fmt"

	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// values makes the decoder for a page's encoding.
func (l *leaf) values(enc meta.Encoding, size int, sections func(skip int) (*window, error)) (values, error) {
	if enc == meta.PlainDictionary || enc == meta.RLEDictionary {
		w, err := sections(0)
		if err != nil {
			return nil, err
		}
		return l.dictValues(w)
	}
	v, err := l.stored(enc, size, sections)
	if err != nil {
		return nil, err
	}
	return l.arrowed(v), nil
}

// arrowed converts what v reads to what Arrow wants.
func (l *leaf) arrowed(v values) values {
	switch {
	case l.conv != nil:
		return &converted{inner: v, phys: l.phys, width: l.width, conv: l.conv}
	case l.shape == fixedShape && l.phys == 0:
		return &decimalBytes{inner: v, width: l.width}
	}
	return v
}

// dictValues reads indices into the chunk's dictionary.
func (l *leaf) dictValues(w *window) (values, error) {
	if l.dict == nil {
		return noDict{}, nil
	}
	// A page of nothing but nulls may have no byte at all.
	var width uint
	if b, err := w.some(); err == nil {
		width = uint(b[0])
		w.skip(1)
	} else if !errors.Is(err, errShort) {
		return nil, err
	}
	h, err := newHybrid(w, width)
	if err != nil {
		return nil, err
	}
	if l.shape == byteShape {
		return &dictBytes{h: h, dict: l.dict}, nil
	}
	return &dictFixed{h: h, dict: l.dict}, nil
}

// noDict stands for the indices of a chunk without a dictionary: a chunk of
// nothing but nulls needs none.
type noDict struct{}

var errNoDict = errors.New("the column has no dictionary page")

func (noDict) fixed(_ []byte, n int) error {
	if n > 0 {
		return errNoDict
	}
	return nil
}

func (noDict) bytes(_ *byteColumn, n int) (int, error) {
	return 0, noDict{}.fixed(nil, n)
}

// stored reads physical values.
func (l *leaf) stored(enc meta.Encoding, size int, sections func(skip int) (*window, error)) (values, error) {
	count := 1
	if size == 0 {
		// Nothing but nulls: there may be no header either.
		enc = meta.Plain
	}
	switch enc {
	case meta.DeltaLengthByteArray:
		count = 2
	case meta.DeltaByteArray:
		count = 3
	case meta.ByteStreamSplit:
		return l.splitValues(size, sections)
	}
	var win [3]*window
	for i := range count {
		w, err := sections(0)
		if err != nil {
			return nil, err
		}
		win[i] = w
	}
	w, bytes := win[0], l.Type == meta.ByteArray
	switch {
	case enc == meta.Plain && l.Type == meta.Boolean:
		return &plainBits{w: w}, nil
	case enc == meta.Plain && bytes:
		return plainBytes{w: w}, nil
	case enc == meta.Plain:
		return plainFixed{w: w, width: l.phys}, nil
	case enc == meta.RLE && l.Type == meta.Boolean:
		if _, err := w.need(4); err != nil {
			return nil, err
		}
		w.skip(4) // the length, which the page's end says too
		h, err := newHybrid(w, 1)
		return &rleBits{h: h}, err
	case enc == meta.DeltaBinaryPacked && (l.Type == meta.Int32 || l.Type == meta.Int64):
		return newDelta(w, l.Type == meta.Int64)
	case enc == meta.DeltaLengthByteArray && bytes:
		return newDeltaLength(w, win[1])
	case enc == meta.DeltaByteArray && bytes:
		return newDeltaBytes(w, win[1], win[2], 0)
	case enc == meta.DeltaByteArray && l.Type == meta.FixedLenByteArray:
		return newDeltaBytes(w, win[1], win[2], l.phys)
	}
	return nil, fmt.Errorf("%s values encoded as %s", l.Type, enc)
}

// splitValues opens one window for every byte of a value.
func (l *leaf) splitValues(size int, sections func(skip int) (*window, error)) (values, error) {
	if l.Type == meta.ByteArray || l.Type == meta.Boolean || l.phys == 0 || size%l.phys != 0 {
		return nil, fmt.Errorf("%d bytes of %s values encoded as %s", size, l.Type, meta.ByteStreamSplit)
	}
	s := &byteSplit{streams: make([]*window, l.phys)}
	for i := range s.streams {
		w, err := sections(i * (size / l.phys))
		if err != nil {
			return nil, err
		}
		s.streams[i] = w
	}
	return s, nil
}
