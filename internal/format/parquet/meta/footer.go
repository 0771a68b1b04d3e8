package meta

import (
	"context"
	"fmt"
	"math"
)

// Bytes on the Go heap for what is counted here.
const (
	groupCost   = 8 + 4 // File.first and File.groups
	leastGroup  = 7     // bytes of the shortest description of a row group
	longestText = 4 << 10
)

// footer reads the footer from its beginning to its end.
func (f *File) footer(ctx context.Context, pay *account) error {
	p := &footerParser{decoder: f.win.decoder(ctx, 0), File: f, pay: pay}
	var fd field
	for p.next(&fd) {
		switch fd.id {
		case 2:
			p.schema(fd)
		case 4:
			p.rowGroups(fd)
		case 5:
			p.keyValues(fd)
		case 6:
			p.CreatedBy = p.short(fd)
		default:
			p.skip(fd)
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	return p.finish()
}

// footerParser holds what is needed between the parts of a footer.
type footerParser struct {
	*decoder
	*File
	pay   *account
	elems []element
	arrow []byte // the Arrow schema that the writer left, or nil
}

func (p *footerParser) schema(f field) {
	n := p.list(f, wireStruct)
	if p.elems != nil {
		p.fail("two schemas")
	}
	for i := 0; i < n && p.err == nil; i++ {
		if p.err = p.pay.pay(elementCost); p.err != nil {
			return
		}
		p.elems = append(p.elems, p.element(p.pay.pay))
		if err := p.end(); err != nil {
			p.err = fmt.Errorf("schema element %d: %w", i, err)
		}
	}
}

func (p *footerParser) rowGroups(f field) {
	n := p.list(f, wireStruct)
	switch {
	case p.err != nil:
		return
	case p.first != nil:
		p.fail("two lists of row groups")
		return
	case int64(n) > p.left()/leastGroup:
		p.fail("%d row groups where %d bytes are left", n, p.left())
		return
	}
	if p.err = p.pay.pay(groupCost * int64(n+1)); p.err != nil {
		return
	}
	p.first, p.groups = make([]int64, n+1), make([]uint32, n)
	for i := range p.groups {
		p.groups[i] = uint32(p.offset())
		rows := p.rowGroup()
		if rows > math.MaxInt64-p.first[i] {
			p.fail("more rows than can be counted")
		}
		p.first[i+1] = p.first[i] + rows
		if err := p.end(); err != nil {
			p.err = fmt.Errorf("row group %d: %w", i, err)
			return
		}
	}
}

// rowGroup reads the number of rows of a row group and passes the rest.
func (d *decoder) rowGroup() int64 {
	rows := int64(-1)
	var f field
	for d.next(&f) {
		if f.id == 3 {
			rows = d.int64(f)
		} else {
			d.skip(f)
		}
	}
	if rows < 0 {
		d.fail("no number of rows")
	}
	return rows
}

// short reads a text, or passes it if it is long.
func (p *footerParser) short(f field) string {
	n := p.length(f)
	if n > longestText {
		p.jump(n)
		return ""
	}
	if p.err == nil {
		p.err = p.pay.pay(int64(n))
	}
	return p.text(n)
}

// keyValues looks for the Arrow schema among the writer's remarks.
func (p *footerParser) keyValues(f field) {
	n := p.list(f, wireStruct)
	for i := 0; i < n && p.err == nil; i++ {
		var kv field
		key := ""
		for p.next(&kv) {
			switch {
			case kv.id == 1 && kv.typ == wireBinary:
				if n := p.length(kv); n == len(arrowKey) {
					key = p.text(n)
				} else {
					p.jump(n)
				}
			case kv.id == 2 && kv.typ == wireBinary && key == arrowKey && p.arrow == nil:
				p.arrowSchema(p.length(kv))
			default:
				p.skip(kv)
			}
		}
	}
}

// finish puts the parts together.
func (p *footerParser) finish() error {
	if p.first == nil {
		p.first = make([]int64, 1)
	}
	b := builder{elems: p.elems, pay: p.pay.pay}
	s, err := b.build()
	if err != nil {
		return err
	}
	s.restore(p.arrow)
	p.pay.free(int64(len(p.arrow)))
	s.finish()
	p.Schema = s
	// The footer's own number of rows is ignored: there are writers who left
	// it at zero.
	p.Rows = p.first[len(p.groups)]
	p.pad = padding(p.CreatedBy)
	return nil
}

// padding is how much longer chunks may be than stated: parquet-mr before
// 1.2.9 did not count the dictionary page's header (PARQUET-816).
func padding(createdBy string) int64 {
	var major, minor, patch int
	n, _ := fmt.Sscanf(createdBy, "parquet-mr version %d.%d.%d", &major, &minor, &patch)
	if n == 3 && (major < 1 || major == 1 && (minor < 2 || minor == 2 && patch < 9)) {
		return 100
	}
	return 0
}
