package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

const (
	printRows    = 4
	printNumbers = 8
)

// Print writes what a batch of this layout holds, for people: every tensor with
// its first numbers, and the record.
func (l Layout) Print(w io.Writer, batch []byte) error {
	tensors, schema := l.text, ""
	switch l.kind {
	case 's':
		tensors, schema = "[]", l.text
	case 'm':
		n := int(binary.LittleEndian.Uint32([]byte(l.text)))
		tensors, schema = l.text[4:4+n], l.text[4+n:]
	}
	var list []Tensor
	if err := json.Unmarshal([]byte(tensors), &list); err != nil {
		return err
	}
	for _, t := range list {
		name := t.Name
		if t.Part != "" {
			name += "." + t.Part
		}
		fmt.Fprintf(w, "\n%s  %s %v\n", name, t.Dtype, t.Shape)
		t.print(w, batch[t.Offset:])
	}
	if schema == "" {
		return nil
	}
	r, err := ipc.NewReader(io.MultiReader(strings.NewReader(schema), strings.NewReader(string(batch))))
	if err != nil {
		return err
	}
	defer r.Release()
	if !r.Next() {
		return r.Err()
	}
	rec := r.RecordBatch().NewSlice(0, min(printRows, r.RecordBatch().NumRows()))
	defer rec.Release()
	for i, f := range rec.Schema().Fields() {
		text := []rune(fmt.Sprint(rec.Column(i)))
		if len(text) > 160 {
			text = append(text[:160], '…')
		}
		fmt.Fprintf(w, "\n%s  %s\n  %s\n", f.Name, f.Type, string(text))
	}
	return nil
}

// print writes the first rows.
func (t *Tensor) print(w io.Writer, data []byte) {
	width := int64(1)
	for _, n := range t.Shape[1:] {
		width *= n
	}
	size := int64(elementBytes(t.Dtype))
	for row := range min(printRows, t.Shape[0]) {
		for i := range min(printNumbers, width) {
			fmt.Fprintf(w, " %10s", element(t.Dtype, data[(row*width+i)*size:]))
		}
		if width > printNumbers {
			fmt.Fprint(w, "  …")
		}
		fmt.Fprintln(w)
	}
	if t.Shape[0] > printRows {
		fmt.Fprintln(w, "  …")
	}
}

// elementBytes is the size of an element.
func elementBytes(dtype string) int {
	switch {
	case strings.HasSuffix(dtype, "64"):
		return 8
	case strings.HasSuffix(dtype, "32"):
		return 4
	case strings.HasSuffix(dtype, "16"):
		return 2
	}
	return 1
}

// element is one number as text.
func element(dtype string, b []byte) string {
	switch dtype {
	case "float32":
		return fmt.Sprintf("%.5g", math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case "float64":
		return fmt.Sprintf("%.5g", math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case "bfloat16":
		return fmt.Sprintf("%.3g", math.Float32frombits(uint32(binary.LittleEndian.Uint16(b))<<16))
	case "int64":
		return fmt.Sprint(int64(binary.LittleEndian.Uint64(b)))
	case "int32":
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(b)))
	}
	return fmt.Sprintf("0x%x", b[:elementBytes(dtype)])
}
