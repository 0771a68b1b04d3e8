package call

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/dedup"
)

// hashing makes keys of rows, 16 bytes each, and hashes, width bytes each, that begin
// with them, as many as sums has room for. Several goroutines may hash rows of one record, each with a
// scratch of its own.
type hashing interface {
	width() int
	hash(rec arrow.RecordBatch, from, to int, keys []dedup.Key, sums []byte, s *dedup.HashScratch)
}

// newHashing chooses it for rows of a schema.
func newHashing(schema *arrow.Schema, s start) (hashing, error) {
	if s.SHA {
		if schema.NumFields() != 1 {
			return nil, unknown("SHA-256 of several columns")
		}
		switch schema.Field(0).Type.ID() {
		case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
			return texts{}, nil
		}
		return nil, format.Error(format.ErrUsage, "SHA-256 is that of text or bytes, not of %s", schema.Field(0).Type)
	}
	h, err := dedup.NewHasher(schema, s.By, dedup.HashOptions{Normalize: s.Normalize})
	return columns{h}, err
}

// columns hashes rows of any type.
type columns struct{ *dedup.Hasher }

func (columns) width() int { return 16 }

func (c columns) hash(rec arrow.RecordBatch, from, to int, keys []dedup.Key, sums []byte, s *dedup.HashScratch) {
	c.Hash(rec, from, to, keys, s)
	for i, k := range keys[:len(sums)/16] {
		binary.LittleEndian.PutUint64(sums[16*i:], k[0])
		binary.LittleEndian.PutUint64(sums[16*i+8:], k[1])
	}
}

// texts hashes the bytes of the one column by SHA-256; the hash of a null is
// zeros.
type texts struct{}

func (texts) width() int { return sha256.Size }

func (texts) hash(rec arrow.RecordBatch, from, to int, keys []dedup.Key, sums []byte, _ *dedup.HashScratch) {
	col := rec.Column(0).(array.BinaryLike)
	data := col.ValueBytes()
	base := col.ValueOffset64(0)
	for i := from; i < to; i++ {
		var sum [sha256.Size]byte
		if col.IsValid(i) {
			at := int(col.ValueOffset64(i) - base)
			sum = sha256.Sum256(data[at : at+col.ValueLen(i)])
		}
		copy(sums[sha256.Size*(i-from):], sum[:])
		keys[i-from] = keyOf(sum[:])
	}
}

// keyOf is the key of a hash.
func keyOf(sum []byte) dedup.Key {
	return dedup.Key{binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])}
}
