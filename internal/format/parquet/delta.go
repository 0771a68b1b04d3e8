package parquet

import "fmt"

// delta reads DELTA_BINARY_PACKED integers. Blocks of deltas are divided into
// miniblocks, each packed with a width of its own and stored whole.
type delta struct {
	w       *window
	count   int // values the header promised
	left    int // values not yet read
	started bool
	last    uint64
	least   uint64 // the block's smallest delta
	perMini int
	widths  []uint8
	mini    int  // next miniblock of the block
	inMini  int  // values left in the miniblock, padding included
	width   uint // of the miniblock
	bit     uint
	wide    bool // write eight bytes a value, else four
}

// newDelta reads the header.
func newDelta(w *window, wide bool) (*delta, error) {
	var head [3]uint64
	for i := range head {
		v, err := w.uvarint()
		if err != nil {
			return nil, err
		}
		head[i] = v
	}
	first, err := w.varint()
	if err != nil {
		return nil, err
	}
	block, minis, count := head[0], head[1], head[2]
	if count == 0 {
		// A page of nothing but nulls, of which some writers know no block.
		return &delta{w: w, wide: wide}, nil
	}
	if block == 0 || minis == 0 || minis > 4096 || block > 1<<24 || block%minis != 0 || (block/minis)%8 != 0 {
		return nil, fmt.Errorf("delta: block of %d values in %d miniblocks", block, minis)
	}
	if count > 1<<31 {
		return nil, fmt.Errorf("delta: %d values", count)
	}
	return &delta{
		w: w, count: int(count), left: int(count), last: uint64(first), wide: wide,
		perMini: int(block / minis), widths: make([]uint8, minis), mini: int(minis),
	}, nil
}

// fill reads len(dst) values.
func (d *delta) fill(dst []uint64) error { return fillDeltas(d, dst) }

// fillDeltas reads len(dst) values, cut to their type.
func fillDeltas[T uint32 | uint64](d *delta, dst []T) error {
	if len(dst) > d.left {
		return errShort
	}
	d.left -= len(dst)
	if !d.started && len(dst) > 0 {
		d.started = true
		dst[0] = T(d.last)
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.inMini == 0 {
			if err := d.next(); err != nil {
				return err
			}
		}
		n := min(len(dst), d.inMini)
		if err := unpackDeltas(d, dst[:n]); err != nil {
			return err
		}
		d.inMini -= n
		dst = dst[n:]
	}
	return nil
}

// next begins the next miniblock.
func (d *delta) next() error {
	if d.mini == len(d.widths) {
		least, err := d.w.varint()
		if err != nil {
			return err
		}
		d.least = uint64(least)
		if err := d.w.read(d.widths); err != nil {
			return err
		}
		d.mini = 0
	}
	d.width = uint(d.widths[d.mini])
	if d.width > 64 {
		return fmt.Errorf("delta: bit width %d", d.width)
	}
	d.mini++
	d.inMini, d.bit = d.perMini, 0
	return nil
}

// unpackDeltas reads the next len(dst) values of the miniblock.
func unpackDeltas[T uint32 | uint64](d *delta, dst []T) error {
	last, least := T(d.last), T(d.least)
	if d.width == 0 {
		for i := range dst {
			last += least
			dst[i] = last
		}
		dst = nil
	}
	for len(dst) > 0 {
		b, err := d.w.need(int(d.bit+d.width+7) / 8)
		if err != nil {
			return err
		}
		n := min(len(dst), (len(b)*8-int(d.bit))/int(d.width))
		last = addUp(dst[:n], b[:cap(b)], d.bit, d.width, last, least)
		d.bit += uint(n) * d.width
		d.w.skip(int(d.bit >> 3))
		d.bit &= 7
		dst = dst[n:]
	}
	d.last = uint64(last)
	return nil
}

// pass moves the window behind the last value, where the next section of the
// page begins.
func (d *delta) pass() error {
	for {
		if err := d.w.discard(int((uint(d.inMini)*d.width + d.bit + 7) / 8)); err != nil {
			return err
		}
		d.bit = 0
		rest := d.left
		if !d.started {
			rest--
		}
		d.inMini = 0
		if rest <= 0 {
			return nil
		}
		if err := d.next(); err != nil {
			return err
		}
		d.started = true
		d.left = max(0, rest-d.perMini)
	}
}

func (d *delta) fixed(dst []byte, n int) error {
	if d.wide {
		return d.fill(view[uint64](dst)[:n])
	}
	return fillDeltas(d, view[uint32](dst)[:n])
}

func (d *delta) bytes(*byteColumn, int) (int, error) { return 0, errNotBytes }

