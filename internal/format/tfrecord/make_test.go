package tfrecord

import (
	"encoding/binary"
	"math"
)

// value is a feature in tests: []int64, []float32, []string, or nil for a
// Feature without a list.
type value struct {
	name string
	list any
}

// field appends a field of bytes.
func field(b []byte, number int, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|wireBytes)
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// message is a Feature.
func (v value) message(packed bool) []byte {
	var b []byte
	number := 0
	switch list := v.list.(type) {
	case []string:
		number = 1
		for _, s := range list {
			b = field(b, 1, []byte(s))
		}
	case []float32:
		number = 2
		var all []byte
		for _, f := range list {
			if !packed {
				b = append(b, 1<<3|wire32)
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
			}
			all = binary.LittleEndian.AppendUint32(all, math.Float32bits(f))
		}
		if packed && len(all) > 0 {
			b = field(nil, 1, all)
		}
	case []int64:
		number = 3
		var all []byte
		for _, n := range list {
			if !packed {
				b = append(b, 1<<3|wireVarint)
				b = binary.AppendUvarint(b, uint64(n))
			}
			all = binary.AppendUvarint(all, uint64(n))
		}
		if packed && len(all) > 0 {
			b = field(nil, 1, all)
		}
	}
	if number == 0 {
		return nil
	}
	return field(nil, number, b)
}

// example is an Example message.
func example(packed bool, values ...value) []byte {
	var all []byte
	for _, v := range values {
		all = field(all, 1, field(field(nil, 1, []byte(v.name)), 2, v.message(packed)))
	}
	return field(nil, 1, all)
}

// framed is a record of the file.
func framed(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	return binary.LittleEndian.AppendUint32(append(b, data...), checksum(data))
}
