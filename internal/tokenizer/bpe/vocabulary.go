package bpe

import (
	"math"

	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/alphabet"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// none is no id.
const none = math.MaxUint32

// mostIDs bounds what a single vocabulary may hold: ids are kept in 21 bits.
const mostIDs = 1<<21 - 1

// vocabulary is tokens by their id and ids by their token. In byte-level
// vocabularies a token is kept as the bytes it stands for; one whose text is
// not of the alphabet can never come out of a merge and is kept as written.
type vocabulary struct {
	table   *alphabet.Table // nil: tokens are text
	bytes   []byte
	start   []uint32 // by id: start[id] to stop[id] are the token's bytes; none: no token has this id
	stop    []uint32
	written []bool   // by id: kept as written in spite of a table
	slots   []uint32 // id+1 by the hash of the token, at most half full; 0: empty
	shift   uint
	scratch []byte // of parsing
	count   int    // tokens: distinct texts, as the reference counts
}

// parseVocabulary reads {"token": id, ...}. Text that occurs twice has the
// last id, as in the reference.
func parseVocabulary(spec document.Value, table *alphabet.Table) (*vocabulary, error) {
	count, most, size := 0, uint32(0), 0
	err := spec.Members(func(key, value document.Value) error {
		id, ok := parseID(value)
		if !ok || id >= mostIDs {
			return format.Error(format.ErrUsage, "vocabulary: token %s has the id %s, which is not a number below %d", key, value, mostIDs)
		}
		count++
		most = max(most, id)
		size += len(key)
		return nil
	})
	if err != nil {
		return nil, err
	}
	v := &vocabulary{table: table}
	if count == 0 {
		v.slots, v.shift = make([]uint32, 2), 63
		return v, nil
	}
	v.bytes = make([]byte, 0, size)
	v.start, v.stop, v.written = make([]uint32, most+1), make([]uint32, most+1), make([]bool, most+1)
	for id := range v.start {
		v.start[id] = none
	}
	v.slots, v.shift = slotsFor(count)
	err = spec.Members(v.add)
	return v, err
}

// slotsFor is an empty table that count entries fill by half at most.
func slotsFor(count int) ([]uint32, uint) {
	shift := uint(63)
	for count*2 > 1<<(64-shift) {
		shift--
	}
	return make([]uint32, 1<<(64-shift)), shift
}

func parseID(v document.Value) (uint32, bool) {
	if len(v) == 0 || len(v) > 9 {
		return 0, false
	}
	id := uint32(0)
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		id = id*10 + uint32(c-'0')
	}
	return id, true
}

func (v *vocabulary) add(key, value document.Value) error {
	id, _ := parseID(value)
	begin := len(v.bytes)
	text, ok := key.AppendText(v.bytes)
	if !ok {
		return format.Error(format.ErrData, "vocabulary: token %s is not text", key)
	}
	token, written := text[begin:], false
	if v.table != nil {
		raw, mapped := v.table.AppendBytes(v.scratch[:0], token)
		v.scratch = raw
		if written = !mapped; mapped {
			token = append(text[:begin], raw...)[begin:]
		}
	}
	v.bytes = text[:begin+len(token)]
	slot := v.find(token, written)
	if held := v.slots[slot]; held != 0 {
		v.bytes = v.bytes[:begin] // the same text again
		v.start[id], v.stop[id], v.written[id] = v.start[held-1], v.stop[held-1], written
	} else {
		v.count++
		v.start[id], v.stop[id], v.written[id] = uint32(begin), uint32(begin+len(token)), written
	}
	v.slots[slot] = id + 1
	return nil
}

// find is the slot of a token, or the empty one where it would be.
func (v *vocabulary) find(token []byte, written bool) uint64 {
	mask := uint64(len(v.slots) - 1)
	slot := xxh3.Hash(token) >> v.shift
	for {
		held := v.slots[slot]
		if held == 0 || v.written[held-1] == written && string(v.token(held-1)) == string(token) {
			return slot
		}
		slot = (slot + 1) & mask
	}
}

// id is the id of a token as it is kept (bytes, where there is an alphabet).
func (v *vocabulary) id(token []byte) (uint32, bool) {
	held := v.slots[v.find(token, false)]
	return held - 1, held != 0
}

// textID is the id of a token as tokenizer.json writes it. What it needs of
// memory it takes from scratch, which it returns grown.
func (v *vocabulary) textID(text, scratch []byte) (id uint32, ok bool, grown []byte) {
	written := false
	if v.table != nil {
		raw, mapped := v.table.AppendBytes(scratch[:0], text)
		scratch = raw
		if written = !mapped; mapped {
			text = raw
		}
	}
	held := v.slots[v.find(text, written)]
	return held - 1, held != 0, scratch
}

func (v *vocabulary) token(id uint32) []byte { return v.bytes[v.start[id]:v.stop[id]] }

// holds says that a token has this id.
func (v *vocabulary) holds(id uint32) bool {
	return int(id) < len(v.start) && v.start[id] != none
}
