// Package arrow reads and writes Arrow IPC: streams, and files with a footer.
package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Writer writes IPC files, which have a footer that finds their batches.
func Writer() format.Writer {
	return format.Writer{Name: "arrow", Ext: ".arrow", Memory: writeMemory,
		Begin: func(out format.Output, s *arrow.Schema, opt format.WriteOptions, share *mem.Budget) (format.File, error) {
			return beginWrite(out, s, opt, share, func(w *format.Counter, opts []ipc.Option) (ipcWriter, error) {
				return ipc.NewFileWriter(w, opts...)
			})
		}}
}

// StreamWriter writes IPC streams, which can be read while they are written.
func StreamWriter() format.Writer {
	return format.Writer{Name: "arrow-stream", Ext: ".arrows", Memory: writeMemory,
		Begin: func(out format.Output, s *arrow.Schema, opt format.WriteOptions, share *mem.Budget) (format.File, error) {
			return beginWrite(out, s, opt, share, func(w *format.Counter, opts []ipc.Option) (ipcWriter, error) {
				return ipc.NewWriter(w, opts...), nil
			})
		}}
}

// ipcWriter is what the two writers of the Arrow library have in common.
type ipcWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

const (
	// writeBase is for messages' metadata, and for the offsets and bitmaps of
	// arrays that begin in the middle of their buffers.
	writeBase   = 1 << 20
	writeColumn = 1 << 10 // of the schema and of a batch's metadata, a column

	lz4Cost  = 1 << 20
	zstdCost = 24 << 20 // the library's encoder looks back 8 MiB

	// Compressed batches are collected whole; larger ones are cut.
	packedLeast = 4 << 20
	packedMost  = 32 << 20
)

// packing is how a codec's name says buffers are compressed.
type packing struct {
	cost int64 // of its encoder; 0: they are not
	opt  ipc.Option
}

func packingOf(codec string) (packing, error) {
	switch codec {
	case "", "none":
		return packing{}, nil
	case "lz4":
		return packing{lz4Cost, ipc.WithLZ4()}, nil
	case "zstd":
		return packing{zstdCost, ipc.WithZstd()}, nil
	}
	return packing{}, format.Error(format.ErrUsage, "arrow: codec %q is not one of none, lz4, zstd", codec)
}

func writeMemory(s *arrow.Schema, opt format.WriteOptions) (least, most int64, err error) {
	for _, f := range s.Fields() {
		if t := unwritable(f.Type); t != nil {
			return 0, 0, format.Error(format.ErrUsage, "arrow: column %q: values of type %s are not written; --columns chooses others", f.Name, t)
		}
	}
	pack, err := packingOf(opt.Codec)
	least = writeBase + writeColumn*int64(s.NumFields())
	if err != nil || pack.cost == 0 {
		return least, least, err
	}
	least += pack.cost
	return least + packedLeast, least + packedMost, nil
}

// unwritable is the part of a type of which the Arrow library cannot write
// slices; nil: there is none.
func unwritable(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.ListViewType, *arrow.LargeListViewType, *arrow.SparseUnionType, *arrow.DenseUnionType:
		return t
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if u := unwritable(f.Type); u != nil {
				return u
			}
		}
	}
	return nil
}

func beginWrite(out format.Output, s *arrow.Schema, opt format.WriteOptions, share *mem.Budget,
	open func(*format.Counter, []ipc.Option) (ipcWriter, error)) (format.File, error) {
	pack, err := packingOf(opt.Codec)
	if err != nil {
		return nil, err
	}
	need := pack.cost + writeBase + writeColumn*int64(s.NumFields())
	lease, ok := share.TryAcquire(need)
	if !ok {
		return nil, &mem.TooSmallError{Share: "arrow", Need: need, Limit: share.Free()}
	}
	f := &written{lease: lease, share: share, packed: pack.cost > 0, sent: format.Counter{Writer: out}}
	opts := []ipc.Option{ipc.WithSchema(s)}
	if f.packed {
		opts = append(opts, pack.opt)
	}
	if f.w, err = open(&f.sent, opts); err != nil {
		lease.Release()
		return nil, fmt.Errorf("arrow: %w", err)
	}
	return f, nil
}

// written writes batches as they are: buffers go to the output without a copy,
// but for the offsets and bitmaps of arrays that begin in the middle of their
// buffers. Compressed ones are copies.
type written struct {
	w      ipcWriter
	lease  *mem.Lease
	share  *mem.Budget
	packed bool
	sent   format.Counter
	rows   int64
}

func (f *written) Write(b *stream.Batch) error {
	var err error
	if f.packed {
		err = f.pack(b.Record)
	} else {
		err = f.w.Write(b.Record)
	}
	if err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	f.rows += b.Rows()
	return nil
}

// pack writes rec in as few batches as the share has room for their compressed
// forms.
func (f *written) pack(rec arrow.RecordBatch) error {
	// Data that cannot be compressed grows by less than an eighth.
	need := layout.Size(rec)
	need += need/8 + writeBase
	lease, ok := f.share.TryAcquire(need)
	if ok {
		defer lease.Release()
		return f.w.Write(rec)
	}
	rows := rec.NumRows()
	if rows < 2 {
		return &mem.TooSmallError{Share: "a row", Need: need, Limit: f.share.Free()}
	}
	for _, part := range [][2]int64{{0, rows / 2}, {rows / 2, rows}} {
		half := rec.NewSlice(part[0], part[1])
		err := f.pack(half)
		half.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *written) Size() int64 { return f.sent.N }

// Close ends the file; one without batches still has its schema.
func (f *written) Close() (format.Part, error) {
	err := f.w.Close()
	f.Abort()
	if err != nil {
		return format.Part{}, fmt.Errorf("arrow: %w", err)
	}
	return format.Part{Rows: f.rows}, nil
}

func (f *written) Abort() {
	f.lease.Release()
	f.w = nil
}
