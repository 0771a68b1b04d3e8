package arrow

import "encoding/binary"

// flat reads a flatbuffer. What would lie outside of it reads as nothing and
// sets bad, so that whoever asks many things checks once.
type flat struct {
	b   []byte
	bad bool
}

// has says that n bytes lie at at.
func (f *flat) has(at, n int) bool {
	if at < 0 || n < 0 || at > len(f.b)-n {
		f.bad = true
		return false
	}
	return true
}

func (f *flat) u16(at int) int {
	if !f.has(at, 2) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(f.b[at:]))
}

func (f *flat) u32(at int) int {
	if !f.has(at, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f.b[at:]))
}

func (f *flat) u64(at int) uint64 {
	if !f.has(at, 8) {
		return 0
	}
	return binary.LittleEndian.Uint64(f.b[at:])
}

// table is a table of a flatbuffer; the zero value is one that is not there,
// whose fields all have their defaults.
type table struct {
	f      *flat
	at     int
	vt, vn int // its list of fields, and how many bytes that has
}

// root is the table that the buffer is about.
func (f *flat) root() table { return f.tableAt(f.u32(0)) }

func (f *flat) tableAt(at int) table {
	vt := at - int(int32(f.u32(at)))
	vn := f.u16(vt)
	if vn < 4 || !f.has(vt, vn) {
		f.bad = true
		return table{}
	}
	return table{f: f, at: at, vt: vt, vn: vn}
}

// there says that t is not the zero value.
func (t table) there() bool { return t.f != nil }

// slot is where the i-th field lies; 0: it has its default.
func (t table) slot(i int) int {
	if o := 4 + 2*i; t.f != nil && o+2 <= t.vn {
		if rel := t.f.u16(t.vt + o); rel != 0 {
			return t.at + rel
		}
	}
	return 0
}

func (t table) byte(i int) byte {
	at := t.slot(i)
	if at == 0 || !t.f.has(at, 1) {
		return 0
	}
	return t.f.b[at]
}

func (t table) bool(i int) bool { return t.byte(i) != 0 }

func (t table) int16(i int, def int16) int16 {
	if at := t.slot(i); at != 0 {
		return int16(t.f.u16(at))
	}
	return def
}

func (t table) int32(i int, def int32) int32 {
	if at := t.slot(i); at != 0 {
		return int32(t.f.u32(at))
	}
	return def
}

func (t table) int64(i int) int64 {
	if at := t.slot(i); at != 0 {
		return int64(t.f.u64(at))
	}
	return 0
}

// table is the table that the i-th field points to.
func (t table) table(i int) table {
	at := t.slot(i)
	if at == 0 {
		return table{}
	}
	return t.f.tableAt(at + t.f.u32(at))
}

// vector is a list of n items of size bytes each.
type vector struct {
	f    *flat
	at   int
	n    int
	size int
}

// vector is the list that the i-th field points to; none is an empty one.
func (t table) vector(i, size int) vector {
	at := t.slot(i)
	if at == 0 {
		return vector{}
	}
	at += t.f.u32(at)
	n := t.f.u32(at)
	if !t.f.has(at+4, n*size) {
		return vector{}
	}
	return vector{f: t.f, at: at + 4, n: n, size: size}
}

// text is the string that the i-th field points to.
func (t table) text(i int) string {
	v := t.vector(i, 1)
	if v.n == 0 {
		return ""
	}
	return string(v.f.b[v.at : v.at+v.n])
}

// item is where the i-th item lies. One behind the end sets bad.
func (v vector) item(i int) int { return v.at + i*v.size }

// int64 is the number that lies off bytes into the i-th item.
func (v vector) int64(i, off int) int64 { return int64(v.f.u64(v.item(i) + off)) }

// table is the table that the i-th item points to.
func (v vector) table(i int) table {
	at := v.item(i)
	return v.f.tableAt(at + v.f.u32(at))
}
