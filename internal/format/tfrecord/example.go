package tfrecord

import (
	"encoding/binary"
	"errors"
)

var errExample = errors.New("not a tf.train.Example")

// token is one field of a message.
type token struct {
	number uint64
	wire   uint8
	data   []byte // of wire type 2
	value  uint64 // of the others
}

const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// next takes the first field off a message that is not empty.
func next(p []byte) (t token, rest []byte, err error) {
	key, p, ok := varint(p)
	t.number, t.wire = key>>3, uint8(key&7)
	if !ok || t.number == 0 {
		return t, nil, errExample
	}
	switch t.wire {
	case wireVarint:
		t.value, p, ok = varint(p)
	case wire64:
		if ok = len(p) >= 8; ok {
			t.value, p = binary.LittleEndian.Uint64(p), p[8:]
		}
	case wireBytes:
		var n uint64
		if n, p, ok = varint(p); ok {
			if ok = n <= uint64(len(p)); ok {
				t.data, p = p[:n:n], p[n:]
			}
		}
	case wire32:
		if ok = len(p) >= 4; ok {
			t.value, p = uint64(binary.LittleEndian.Uint32(p)), p[4:]
		}
	default:
		ok = false
	}
	if !ok {
		return t, nil, errExample
	}
	return t, p, nil
}

// varint takes a number of 7 bits a byte.
func varint(p []byte) (v uint64, rest []byte, ok bool) {
	if len(p) > 0 && p[0] < 0x80 {
		return uint64(p[0]), p[1:], true
	}
	for i := 0; i < len(p) && i < 10; i++ {
		v |= uint64(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return v, p[i+1:], i < 9 || p[i] < 2
		}
	}
	return 0, nil, false
}

var errSequence = errors.New("a tf.train.SequenceExample: weir reads tf.train.Example")

// features calls each with the name and the Feature message of every feature
// of an Example.
func features(example []byte, each func(name, feature []byte) error) error {
	for len(example) > 0 {
		t, rest, err := next(example)
		if err != nil {
			return err
		}
		example = rest
		switch {
		case t.number == 2 && t.wire == wireBytes:
			return errSequence
		case t.number != 1:
			continue
		case t.wire != wireBytes:
			return errExample
		}
		for list := t.data; len(list) > 0; {
			t, rest, err := next(list)
			if err != nil {
				return err
			}
			list = rest
			if t.number != 1 {
				continue
			}
			if t.wire != wireBytes {
				return errExample
			}
			name, feature, err := entry(t.data)
			if err != nil {
				return err
			}
			if err := each(name, feature); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry is the key and the value of an entry of a map.
func entry(p []byte) (key, value []byte, err error) {
	for len(p) > 0 {
		t, rest, err := next(p)
		if err != nil {
			return nil, nil, err
		}
		p = rest
		if t.number > 2 {
			continue
		}
		if t.wire != wireBytes {
			return nil, nil, errExample
		}
		if t.number == 1 {
			key = t.data
		} else {
			value = t.data
		}
	}
	return key, value, nil
}

// kind is that of a feature's values, by the number of its field.
type kind uint8

const (
	none kind = iota
	isBytes
	isFloat
	isInt
)

func (k kind) String() string { return [...]string{"none", "bytes", "float", "int64"}[k] }

// list is the list message in a Feature, and the kind of its values.
func list(feature []byte) (k kind, values []byte, err error) {
	for len(feature) > 0 {
		t, rest, err := next(feature)
		if err != nil {
			return none, nil, err
		}
		feature = rest
		if t.number > 3 {
			continue
		}
		if t.wire != wireBytes {
			return none, nil, errExample
		}
		k, values = kind(t.number), t.data
	}
	return k, values, nil
}
