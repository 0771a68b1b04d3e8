package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"math/rand/v2"
	"sync"
	"testing"
)

// fileDialect is one way of writing a compressed file.
type fileDialect struct {
	name   string
	file   File
	plain  string // its name in benchmarks; "" for none
	ends   int    // places inside at which smallData may end too
	encode func(data []byte) []byte
}

// written compresses by the package's own writer.
func written(f File, level int) func([]byte) []byte {
	return func(b []byte) []byte {
		var out bytes.Buffer
		w := must(f.NewWriter(&out, level))
		must(w.Write(b))
		must(0, w.Close())
		return out.Bytes()
	}
}

// twice compresses two parts of the data one after another.
func twice(encode func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte {
		return append(bytes.Clone(encode(b[:len(b)/3])), encode(b[len(b)/3:])...)
	}
}

var fileDialects = []fileDialect{
	{"none", PlainFile, "", 0, bytes.Clone},
	{"gzip", GzipFile, "gzip", 0, written(GzipFile, 0)},
	{"gzip stored", GzipFile, "", 0, written(GzipFile, Lowest)},
	{"gzip members", GzipFile, "", 1, twice(written(GzipFile, 9))},
	{"zstd", ZstdFile, "zstd", 0, written(ZstdFile, 0)},
	{"zstd whole", ZstdFile, "", 0, func(b []byte) []byte { return zstdFrame(b, true) }},
	{"zstd frames", ZstdFile, "", 1, twice(written(ZstdFile, 9))},
	{"bz2", Bzip2File, "bz2", 0, written(Bzip2File, 0)},
	{"bz2 streams", Bzip2File, "", 1, twice(written(Bzip2File, 1))},
	{"xz stored", XZFile, "", 0, xzStoredFile},
	{"xz streams", XZFile, "", 2, func(b []byte) []byte {
		padded := append(xzStoredFile(b[:len(b)/2]), 0, 0, 0, 0)
		return append(padded, xzStoredFile(b[len(b)/2:])...)
	}},
	{"lz4", LZ4File, "lz4", 0, written(LZ4File, 0)},
	{"lz4 frames", LZ4File, "", 1, twice(written(LZ4File, 9))},
	{"snappy", SnappyFile, "snappy", 1, written(SnappyFile, 0)},
	{"snappy streams", SnappyFile, "", 3, twice(written(SnappyFile, 0))},
	{"brotli", BrotliFile, "brotli", 0, written(BrotliFile, 0)},
	{"brotli lowest", BrotliFile, "", 0, written(BrotliFile, Lowest)},
	{"snappy block", SnappyBlockFile, "snappy-block", 0, func(b []byte) []byte {
		var out bytes.Buffer
		w := must(NewSnappyBlockWriter(&out, int64(len(b))))
		must(w.Write(b))
		must(0, w.Close())
		return out.Bytes()
	}},
}

// xzStoredFile is an xz stream of one block whose chunks are not compressed.
func xzStoredFile(b []byte) []byte {
	sum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	flags := []byte{0, 4}
	out := append([]byte(magicXZ), append(bytes.Clone(flags), sum(flags)...)...)
	header := []byte{2, 0, xzFilterLZMA2, 1, 8, 0, 0, 0}
	out = append(append(out, header...), sum(header)...)
	data, size := len(out), len(b)
	check := crc64.Checksum(b, crcECMA)
	for control := byte(1); len(b) > 0; control = 2 {
		part := b[:min(len(b), 64<<10)]
		b = b[len(part):]
		out = binary.BigEndian.AppendUint16(append(out, control), uint16(len(part)-1))
		out = append(out, part...)
	}
	out = append(out, 0)
	unpadded := len(header) + 4 + len(out) - data + 8
	pad := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
	out = binary.LittleEndian.AppendUint64(pad(out), check)
	index := binary.AppendUvarint([]byte{0, 1}, uint64(unpadded))
	index = pad(binary.AppendUvarint(index, uint64(size)))
	index = append(index, sum(index)...)
	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	out = append(append(out, index...), sum(footer)...)
	return append(append(out, footer...), "YZ"...)
}

// records is lines of JSON, as training data is.
func records(n int) []byte { return allRecords()[:n:n] }

var allRecords = sync.OnceValue(func() []byte {
	const n = 8 << 20
	r := rand.New(rand.NewPCG(9, 10))
	words := bytes.Fields(text(4 << 20))
	var b []byte
	for id := 0; len(b) < n; id++ {
		b = fmt.Appendf(b, `{"id": %d, "score": %.4f, "url": "https://www.%s.com/%s/%d", "tags": ["%s", "%s"], "text": "`,
			id, r.NormFloat64(), words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(100000),
			words[r.IntN(len(words))], words[r.IntN(len(words))])
		at := r.IntN(len(words) - 100)
		for _, w := range words[at : at+10+r.IntN(90)] {
			b = append(append(b, w...), ' ')
		}
		b = append(b, "\"}\n"...)
	}
	return b[:n]
})

// eachFile runs f for every dialect.
func eachFile(t *testing.T, f func(t *testing.T, d fileDialect)) {
	for _, d := range fileDialects {
		t.Run(d.name, func(t *testing.T) { f(t, d) })
	}
}
