package arrow

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// dataset is a list of files with one schema.
type dataset struct {
	src    format.Source
	opt    format.Options
	schema *arrow.Schema
	info   format.Info
	needs  needs
	remote bool // a read costs a round trip

	// kept are the indexes of the first objects, as far as they are small.
	kept     map[int]*index
	keptHeap int64
}

// needs is the memory that reading takes at least.
type needs struct {
	batches int64 // record batches of the object that has most
	index   int64 // of the object whose index is largest
	meta    int64 // the longest metadata of a message
	footer  int64 // the longest one
	parts   int64 // buffers of a batch
	row     int64 // bytes of a row, the mean of the batch where that is largest
	dict    int64 // dictionaries

	codecs     int64 // their state
	part       int64 // the longest compressed buffer
	stored     int64 // the compressed batch that is largest
	batch      int64 // the same, decompressed
	compressed int64 // number of such batches
}

// keptMost bounds the memory of the indexes that are kept from planning to
// reading; others are made again.
const keptMost = 256 << 10

func (d *dataset) Schema() *arrow.Schema { return d.schema }
func (d *dataset) Info() format.Info     { return d.info }

// Plan reads the schemas and the descriptions of all record batches, and of
// the compressed batches that seem largest how long they are when decompressed.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	if err := oneSaving(src.Objects); err != nil {
		return nil, err
	}
	d := &dataset{src: src, opt: opt, kept: map[int]*index{}}
	var bySize, byRows candidate
	for i := range src.Objects {
		s := &survey{d: d, object: i, bySize: &bySize, byRows: &byRows}
		if err := d.visit(ctx, i, s.file); err != nil {
			return nil, err
		}
	}
	for _, c := range []candidate{bySize, byRows} {
		if c.most == 0 || (c == byRows && c.at == bySize.at && c.object == bySize.object) {
			continue
		}
		if err := d.visit(ctx, c.object, func(ctx context.Context, f *file) error { return d.measure(ctx, f, c.at) }); err != nil {
			return nil, err
		}
	}
	d.estimate()
	if d.needs.compressed > 1 {
		// Others may be somewhat larger than those that were measured.
		d.needs.batch += d.needs.batch / 8
	}
	return d, nil
}

// candidate is a batch that may be the one that needs most.
type candidate struct {
	most   int64
	object int
	at     int64
}

func (c *candidate) offer(n int64, object int, at int64) {
	if n > c.most {
		*c = candidate{n, object, at}
	}
}

// visit opens object i.
func (d *dataset) visit(ctx context.Context, i int, with func(context.Context, *file) error) error {
	f, err := open(ctx, d.src.Store, d.src.Objects[i], new(stream.Waits))
	if err != nil {
		return err
	}
	defer f.close()
	if err := with(ctx, f); err != nil {
		return inFile(f.name, err)
	}
	return nil
}

// survey looks at one file.
type survey struct {
	d              *dataset
	object         int
	bySize, byRows *candidate
	x              *indexer
	bodies         bodies
	batch          batch

	dicts map[int64]int64 // memory of each
	sum   int64           // of all
	most  int64           // the largest sum
	part  int64           // the largest message
	again bool            // one was added to or replaced
}

func (s *survey) file(ctx context.Context, f *file) error {
	d := s.d
	columns, err := d.choose(f.schema)
	if err != nil {
		return err
	}
	d.describe(f.schema, columns)
	d.remote = d.remote || f.r.Remote()
	s.x, s.dicts, s.bodies.r = newIndexer(f.schema, columns), map[int64]int64{}, f.r
	err = f.walk(ctx, func(at int64, m *message) error { return s.message(ctx, at, m) })
	if err != nil {
		return err
	}
	x := s.x.end()
	n := &d.needs
	n.batches, n.index = max(n.batches, int64(len(x.batches))), max(n.index, x.heap())
	n.footer = max(n.footer, int64(len(f.footer)))
	generations := int64(1)
	if s.again || len(d.src.Objects) > 1 {
		// A batch that is still used, what is read now, and what becomes of it.
		generations = 3
	}
	if s.most > 0 {
		n.dict = max(n.dict, generations*s.most+s.part)
	}
	if size := x.heap(); d.keptHeap+size <= keptMost {
		d.kept[s.object] = x
		d.keptHeap += size
	}
	d.info.Objects++
	d.info.Rows += s.x.total
	d.info.Groups += int64(x.count())
	return nil
}

