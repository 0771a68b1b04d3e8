package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Tensor is an array in a batch, in C order.
type Tensor struct {
	Name   string  `json:"name"`
	Part   string  `json:"part,omitempty"` // of a column that takes several tensors
	Dtype  string  `json:"dtype"`          // numpy's name, or bfloat16
	Shape  []int64 `json:"shape"`
	Offset int64   `json:"offset"` // bytes from the batch's beginning
}

// Layout says how the bytes of a batch are to be read. It is a value: equal
// layouts cross the socket once. Keep it where batches look alike, making one
// costs more than sending a batch does.
type Layout struct {
	kind byte
	text string
}

// Tensors is the layout of a batch of tensors.
func Tensors(t []Tensor) (Layout, error) {
	text, err := json.Marshal(t)
	return Layout{'t', string(text)}, err
}

// Records is the layout of a batch that is a record of this schema, written by
// Record.Write.
func Records(s *arrow.Schema) (Layout, error) {
	p := ipc.GetSchemaPayload(s, memory.DefaultAllocator)
	defer p.Release()
	var b bytes.Buffer
	_, err := p.WritePayload(&b)
	return Layout{'s', b.String()}, err
}

// layoutsKept is how many layouts have a number at a time. Padded lists make a
// layout for every length; they must not gather in the parent.
const layoutsKept = 64

// layouts gives layouts numbers.
type layouts struct {
	known map[Layout]uint32
	by    [layoutsKept]Layout
	next  uint32
}

// number returns a layout's number, and whether the parent does not know it.
func (l *layouts) number(x Layout) (n uint32, fresh bool) {
	if n, ok := l.known[x]; ok {
		return n, false
	}
	if l.known == nil {
		l.known = make(map[Layout]uint32, layoutsKept)
	}
	n = l.next % layoutsKept
	l.next++
	delete(l.known, l.by[n])
	l.by[n], l.known[x] = x, n
	return n, true
}

// Record is an Arrow record as it will lie in a slot. The record must live as
// long; Release it once.
type Record struct {
	payload ipc.Payload
	size    int
}

// NewRecord prepares rec to be sent with the layout of its schema. Dictionaries
// must have been decoded.
func NewRecord(rec arrow.RecordBatch) (*Record, error) {
	for _, f := range rec.Schema().Fields() {
		if encoded(f.Type) {
			return nil, fmt.Errorf("column %q: a dictionary cannot be sent", f.Name)
		}
	}
	p, err := ipc.GetRecordBatchPayload(rec)
	if err != nil {
		return nil, err
	}
	var n filling
	if _, err := p.WritePayload(&n); err != nil {
		p.Release()
		return nil, err
	}
	return &Record{payload: p, size: n.at}, nil
}

// encoded says whether there is a dictionary anywhere in t.
func encoded(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return true
	case arrow.ExtensionType:
		return encoded(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if encoded(f.Type) {
				return true
			}
		}
	}
	return false
}

// Size is the number of bytes Write needs.
func (r *Record) Size() int { return r.size }

// Write puts the record into dst, which has Size bytes.
func (r *Record) Write(dst []byte) error {
	_, err := r.payload.WritePayload(&filling{dst: dst[:r.size]})
	return err
}

// Release gives back what the record holds.
func (r *Record) Release() { r.payload.Release() }

// filling writes into dst, and counts what does not fit.
type filling struct {
	dst []byte
	at  int
}

func (f *filling) Write(p []byte) (int, error) {
	if f.at < len(f.dst) {
		copy(f.dst[f.at:], p)
	}
	f.at += len(p)
	return len(p), nil
}

// With is the layout of a batch that is a record, of layout l, with the tensors
// of another layout behind it.
func (l Layout) With(tensors Layout) Layout {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(tensors.text)))
	return Layout{'m', string(head) + tensors.text + l.text}
}
