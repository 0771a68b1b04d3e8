package shuffle

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Partitions are rows that were scattered. Any number of goroutines may open
// different ones.
type Partitions struct {
	c     Config
	form  *rows.Form
	zone  zone
	parts []Part
}

// Open looks at what a Scatter of the same Config wrote, as its Close said.
func Open(c Config, s State) (*Partitions, error) {
	f, err := rows.New(c.Schema)
	if err == nil && len(s.Partitions) != c.Partitions {
		err = fmt.Errorf("a state of %d partitions, not %d", len(s.Partitions), c.Partitions)
	}
	if err != nil {
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	return &Partitions{c: c, form: f, zone: zone{uint64(c.Partitions)}, parts: s.Partitions}, nil
}

// Schema is that of the rows: dictionaries and views decoded.
func (p *Partitions) Schema() *arrow.Schema { return p.form.Schema() }

// Len is the number of partitions.
func (p *Partitions) Len() int { return len(p.parts) }

// Rows is the number of rows of partition i.
func (p *Partitions) Rows(i int) int64 { return p.parts[i].Rows }

// Open gives the rows of partition i in order, without the first from. Every
// byte is leased from share, and most of it is used if it is that of the Layout;
// where the partition does not fit it is scattered again to scratch disk, which
// takes its size once more until the stream is closed. A row that share cannot
// hold twice is mem.ErrTooSmall. The stream's cursor has i as its object.
func (p *Partitions) Open(ctx context.Context, i int, from int64, share *mem.Budget) (stream.Stream, error) {
	s, err := p.open(ctx, i, from, share)
	if err != nil {
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	return &partition{in: s, schema: p.Schema(), at: stream.Cursor{Object: i, Row: from}}, nil
}

// Remove takes away the scratch file of partition i, which nobody will open
// again.
func (p *Partitions) Remove(i int) error {
	return p.c.Scratch.Remove(partitionName(p.c.Name, i))
}

// source is rows in order: a partition in memory, or several one after the other.
type source interface {
	next(ctx context.Context) (arrow.RecordBatch, error) // io.EOF at the end
	close()
}

func (p *Partitions) open(ctx context.Context, i int, from int64, share *mem.Budget) (source, error) {
	if p.weight(i) <= share.Limit()-reserve(share.Limit()) || p.parts[i].Rows <= 1 {
		return p.load(ctx, i, from, share)
	}
	return p.divide(ctx, i, from, share)
}

// weight is what a partition takes in memory beside what reserve is for.
func (p *Partitions) weight(i int) int64 {
	m := &p.parts[i]
	return int64(mem.BlockSize(int(m.Bytes))) + int64(mem.BlockSize(int(m.Rows)*entryBytes)) + 4*buckets(m.Rows)
}

// partition is a source as a stream.
type partition struct {
	in     source
	at     stream.Cursor
	schema *arrow.Schema
}

func (p *partition) Schema() *arrow.Schema { return p.schema }

func (p *partition) Cursor() stream.Cursor { return p.at }

func (p *partition) Next(ctx context.Context) (*stream.Batch, error) {
	if p.in == nil {
		return nil, io.ErrClosedPipe
	}
	rec, err := p.in.next(ctx)
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("shuffle: %w", err)
	}
	p.at.Row += rec.NumRows()
	return &stream.Batch{Record: rec, After: p.at}, nil
}

func (p *partition) Close() error {
	if p.in != nil {
		p.in.close()
		p.in = nil
	}
	return nil
}
