package npy

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// headerSize is that of every file written: the number of rows is filled in
// at the end.
const headerSize = 128

// writeCost is the buffer in which rows are put together.
const writeCost = 256 << 10

// Writer writes all columns, which have one type of numbers, as one array: a
// single column is an array of one dimension, or of two where its values are
// fixed-size lists; several columns are the columns of an array of two
// dimensions. Nulls have no place in it.
func Writer() format.Writer {
	return format.Writer{
		Name: "npy", Ext: ".npy",
		Memory: func(s *arrow.Schema, _ format.WriteOptions) (least, most int64, err error) {
			m, err := newMatrix(s)
			if err != nil {
				return 0, 0, err
			}
			n := int64(mem.BlockSize(max(writeCost, m.row())))
			return n, n, nil
		},
		Begin: begin,
	}
}

// matrix is the array that columns make.
type matrix struct {
	descr  string
	typ    arrow.DataType
	width  int   // bytes of a value
	counts []int // values of each column in a row
	vector bool  // one column of numbers
}

var descrs = map[arrow.Type]string{
	arrow.BOOL: "|b1", arrow.INT8: "|i1", arrow.INT16: "<i2", arrow.INT32: "<i4", arrow.INT64: "<i8",
	arrow.UINT8: "|u1", arrow.UINT16: "<u2", arrow.UINT32: "<u4", arrow.UINT64: "<u8",
	arrow.FLOAT16: "<f2", arrow.FLOAT32: "<f4", arrow.FLOAT64: "<f8",
}

func newMatrix(s *arrow.Schema) (*matrix, error) {
	m := &matrix{}
	for _, f := range s.Fields() {
		typ, n := f.Type, 1
		if list, ok := typ.(*arrow.FixedSizeListType); ok {
			typ, n = list.Elem(), int(list.Len())
		} else {
			m.vector = s.NumFields() == 1
		}
		d, ok := descrs[typ.ID()]
		if !ok {
			return nil, format.Error(format.ErrUsage, "npy: column %q is %s, not a number or a fixed-size list of numbers; --columns chooses", f.Name, f.Type)
		}
		if m.descr != "" && d != m.descr {
			return nil, format.Error(format.ErrUsage, "npy: column %q is %s, the first is %s: an array has one type; --columns chooses", f.Name, typ, m.typ)
		}
		m.descr, m.typ = d, typ
		m.counts = append(m.counts, n)
	}
	if m.descr == "" {
		return nil, format.Error(format.ErrUsage, "npy: there is no column")
	}
	m.width = max(1, m.typ.(arrow.FixedWidthDataType).BitWidth()/8)
	return m, nil
}

// values is those of a row.
func (m *matrix) values() (n int) {
	for _, c := range m.counts {
		n += c
	}
	return n
}

// row is the bytes of a row.
func (m *matrix) row() int { return m.values() * m.width }

// header is the file's front for a number of rows.
func (m *matrix) header(rows int64) []byte { return Header(m.typ, Column{m}.Shape(rows)...) }

// Header is the front of a file that holds an array of numbers or truth values
// in C order, of one dimension or two; the values follow.
func Header(t arrow.DataType, shape ...int64) []byte {
	text := fmt.Sprintf("(%d,)", shape[0])
	if len(shape) > 1 {
		text = fmt.Sprintf("(%d, %d)", shape[0], shape[1])
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descrs[t.ID()], text)
	const front = 10
	out := append([]byte(magic), 1, 0, headerSize-front, 0)
	out = append(out, dict...)
	out = append(out, strings.Repeat(" ", headerSize-1-len(out))...)
	return append(out, '\n')
}

func begin(out format.Output, s *arrow.Schema, _ format.WriteOptions, share *mem.Budget) (format.File, error) {
	m, err := newMatrix(s)
	if err != nil {
		return nil, err
	}
	block, ok := share.TryMap(max(writeCost, m.row()))
	if !ok {
		return nil, &mem.TooSmallError{Share: "npy", Need: int64(mem.BlockSize(max(writeCost, m.row()))), Limit: share.Limit()}
	}
	f := &file{matrix: m, out: out, block: block}
	if _, err := out.Write(m.header(0)); err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

type file struct {
	*matrix
	out   format.Output
	block *mem.Block
	rows  int64
}

func (f *file) Write(b *stream.Batch) error {
	for i, c := range b.Record.Columns() {
		if row := Null(c); row >= 0 {
			return format.Error(format.ErrData, "npy: column %q has nulls from row %d on, which an array cannot hold", b.Record.ColumnName(i), f.rows+int64(row))
		}
	}
	buf := f.block.Bytes()
	step := len(buf) / max(1, f.row())
	for at := 0; at < int(b.Rows()); at += step {
		n := min(step, int(b.Rows())-at)
		column := 0
		for i, c := range b.Record.Columns() {
			f.copy(buf[column:], c, at, n, f.counts[i])
			column += f.counts[i] * f.width
		}
		if _, err := f.out.Write(buf[:n*f.row()]); err != nil {
			return err
		}
	}
	f.rows += b.Rows()
	return nil
}

func (f *file) Size() int64 { return headerSize + f.rows*int64(f.row()) }

func (f *file) Close() (format.Part, error) {
	defer f.Abort()
	if err := f.out.Patch(f.header(f.rows), 0); err != nil {
		return format.Part{}, fmt.Errorf("npy: %w", err)
	}
	return format.Part{Rows: f.rows}, nil
}

func (f *file) Abort() {
	f.block.Free()
	f.block = nil
}