// describe makes the schema: that of the first file, and a column may be null
// if it may be in any file.
func (d *dataset) describe(s *schema, columns []int) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = s.fields[c].Field
		fields[i].Nullable = fields[i].Nullable || (d.schema != nil && d.schema.Field(i).Nullable)
		if d.schema != nil {
			fields[i].Type, fields[i].Metadata = d.schema.Field(i).Type, d.schema.Field(i).Metadata
		}
	}
	meta := s.meta
	if d.schema != nil {
		meta = d.schema.Metadata()
	}
	d.schema = arrow.NewSchema(fields, &meta)
}

func (s *survey) message(ctx context.Context, at int64, m *message) error {
	n := &s.d.needs
	n.meta = max(n.meta, int64(len(m.flat.b)))
	before := len(s.x.dicts)
	if err := s.x.add(at, m); err != nil {
		return err
	}
	if m.kind == dictMessage {
		if len(s.x.dicts) == before {
			return nil
		}
		return s.dictionary(ctx, m)
	}
	b := &s.batch
	if err := b.parse(m, m.head, s.x.schema.fields, s.x.columns); err != nil {
		return damaged("record batch %d: %w", len(s.x.batches)-1, err)
	}
	n.parts = max(n.parts, int64(len(b.parts)))
	if b.rows > 0 {
		n.row = max(n.row, b.size/b.rows)
	}
	s.d.info.Bytes += b.size
	s.d.info.LargestIn = max(s.d.info.LargestIn, b.size)
	if b.codec != codec.None {
		s.bodies.setSpans(b)
		n.compressed++
		n.compress(b)
		s.bySize.offer(b.size, s.object, at)
		s.byRows.offer(b.rows, s.object, at)
	}
	return nil
}

// compress takes in what is known of a compressed batch before it is measured.
func (n *needs) compress(b *batch) {
	n.stored, n.codecs = max(n.stored, b.stored), max(n.codecs, b.codec.Heap())
	for _, p := range b.parts {
		n.part = max(n.part, p.n)
	}
}

// dictionary adds up what dictionaries take.
func (s *survey) dictionary(ctx context.Context, m *message) error {
	id, delta, err := s.x.schema.dictBatch(m, &s.batch)
	if err != nil {
		return err
	}
	if err := s.bodies.measure(ctx, &s.batch); err != nil {
		return inDictionary(id, err)
	}
	if s.batch.codec != codec.None {
		s.d.needs.compress(&s.batch)
	}
	size := int64(mem.BlockSize(int(s.batch.room())))
	s.part = max(s.part, size)
	old, known := s.dicts[id]
	s.again = s.again || known
	if delta {
		size = int64(mem.BlockSize(int(old + size + concatRoom(s.x.schema.dicts[id]))))
	}
	s.dicts[id] = size
	s.sum += size - old
	s.most = max(s.most, s.sum)
	return nil
}

// measure finds how long a compressed batch is when it is decompressed.
func (d *dataset) measure(ctx context.Context, f *file, at int64) error {
	columns, err := d.choose(f.schema)
	if err != nil {
		return err
	}
	var m message
	if err := f.peek.message(ctx, at, &m); err != nil {
		return err
	}
	var b batch
	if err := b.parse(&m, m.head, f.schema.fields, columns); err != nil {
		return err
	}
	s := bodies{r: f.r}
	if err := s.measure(ctx, &b); err != nil {
		return err
	}
	room := b.room()
	d.needs.batch = max(d.needs.batch, room)
	if b.rows > 0 {
		d.needs.row = max(d.needs.row, room/b.rows)
	}
	d.info.LargestIn = max(d.info.LargestIn, room)
	return nil
}

// estimate sets what the data has in memory: what is stored, or where it is
// compressed as much more as the largest batch.
func (d *dataset) estimate() {
	d.info.InMemory = d.info.Bytes
	if d.needs.stored > 0 {
		d.info.InMemory = int64(float64(d.info.Bytes) * max(1, float64(d.needs.batch)/float64(d.needs.stored)))
	}
}
