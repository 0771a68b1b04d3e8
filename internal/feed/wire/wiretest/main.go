// Command wiretest is a child process that makes up its batches, for tests of
// both ends of the wire.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// config is the start frame's configuration.
type config struct {
	Arena   int64         `json:"arena"`
	Samples int64         `json:"samples"` // in an epoch
	Rows    int64         `json:"rows"`    // in a batch
	Width   int64         `json:"width"`   // features of a sample
	Records bool          `json:"records"` // send Arrow records, not tensors
	Onward  bool          `json:"onward"`  // go on with the next epoch
	Blank   bool          `json:"blank"`   // leave batches as they are in memory
	Pause   time.Duration `json:"pause"`   // before every batch
	At      int64         `json:"at"`      // position at which What happens
	What    string        `json:"what"`    // "", data, panic, crash, exit, stuck
}

func main() {
	if len(os.Args) != 3 || os.Args[1] != "--fd" {
		fmt.Fprintln(os.Stderr, "usage: wiretest --fd N")
		os.Exit(2)
	}
	fd, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = wire.Serve(context.Background(), fd, work)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretest:", err)
		os.Exit(1)
	}
}

func work(ctx context.Context, c *wire.Conn, text []byte) error {
	var cfg config
	if err := json.Unmarshal(text, &cfg); err != nil {
		return format.Error(format.ErrUsage, "configuration: %w", err)
	}
	budget := mem.New(cfg.Arena + 1<<20)
	arena, err := wire.NewArena(ctx, budget, cfg.Arena)
	if err != nil {
		return err
	}
	defer arena.Close()
	if err := c.Log(20, "wiretest is here"); err != nil {
		return err
	}
	description := fmt.Appendf(nil, `{"samples": %d, "pid": %d}`, cfg.Samples, os.Getpid())
	if err := c.Hello(arena, description, func() []byte { return fmt.Appendf(nil, `{"pid": %d}`, os.Getpid()) }); err != nil {
		return err
	}
	for {
		run, err := c.Begin()
		if err != nil {
			return err
		}
		m := &maker{config: cfg, run: run, layouts: map[int64]wire.Layout{}}
		if err := m.epochs(); err != nil && !errors.Is(err, wire.ErrAbandoned) {
			return err
		}
	}
}

// maker makes the batches of a run.
type maker struct {
	config
	run     *wire.Run
	layouts map[int64]wire.Layout // by rows
}

func (m *maker) epochs() error {
	position := m.run.Position
	for epoch := m.run.Epoch; ; epoch++ {
		for position < m.Samples {
			n := min(m.Rows, m.Samples-position)
			if position <= m.At && m.At < position+n {
				if err := m.happen(); err != nil {
					return err
				}
			}
			time.Sleep(m.Pause)
			send := m.tensors
			if m.Records {
				send = m.record
			}
			if err := send(epoch, position, n); err != nil {
				return err
			}
			position += n
		}
		if err := m.run.End(epoch, position, nil); err != nil || !m.Onward {
			return err
		}
		position = 0
	}
}

// happen is one of the ends that a child can come to.
func (m *maker) happen() error {
	switch m.What {
	case "data":
		return format.Error(format.ErrData, "made up: row %d: it is damaged", m.At)
	case "panic":
		panic("made up")
	case "crash": // where Guard does not reach
		time.AfterFunc(0, func() { panic("made up crash") })
		time.Sleep(time.Minute)
	case "exit":
		fmt.Fprintln(os.Stderr, "made up exit")
		os.Exit(7)
	case "stuck":
		time.Sleep(time.Minute)
	}
	return nil
}

// value is feature j of sample i of an epoch.
func value(epoch, i, j int64) float32 { return float32(epoch*1000000 + i*100 + j) }

func (m *maker) tensors(epoch, position, n int64) error {
	x := n * m.Width * 4
	y := (x + 63) / 64 * 64
	layout, ok := m.layouts[n]
	if !ok {
		var err error
		layout, err = wire.Tensors([]wire.Tensor{
			{Name: "x", Dtype: "float32", Shape: []int64{n, m.Width}},
			{Name: "y", Dtype: "int64", Shape: []int64{n}, Offset: y},
		})
		if err != nil {
			return err
		}
		m.layouts[n] = layout
	}
	slot, err := m.run.Reserve(int(y + n*8))
	if err != nil {
		return err
	}
	if !m.Blank {
		b := slot.Bytes()
		for i := range n {
			for j := range m.Width {
				binary.LittleEndian.PutUint32(b[(i*m.Width+j)*4:], math.Float32bits(value(epoch, position+i, j)))
			}
			binary.LittleEndian.PutUint64(b[y+i*8:], uint64(position+i))
		}
	}
	return m.run.Send(slot, wire.Batch{Rows: n, Layout: layout, Epoch: epoch, Position: position + n, Extra: m.extra(position)})
}

// extra is said with the first batch of a run only.
func (m *maker) extra(position int64) []byte {
	if position == m.run.Position {
		return fmt.Appendf(nil, `{"from": %d}`, position)
	}
	return nil
}

func (m *maker) record(epoch, position, n int64) error {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := position; i < position+n; i++ {
		b.Field(0).(*array.Int64Builder).Append(i)
		if text := b.Field(1).(*array.StringBuilder); i%3 == 0 {
			text.AppendNull()
		} else {
			text.Append(fmt.Sprintf("sample %d of epoch %d", i, epoch))
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	layout, err := wire.Records(schema)
	if err != nil {
		return err
	}
	out, err := wire.NewRecord(rec)
	if err != nil {
		return err
	}
	defer out.Release()
	slot, err := m.run.Reserve(out.Size())
	if err != nil {
		return err
	}
	if err := out.Write(slot.Bytes()); err != nil {
		m.run.Discard(slot)
		return err
	}
	return m.run.Send(slot, wire.Batch{Rows: n, Layout: layout, Epoch: epoch, Position: position + n})
}
