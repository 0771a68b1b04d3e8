package write

import (
	"io"

	"github.com/weir-data/weir/internal/mem"
)

// output collects short writes and counts bytes.
type output struct {
	w     io.Writer
	block *mem.Block
	used  int
	n     int64 // bytes in all
}

// Write passes long pieces on as they are.
func (o *output) Write(p []byte) (int, error) {
	buf := o.block.Bytes()
	if o.used+len(p) > len(buf) {
		if err := o.flush(); err != nil {
			return 0, err
		}
	}
	o.n += int64(len(p))
	if len(p) >= len(buf)/2 {
		if err := o.flush(); err != nil {
			return 0, err
		}
		return o.w.Write(p)
	}
	o.used += copy(buf[o.used:], p)
	return len(p), nil
}

func (o *output) flush() error {
	if o.used == 0 {
		return nil
	}
	_, err := o.w.Write(o.block.Bytes()[:o.used])
	o.used = 0
	return err
}
