package mds

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

const (
	partSize  = 1 << 26 // MDSWriter's own
	blockMin  = 1 << 20 // so that rows may be larger than a small part
	writeBase = 128 << 10
)

// Writer writes directories of shards, byte for byte those of MDSWriter where
// the encodings are the same and nothing is compressed. Columns become:
//
//	int64                        int
//	other integers, floats       the same
//	bool                         uint8
//	strings                      str
//	binary of all kinds          bytes
//	decimals                     str_decimal
//	dates, times, durations      str, as ISO 8601
//	lists of numbers             ndarray:TYPE; of fixed size ndarray:TYPE:SIZE
//	all other lists, maps,
//	structs                      json
//	dictionaries                 as their values
//
// A column that was read from MDS keeps its encoding, where it still has the
// type that this encoding is read as. MDS has no nulls: one is an error, except
// within json. Compressions are br, bz2, gz, snappy and zstd.
//
// A shard is held in memory until it is complete: its offsets stand in front.
func Writer() format.Writer {
	return format.Writer{
		Name: "mds", Ext: ".mds", PartSize: partSize,
		PartName: func(part int, opt format.WriteOptions) string {
			p, err := packingOf(opt.Codec)
			if err != nil {
				p = packing{} // Memory says so
			}
			return shardName(part) + p.ending()
		},
		Memory: writeMemory, Begin: begin, Index: writeIndex,
	}
}

func shardName(part int) string { return fmt.Sprintf("shard.%05d.mds", part) }

// design is what is the same for all shards.
type design struct {
	columns []outColumn
	head    int // bytes of sizes of a sample
	pack    packing
	hashes  []string
	limit   int64
	config  []byte
}

func newDesign(s *arrow.Schema, opt format.WriteOptions) (*design, error) {
	d := &design{limit: opt.PartSize}
	var err error
	if d.columns, err = outColumns(s); err != nil {
		return nil, format.Error(format.ErrUsage, "mds: %w", err)
	}
	for _, c := range d.columns {
		if c.size == 0 {
			d.head += 4
		}
	}
	if d.pack, err = packingOf(opt.Codec); err != nil {
		return nil, err
	}
	if d.limit == 0 {
		d.limit = partSize
	}
	if d.limit < 0 || d.limit >= 1<<32 {
		return nil, format.Error(format.ErrUsage, "mds: shards of %s: their offsets reach 4 GiB; choose a smaller --part-size", mem.Format(d.limit))
	}
	for _, h := range opt.Hashes {
		if hashes[h] == nil {
			return nil, format.Error(format.ErrUsage, "mds: hash %q is not one of %s", h, hashNames())
		}
		d.hashes = append(d.hashes, h)
	}
	slices.Sort(d.hashes)
	d.hashes = slices.Compact(d.hashes)
	d.config = d.appendConfig(nil)
	return d, nil
}

func (d *design) block() int { return int(max(d.limit, blockMin)) }

func writeMemory(s *arrow.Schema, opt format.WriteOptions) (least, most int64, err error) {
	d, err := newDesign(s, opt)
	if err != nil {
		return 0, 0, err
	}
	n := int64(mem.BlockSize(d.block())) + d.pack.cost() + writeBase
	return n, n, nil
}

func begin(out format.Output, s *arrow.Schema, opt format.WriteOptions, share *mem.Budget) (format.File, error) {
	d, err := newDesign(s, opt)
	if err != nil {
		return nil, err
	}
	f := &file{design: d, out: out, share: share, vals: make([]value, len(d.columns))}
	need := d.pack.cost() + writeBase
	var ok bool
	if f.lease, ok = share.TryAcquire(need); ok {
		f.block, ok = share.TryMap(d.block())
	}
	if !ok {
		f.lease.Release()
		return nil, &mem.TooSmallError{Share: "mds", Need: need + int64(mem.BlockSize(d.block())), Limit: share.Limit()}
	}
	f.text = render.NewOut(&f.tail)
	return f, nil
}

// file is one shard being written. Samples grow from the front of the block,
// their lengths from its back.
type file struct {
	*design
	out   format.Output
	share *mem.Budget
	lease *mem.Lease
	block *mem.Block
	vals  []value
	text  *render.Out // json goes through it
	tail  tail

	used    int // bytes of samples
	samples int
}

// Size is by MDSWriter's reckoning.
func (f *file) Size() int64 { return int64(8 + len(f.config) + f.used + 4*f.samples) }

// Write takes all rows, whatever the size of a part.
func (f *file) Write(b *stream.Batch) error {
	_, err := f.rows(b, 0, 1<<62)
	return err
}

