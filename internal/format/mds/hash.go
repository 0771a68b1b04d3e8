package mds

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/codec"
)

// hashes are those of Python's hashlib, without those of any length, and of
// its xxhash module.
var hashes = map[string]func() hash.Hash{
	"md5":      md5.New,
	"sha1":     sha1.New,
	"sha224":   sha256.New224,
	"sha256":   sha256.New,
	"sha384":   sha512.New384,
	"sha512":   sha512.New,
	"sha3_224": func() hash.Hash { return sha3.New224() },
	"sha3_256": func() hash.Hash { return sha3.New256() },
	"sha3_384": func() hash.Hash { return sha3.New384() },
	"sha3_512": func() hash.Hash { return sha3.New512() },
	"blake2b":  newBlake2b,
	"blake2s":  newBlake2s,
	"xxh32":    codec.NewXXH32,
	"xxh64":    func() hash.Hash { return xxhash.New() },
	"xxh3_64":  func() hash.Hash { return xxh3.New() },
	"xxh3_128": func() hash.Hash { return xxh128{xxh3.New()} },
	"xxh128":   func() hash.Hash { return xxh128{xxh3.New()} },
}

// hashNames lists them for people.
func hashNames() string { return strings.Join(slices.Sorted(maps.Keys(hashes)), ", ") }

// xxh128 gives all 128 bits.
type xxh128 struct{ *xxh3.Hasher }

func (h xxh128) Size() int { return 16 }

func (h xxh128) Sum(b []byte) []byte {
	s := h.Sum128().Bytes()
	return append(b, s[:]...)
}
