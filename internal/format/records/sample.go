package records

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/mem"
)

const (
	sampleFirst  = 4 << 20   // of the first object
	sampleOthers = 256 << 10 // of each other one that is looked at
	sampleCount  = 15        // of those
	samplePiece  = 1 << 20   // what is held at once; records can be larger
	sampleRoom   = 12 << 20  // Options.Room
)

// Survey is what a sample shows beside its records.
type Survey struct {
	Remote bool
	Window int64 // what the decompressors of the objects seen take
	Bytes  int64 // decompressed bytes seen
	Stored int64 // bytes they are stored in, as far as that is known
	Total  int64 // stored bytes of all objects
}

// ErrEnough is what a visit of Sample returns when no more of the object is needed.
var ErrEnough = errors.New("enough was seen")

// Sample shows the beginnings of some objects, or all of all, as
// Options.Sample says. visit gets the bytes of one object after another from
// its front; it says how many of them it is done with, and gets the others
// again with more behind them. final says that the object ends with data.
func Sample(ctx context.Context, name string, src format.Source, opt format.Options, visit func(object int, data []byte, final bool) (int, error)) (Survey, error) {
	var v Survey
	for _, o := range src.Objects {
		v.Total += o.Size
	}
	for i, n := range chosen(len(src.Objects), opt.Sample) {
		if n == 0 {
			continue
		}
		if err := v.object(ctx, src, i, n, longest(opt), visit); err != nil {
			return v, fmt.Errorf("%s: %s: %w", name, src.Objects[i].URL, err)
		}
	}
	return v, nil
}

// chosen says how many bytes of which object are looked at; less than 0: all.
func chosen(objects int, sample int64) []int64 {
	out := make([]int64, objects)
	step := max(1, objects/sampleCount)
	for i := range out {
		switch {
		case sample < 0:
			out[i] = -1
		case i == 0 && sample == 0:
			out[i] = sampleFirst
		case i%step != 0:
		case sample == 0:
			out[i] = sampleOthers
		default:
			out[i] = sample
		}
	}
	return out
}

// longest is the bytes of a record that can be looked at: while the buffer
// grows there are two, one twice as large as the other.
func longest(opt format.Options) int {
	if opt.Room == 0 {
		opt.Room = sampleRoom
	}
	return int(max(opt.Room/3, samplePiece))
}

func (v *Survey) object(ctx context.Context, src format.Source, i int, most int64, longest int, visit func(int, []byte, bool) (int, error)) error {
	r, err := input.Open(ctx, input.Config{Store: src.Store, Object: src.Objects[i], Ahead: input.Least})
	if err != nil {
		return err
	}
	defer r.Close()
	v.Remote = v.Remote || r.Remote()
	v.Window = max(v.Window, r.Window())
	size := int64(samplePiece)
	if most > 0 {
		size = min(size, most)
	}
	buf, have := make([]byte, size), 0
	seen := false // a whole record
	for {
		n, err := r.Fill(ctx, buf[have:])
		have += n
		final := err == io.EOF
		if err != nil && !final {
			return err
		}
		used, err := visit(i, buf[:have], final)
		if err == ErrEnough {
			break
		}
		if err != nil {
			return err
		}
		seen = seen || used > 0
		have = copy(buf, buf[used:have])
		if final || most > 0 && r.At() >= most && used > 0 {
			break
		}
		if have == len(buf) {
			if 2*have > longest && seen {
				break // a schema is found without it
			}
			if 2*have > longest {
				return fmt.Errorf("the first record has %s or more: %w", mem.Format(int64(have)),
					&mem.TooSmallError{Share: "planning", Need: 24 * int64(have), Limit: 3 * int64(longest)})
			}
			larger := make([]byte, 2*have)
			copy(larger, buf)
			buf = larger
		}
	}
	v.Bytes += r.At()
	v.Stored += r.Stored()
	return nil
}

// InMemory estimates the bytes of all objects in memory from what a sample of
// v.Bytes became.
func (v Survey) InMemory(built int64) int64 {
	if v.Stored == 0 {
		return 0
	}
	return int64(float64(built) * float64(v.Total) / float64(v.Stored))
}