// Fill takes rows as MDSWriter would: until the next one does not fit the size
// of a part.
func (f *file) Fill(b *stream.Batch, row int64) (int64, error) { return f.rows(b, row, f.limit) }

func (f *file) rows(b *stream.Batch, from, limit int64) (int64, error) {
	defer clear(f.vals)
	for i, c := range f.columns {
		v, err := f.bind(c, b.Record.Column(c.at))
		if err != nil {
			return 0, format.Error(format.ErrData, "mds: column %q: %w", c.name, err)
		}
		f.vals[i] = v
	}
	for row := from; row < b.Rows(); row++ {
		n, err := f.sample(int(row), limit)
		if err != nil {
			return row - from, fmt.Errorf("mds: row %d of the shard: %w", f.samples, err)
		}
		if f.samples > 0 && (n < 0 || f.Size()+int64(n)+4 > limit) {
			return row - from, nil
		}
		ram := f.block.Bytes()
		f.used += n
		f.samples++
		binary.LittleEndian.PutUint32(ram[len(ram)-4*f.samples:], uint32(n))
	}
	return b.Rows() - from, nil
}

// sample puts a sample behind the others and gives its length; less than 0: it
// does not fit the limit, nor the block.
func (f *file) sample(row int, limit int64) (int, error) {
	for {
		ram := f.block.Bytes()
		n, err := f.encode(ram[f.used:max(f.used, len(ram)-4*f.samples-4)], row)
		if n >= 0 || err != nil {
			return n, err
		}
		if f.samples > 0 && int64(len(ram)) >= limit {
			return -1, nil
		}
		if err := f.grow(); err != nil {
			return 0, err
		}
	}
}

// encode writes a sample to dst; less than 0: there is no room.
func (f *file) encode(dst []byte, row int) (int, error) {
	if len(dst) < f.head {
		return -1, nil
	}
	at, size := f.head, 0
	for i, v := range f.vals {
		n, err := v(dst[at:], row)
		if n < 0 || err != nil {
			if err != nil {
				err = fmt.Errorf("column %q: %w", f.columns[i].name, err)
			}
			return -1, err
		}
		if f.columns[i].size == 0 {
			binary.LittleEndian.PutUint32(dst[size:], uint32(n))
			size += 4
		}
		at += n
	}
	return at, nil
}

// grow doubles the block.
func (f *file) grow() error {
	old := f.block.Bytes()
	n := 2 * len(old)
	b, ok := (*mem.Block)(nil), false
	if n <= 1<<32 {
		b, ok = f.share.TryMap(n)
	}
	if !ok {
		return &mem.TooSmallError{Share: "mds", Need: f.share.Used() + int64(mem.BlockSize(n)), Limit: f.share.Limit()}
	}
	copy(b.Bytes(), old[:f.used])
	table := 4 * f.samples
	copy(b.Bytes()[n-table:], old[len(old)-table:])
	f.block.Free()
	f.block = b
	return nil
}

// Close writes the shard.
func (f *file) Close() (format.Part, error) {
	defer f.Abort()
	zip := f.summer(f.out)
	raw := zip
	var pack io.WriteCloser
	size := int64(4*(f.samples+2) + len(f.config) + f.used)
	if size >= 1<<32 {
		return format.Part{}, format.Error(format.ErrUsage, "mds: a shard of %s: its offsets reach 4 GiB; choose a smaller --part-size", mem.Format(size))
	}
	if f.pack.name != "" {
		var err error
		if pack, err = f.pack.open(zip, size); err != nil {
			return format.Part{}, err
		}
		raw = f.summer(pack)
	}
	err := f.send(raw)
	if err == nil && pack != nil {
		err = pack.Close()
	}
	if err != nil {
		return format.Part{}, err
	}
	made := format.Part{Rows: int64(f.samples), Note: note{raw: raw.sums(), zip: zip.sums()}}
	if pack != nil {
		made.Raw = raw.N
	}
	return made, nil
}

// send writes number, offsets, configuration and samples.
func (f *file) send(w io.Writer) error {
	le := binary.LittleEndian
	buf := make([]byte, 0, 16<<10)
	pos := uint32(4*(f.samples+2) + len(f.config))
	buf = le.AppendUint32(le.AppendUint32(buf, uint32(f.samples)), pos)
	ram := f.block.Bytes()
	for i := range f.samples {
		if len(buf) == cap(buf) {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		pos += le.Uint32(ram[len(ram)-4*(i+1):])
		buf = le.AppendUint32(buf, pos)
	}
	for _, p := range [][]byte{buf, f.config, ram[:f.used]} {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// Abort gives the memory back.
func (f *file) Abort() {
	f.block.Free()
	f.lease.Release()
}
