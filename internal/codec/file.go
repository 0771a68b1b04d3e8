package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// File is a compression of whole files, whose decompressed length nothing
// tells beforehand. The zero value is none.
type File uint8

const (
	PlainFile File = iota
	GzipFile
	ZstdFile
	Bzip2File
	XZFile
	LZ4File
	// SnappyFile is snappy's framing format.
	SnappyFile
	BrotliFile
	// SnappyBlockFile is one bare snappy block, as MDS shards are: nothing
	// in its bytes tells it, so Recognise never gives it.
	SnappyBlockFile
)

// fileHead is how many first bytes of a file are looked at: the longest xz
// headers up to the size of their dictionary.
const fileHead = 64

var fileNames = [...]string{"none", "gzip", "zstd", "bz2", "xz", "lz4", "snappy", "brotli", "snappy"}

// String gives the name that also begins every error of the compression.
func (f File) String() string {
	if int(f) < len(fileNames) {
		return fileNames[f]
	}
	return fmt.Sprintf("compression %d", uint8(f))
}

const (
	magicGzip   = "\x1f\x8b\x08"
	magicXZ     = "\xfd7zXZ\x00"
	magicSnappy = "\xff\x06\x00\x00sNaPpY"
	magicZstd   = 0xFD2FB528
)

// Recognise tells how a file is compressed by its first bytes, 64 or all there
// are, and brotli, which begins with nothing to know it by, by a name that
// ends in .br.
func Recognise(name string, head []byte) File {
	switch {
	case bytes.HasPrefix(head, []byte(magicGzip)):
		return GzipFile
	case bytes.HasPrefix(head, []byte(magicXZ)):
		return XZFile
	case bytes.HasPrefix(head, []byte(magicSnappy)):
		return SnappyFile
	case isBzip2(head):
		return Bzip2File
	}
	name = strings.ToLower(name)
	if f := recogniseFrame(name, head); f != PlainFile {
		return f
	}
	if strings.HasSuffix(name, ".br") && len(head) > 0 {
		return BrotliFile
	}
	return PlainFile
}

// isBzip2 wants the mark of a block, or of the end, behind the letters that
// a text could begin with too.
func isBzip2(head []byte) bool {
	return len(head) >= 10 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' &&
		(string(head[4:10]) == "\x31\x41\x59\x26\x53\x59" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// recogniseFrame tells zstd and LZ4 apart, which share the frames to be
// skipped. When those fill the head, the name decides.
func recogniseFrame(name string, head []byte) File {
	skipped := false
	for len(head) >= 4 {
		switch m := binary.LittleEndian.Uint32(head); {
		case m == magicZstd:
			return ZstdFile
		case m == lz4Magic:
			return LZ4File
		case m&^15 != lz4Skippable || len(head) < 8:
			return PlainFile
		}
		skipped = true
		n := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		head = head[min(n, int64(len(head))):]
	}
	switch {
	case !skipped:
		return PlainFile
	case strings.HasSuffix(name, ".lz4"):
		return LZ4File
	}
	return ZstdFile
}

// endings has what Trim takes off, and what it puts in its place.
var endings = [...][][2]string{
	GzipFile:        {{".gz", ""}, {".gzip", ""}, {".tgz", ".tar"}},
	ZstdFile:        {{".zst", ""}, {".zstd", ""}, {".tzst", ".tar"}},
	Bzip2File:       {{".bz2", ""}, {".tbz2", ".tar"}, {".tbz", ".tar"}},
	XZFile:          {{".xz", ""}, {".txz", ".tar"}},
	LZ4File:         {{".lz4", ""}},
	SnappyFile:      {{".sz", ""}, {".snappy", ""}},
	BrotliFile:      {{".br", ""}},
	SnappyBlockFile: {{".snappy", ""}},
}

// Trim takes the ending of the compression off a name, in lower case or not:
// data.csv.gz becomes data.csv, data.tgz becomes data.tar. A name without it
// comes back as it is.
func (f File) Trim(name string) string {
	if int(f) >= len(endings) {
		return name
	}
	for _, e := range endings[f] {
		if at := len(name) - len(e[0]); at > 0 && strings.EqualFold(name[at:], e[0]) {
			return name[:at] + e[1]
		}
	}
	return name
}

// Parse reads a compression as users and MDS indexes write it: a name or an
// ending ("gzip", "gz", "zstd", "br"), and a level behind a colon ("zstd:9").
// The level is 0 where none is told, and Lowest for an explicit 0.
func Parse(name string) (f File, level int, err error) {
	base, number, levelled := strings.Cut(strings.ToLower(name), ":")
	switch base {
	case "", "none":
		f = PlainFile
	case "gz", "gzip":
		f = GzipFile
	case "zst", "zstd":
		f = ZstdFile
	case "bz2", "bzip2":
		f = Bzip2File
	case "xz":
		f = XZFile
	case "lz4":
		f = LZ4File
	case "sz", "snappy":
		f = SnappyFile
	case "br", "brotli":
		f = BrotliFile
	default:
		return 0, 0, fmt.Errorf("compression %q is not one of none, gzip, zstd, bz2, xz, lz4, snappy, brotli", name)
	}
	if !levelled {
		return f, 0, nil
	}
	told, err := strconv.ParseUint(number, 10, 8)
	level = int(told)
	if level == 0 {
		level = Lowest
	}
	if lo, hi := f.levels(); err != nil || level < lo || level > hi {
		return 0, 0, f.noLevel(number)
	}
	return f, level, nil
}
