package bpe

import "unicode/utf8"

// byteSymbols appends the token of every byte; a byte without one is unknown.
func (e *Encoder) byteSymbols(piece []byte, symbols []uint32) []uint32 {
	m := e.model
	if m.complete {
		for _, b := range piece {
			symbols = append(symbols, m.symbol[b])
		}
		return symbols
	}
	u := unknowns{model: m}
	for i, b := range piece {
		symbols = u.add(symbols, m.symbol[b], piece[i:i+1])
	}
	return u.flush(symbols)
}

// textSymbols appends the token of every character.
func (e *Encoder) textSymbols(piece []byte, symbols []uint32) []uint32 {
	m := e.model
	u := unknowns{model: m}
	for at := 0; at < len(piece); {
		if b := piece[at]; b < utf8.RuneSelf {
			symbols = u.add(symbols, m.symbol[b], piece[at:at+1])
			at++
			continue
		}
		_, n := utf8.DecodeRune(piece[at:])
		char := piece[at : at+n]
		id, ok := m.id(char)
		if !ok {
			id = none
		}
		symbols = u.add(symbols, id, char)
		at += n
	}
	return u.flush(symbols)
}

// affixedSymbols appends the token of every character with the prefix that all
// but the first have and the suffix that the last one has.
func (e *Encoder) affixedSymbols(piece []byte, symbols []uint32) []uint32 {
	m := e.model
	u := unknowns{model: m}
	for at := 0; at < len(piece); {
		n := 1
		if m.table == nil {
			_, n = utf8.DecodeRune(piece[at:])
		}
		e.affix = e.affix[:0]
		if at > 0 {
			e.affix = append(e.affix, m.prefix...)
		}
		e.affix = append(e.affix, piece[at:at+n]...)
		if at+n == len(piece) {
			e.affix = append(e.affix, m.suffix...)
		}
		id, ok := m.id(e.affix)
		if !ok {
			id = none
		}
		symbols = u.add(symbols, id, e.affix)
		at += n
	}
	return u.flush(symbols)
}

// unknowns deals with symbols that are not in the vocabulary, in the order in
// which the reference does: an unknown symbol waits for the next known one, and
// bytes that are fallen back on go ahead of it.
type unknowns struct {
	model   *Model
	waiting bool
}

func (u *unknowns) add(symbols []uint32, id uint32, text []byte) []uint32 {
	if id != none {
		return append(u.flush(symbols), id)
	}
	m := u.model
	if m.table != nil {
		text = m.table.AppendText(nil, text)
	}
	begin := len(symbols)
	for _, b := range text {
		symbols = append(symbols, m.fallback[b])
		if m.fallback[b] == none {
			symbols = symbols[:begin]
			break
		}
	}
	if len(symbols) > begin || m.unknown == none {
		return symbols
	}
	if !m.fuse {
		symbols = u.flush(symbols)
	}
	u.waiting = true
	return symbols
}

func (u *unknowns) flush(symbols []uint32) []uint32 {
	if u.waiting {
		symbols = append(symbols, u.model.unknown)
		u.waiting = false
	}
	return symbols
}
