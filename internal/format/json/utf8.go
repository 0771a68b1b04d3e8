package json

// States of a character that is being read, as shifts into utf8Steps.
const (
	whole    = 6 * iota // no character is begun
	last                // one more byte of 80 to bf
	two                 // two more
	three               // three more
	afterE0             // a0 to bf, then one more
	afterED             // 80 to 9f, then one more
	afterF0             // 90 to bf, then two more
	afterF4             // 80 to 8f, then two more
	rejected            // for good
)

// utf8Steps has, for each byte, the state that comes behind each state: a
// step is a load and a shift, and no branch depends on the text.
var utf8Steps = func() (t [256]uint64) {
	rules := []struct {
		state    uint
		from, to int
		next     uint64
	}{
		{whole, 0x00, 0x7f, whole}, {whole, 0xc2, 0xdf, last}, {whole, 0xe0, 0xe0, afterE0}, {whole, 0xe1, 0xec, two},
		{whole, 0xed, 0xed, afterED}, {whole, 0xee, 0xef, two}, {whole, 0xf0, 0xf0, afterF0}, {whole, 0xf1, 0xf3, three},
		{whole, 0xf4, 0xf4, afterF4}, {last, 0x80, 0xbf, whole}, {two, 0x80, 0xbf, last}, {three, 0x80, 0xbf, two},
		{afterE0, 0xa0, 0xbf, last}, {afterED, 0x80, 0x9f, last}, {afterF0, 0x90, 0xbf, two}, {afterF4, 0x80, 0x8f, two},
	}
	for c := range t {
		for s := range rejected/6 + 1 {
			t[c] |= rejected << (6 * s)
		}
		for _, r := range rules {
			if r.from <= c && c <= r.to {
				t[c] = t[c]&^(63<<r.state) | r.next<<r.state
			}
		}
	}
	return t
}()

// valid says whether p is UTF-8.
func valid(p []byte) bool {
	state := uint64(whole)
	for len(p) >= 8 {
		if state&63 == whole && load(p, 0)&highs == 0 {
			p = p[8:]
			continue
		}
		state = utf8Steps[p[0]] >> (state & 63)
		state = utf8Steps[p[1]] >> (state & 63)
		state = utf8Steps[p[2]] >> (state & 63)
		state = utf8Steps[p[3]] >> (state & 63)
		state = utf8Steps[p[4]] >> (state & 63)
		state = utf8Steps[p[5]] >> (state & 63)
		state = utf8Steps[p[6]] >> (state & 63)
		state = utf8Steps[p[7]] >> (state & 63)
		p = p[8:]
	}
	for _, c := range p {
		state = utf8Steps[c] >> (state & 63)
	}
	return state&63 == whole
}
