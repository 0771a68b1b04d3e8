package meta

import (
	"encoding/base64"
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

// Arrow writers leave their schema in the footer. It knows three things that
// Parquet cannot say and weir keeps: the zones of timestamps, durations, and
// which lists have one size. It is read in place, as the flatbuffer it is,
// beside the tree of nodes.

const (
	arrowKey    = "ARROW:schema"
	maxArrow    = 8 << 20 // some 50,000 columns; a longer one is ignored
	maxZone     = 64      // bytes of the name of a zone
	messageHead = 0xFFFFFFFF
)

// arrowSchema reads the n bytes of base64 that come next. A schema that does
// not parse is as good as none.
func (p *footerParser) arrowSchema(n int) {
	if n > maxArrow {
		p.jump(n)
		return
	}
	size := int64(base64.StdEncoding.DecodedLen(n))
	if p.err == nil {
		p.err = p.pay.pay(size)
	}
	if p.err != nil {
		return
	}
	p.arrow = make([]byte, size)
	in := &span{p.decoder, n}
	got, _ := io.ReadFull(base64.NewDecoder(base64.StdEncoding, in), p.arrow)
	clear(p.arrow[got:])
	p.jump(in.n)
}

// span reads the next n bytes of a decoder.
type span struct {
	d *decoder
	n int
}

func (s *span) Read(b []byte) (int, error) {
	if s.n == 0 {
		return 0, io.EOF
	}
	b = b[:min(len(b), s.n)]
	s.d.read(b)
	s.n -= len(b)
	return len(b), s.d.err
}

// restore sets zones, durations and sizes of lists as message, an Arrow IPC
// message with a schema, has them.
func (s *Schema) restore(message []byte) {
	b := flat(message)
	if uint32(b.uint32(0)) == messageHead {
		b = b[4:]
	}
	if len(b) < 4 {
		return
	}
	b = b[4:]
	root := b.ref(0)
	if b.byte(b.slot(root, 1)) != 1 { // the header is a schema
		return
	}
	fields := b.ref(b.slot(b.ref(b.slot(root, 2)), 1))
	if b.count(fields) != len(s.Columns) {
		return
	}
	for i, n := range s.Columns {
		b.restore(n, b.ref(fields+4+4*i))
	}
}

// Numbers in Arrow's Schema.fbs.
const (
	flatTimestamp = 10
	flatFixedList = 16
	flatDuration  = 18
)

// restore sets the types below n as the Arrow field at f has them, where both
// have the same shape.
func (b flat) restore(n *Node, f int) {
	if n.Kind != LeafKind {
		children := b.ref(b.slot(f, 5))
		if b.count(children) != len(n.Children) {
			return
		}
		for i, c := range n.Children {
			b.restore(c, b.ref(children+4+4*i))
		}
		if b.byte(b.slot(f, 2)) == flatFixedList && n.CanFix() {
			n.setSize(b.uint32(b.slot(b.ref(b.slot(f, 3)), 0)))
		}
		return
	}
	kind, details := b.byte(b.slot(f, 2)), b.ref(b.slot(f, 3))
	switch t := n.Field.Type.(type) {
	case *arrow.TimestampType:
		if zone := b.text(b.ref(b.slot(details, 1))); kind == flatTimestamp && t.TimeZone == "UTC" && zone != "" && zone != "UTC" {
			n.Field.Type = &arrow.TimestampType{Unit: t.Unit, TimeZone: zone}
		}
	case *arrow.Int64Type:
		if kind == flatDuration {
			unit := arrow.Millisecond
			if at := b.slot(details, 0); at != 0 {
				unit = arrow.TimeUnit(b.uint16(at) & 3)
			}
			n.Field.Type = &arrow.DurationType{Unit: unit}
		}
	}
}

// flat is a flatbuffer. Places beyond its end, and what hangs on place zero,
// read as zero: a damaged buffer says nothing rather than something wrong
// that matters.
type flat []byte

func (b flat) byte(at int) byte {
	if at <= 0 || at >= len(b) {
		return 0
	}
	return b[at]
}

func (b flat) uint16(at int) int {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[at:]))
}

func (b flat) uint32(at int) int {
	if at < 0 || at+4 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b[at:]))
}

// ref follows the offset at a place; only the root's offset is at zero.
func (b flat) ref(at int) int {
	if off := b.uint32(at); off > 0 && off < len(b) && at+off < len(b) {
		return at + off
	}
	return 0
}

// slot is the place of field i of the table at a place; 0: not there.
func (b flat) slot(table, i int) int {
	if table <= 0 {
		return 0
	}
	vtable := table - int(int32(b.uint32(table)))
	if vtable < 0 || 4+2*i >= b.uint16(vtable) {
		return 0
	}
	off := b.uint16(vtable + 4 + 2*i)
	if off == 0 {
		return 0
	}
	return table + off
}

// count is the length of the vector at a place; -1: not there.
func (b flat) count(vector int) int {
	if vector <= 0 {
		return -1
	}
	return b.uint32(vector)
}

// text is the string at a place, if it is short.
func (b flat) text(at int) string {
	n := b.uint32(at)
	if at <= 0 || n == 0 || n > maxZone || at+4+n > len(b) {
		return ""
	}
	return string(b[at+4 : at+4+n])
}