// lengths hands out non-negative delta-packed lengths one at a time.
type lengths struct {
	d   *delta
	buf [128]uint64
	at  int
	n   int
}

// peek is the next length; take consumes it.
func (l *lengths) peek() (int, error) {
	if l.at == l.n {
		l.at, l.n = 0, min(len(l.buf), l.d.left)
		if l.n == 0 {
			return 0, errShort
		}
		if err := l.d.fill(l.buf[:l.n]); err != nil {
			l.n = 0
			return 0, err
		}
	}
	if v := int64(l.buf[l.at]); v < 0 || v > maxValue {
		return 0, fmt.Errorf("delta: length %d", v)
	}
	return int(l.buf[l.at]), nil
}

func (l *lengths) take() { l.at++ }

// deltaLength reads DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type deltaLength struct {
	sizes lengths
	data  *window
}

// newDeltaLength reads from two windows over the same bytes.
func newDeltaLength(sizes, data *window) (*deltaLength, error) {
	d, err := newDelta(sizes, true)
	if err != nil {
		return nil, err
	}
	p, err := newDelta(data, true)
	if err != nil {
		return nil, err
	}
	if err := p.pass(); err != nil {
		return nil, err
	}
	return &deltaLength{sizes: lengths{d: d}, data: data}, nil
}

func (d *deltaLength) fixed([]byte, int) error { return errNotFixed }

func (d *deltaLength) bytes(c *byteColumn, n int) (int, error) {
	for i := range n {
		size, err := d.sizes.peek()
		if err != nil {
			return i, err
		}
		if !c.room(size) {
			return i, nil
		}
		if err := d.data.read(c.data[c.end : c.end+size]); err != nil {
			return i, err
		}
		d.sizes.take()
		c.end += size
		c.n++
		c.offsets[c.n] = int32(c.end)
	}
	return n, nil
}

// deltaBytes reads DELTA_BYTE_ARRAY: each value is a prefix of the one before
// it and a suffix.
type deltaBytes struct {
	prefixes lengths
	sizes    lengths
	data     *window
	last     []byte
	width    int // of fixed-size values; 0: they vary
}

// newDeltaBytes reads from three windows over the same bytes.
func newDeltaBytes(prefixes, sizes, data *window, width int) (*deltaBytes, error) {
	p, err := newDelta(prefixes, true)
	if err != nil {
		return nil, err
	}
	for _, w := range []*window{sizes, data} {
		skip, err := newDelta(w, true)
		if err != nil {
			return nil, err
		}
		if err := skip.pass(); err != nil {
			return nil, err
		}
	}
	d, err := newDeltaLength(sizes, data)
	if err != nil {
		return nil, err
	}
	return &deltaBytes{prefixes: lengths{d: p}, sizes: d.sizes, data: data, width: width}, nil
}

// size is that of the next value and of its prefix.
func (d *deltaBytes) size() (prefix, size int, err error) {
	if prefix, err = d.prefixes.peek(); err != nil {
		return 0, 0, err
	}
	suffix, err := d.sizes.peek()
	if err != nil {
		return 0, 0, err
	}
	if prefix > len(d.last) || prefix+suffix > maxValue {
		return 0, 0, fmt.Errorf("delta: prefix of %d bytes, the value before has %d", prefix, len(d.last))
	}
	return prefix, prefix + suffix, nil
}

// value writes the next value to dst, which has its size.
func (d *deltaBytes) value(dst []byte, prefix int) error {
	copy(dst, d.last[:prefix])
	if err := d.data.read(dst[prefix:]); err != nil {
		return err
	}
	d.prefixes.take()
	d.sizes.take()
	d.last = append(d.last[:prefix], dst[prefix:]...)
	return nil
}

func (d *deltaBytes) bytes(c *byteColumn, n int) (int, error) {
	for i := range n {
		prefix, size, err := d.size()
		if err != nil {
			return i, err
		}
		if !c.room(size) {
			return i, nil
		}
		if err := d.value(c.data[c.end:c.end+size], prefix); err != nil {
			return i, err
		}
		c.end += size
		c.n++
		c.offsets[c.n] = int32(c.end)
	}
	return n, nil
}

func (d *deltaBytes) fixed(dst []byte, n int) error {
	if d.width == 0 {
		return errNotFixed
	}
	for i := range n {
		prefix, size, err := d.size()
		if err != nil {
			return err
		}
		if size != d.width {
			return fmt.Errorf("delta: value of %d bytes, the column's have %d", size, d.width)
		}
		if err := d.value(dst[i*size:(i+1)*size], prefix); err != nil {
			return err
		}
	}
	return nil
}
