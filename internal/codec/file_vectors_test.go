package codec

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Files were written by the commands gzip 1.12, bzip2 1.0.8, xz 5.4, zstd 1.5
// and lz4 1.9 and by zlib, the large ones from linkedData and the small ones
// from smallData.
func smallData() []byte { return append(patterns(300), text(400)...) }

type fileVector struct {
	fileDialect
	src []byte
}

// sums reports whether checksums cover all that is decompressed.
func (d fileDialect) sums() bool {
	switch d.file {
	case PlainFile, BrotliFile, SnappyBlockFile:
		return false
	}
	return d.name != "small-frames.zst" // its second frame has none
}

func vector(t testing.TB, name string) []byte {
	b, err := os.ReadFile("testdata/files/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func smallVectors(t testing.TB) (out []fileVector) {
	for _, d := range []fileDialect{
		{name: "small.gz", file: GzipFile},
		// Fixed codes, stored, Huffman codes alone, runs; every field of a
		// header; nine zeros behind: a file may end behind each.
		{name: "small-members.gz", file: GzipFile, ends: 4 + 9},
		{name: "small-streams.bz2", file: Bzip2File, ends: 1},
		{name: "small-frames.zst", file: ZstdFile, ends: 2},
		{name: "small.xz", file: XZFile},
	} {
		out = append(out, fileVector{d, vector(t, d.name)})
	}
	return out
}

func TestFilesOfOtherPrograms(t *testing.T) {
	entries, err := os.ReadDir("testdata/files")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		want := linkedData()
		if strings.HasPrefix(e.Name(), "small") {
			want = smallData()
		}
		src := vector(t, e.Name())
		f := Recognise("any", src[:min(len(src), fileHead)])
		if base := f.Trim(e.Name()); f == PlainFile || base == e.Name() {
			t.Errorf("%s: recognised as %s", e.Name(), f)
		}
		for _, piece := range []int{1, 3000, 1 << 20} {
			got, err := readFile(f, bytes.NewReader(src), piece)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", e.Name(), len(got), err)
			}
		}
	}
}

func TestRecognise(t *testing.T) {
	skip := "\x50\x2a\x4d\x18\x02\x00\x00\x00ab"
	long := "\x50\x2a\x4d\x18\x02\x01\x00\x00" + strings.Repeat("a", 56)
	for _, c := range []struct {
		name, head string
		want       File
	}{
		{"x", "", PlainFile},
		{"x.gz", "{}", PlainFile},
		{"x", "\x1f\x8b\x08\x00", GzipFile},
		{"x", "\x1f\x8b", PlainFile},
		{"x", "BZh91AY&SY", Bzip2File},
		{"x", "BZh9\x17\x72\x45\x38\x50\x90", Bzip2File},
		{"x.bz2", "BZh9 is how a text may begin", PlainFile},
		{"x", "\xfd7zXZ\x00\x00\x04", XZFile},
		{"x", "\x28\xb5\x2f\xfd", ZstdFile},
		{"x", "\x04\x22\x4d\x18", LZ4File},
		{"x", skip + "\x28\xb5\x2f\xfd", ZstdFile},
		{"x", skip + skip + "\x04\x22\x4d\x18", LZ4File},
		{"x", skip + "{}{}", PlainFile},
		{"x", long, ZstdFile},
		{"x.LZ4", long, LZ4File},
		{"x", "\xff\x06\x00\x00sNaPpY", SnappyFile},
		{"x.BR", "\x0b\x02", BrotliFile},
		{"x.br", "", PlainFile},
	} {
		if got := Recognise(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s, %.20q: %s, want %s", c.name, c.head, got, c.want)
		}
	}
	eachFile(t, func(t *testing.T, d fileDialect) {
		src := d.encode(text(1000))
		want := d.file
		if want == SnappyBlockFile || want == BrotliFile {
			want = PlainFile
		}
		if got := Recognise("x", src[:fileHead]); got != want {
			t.Errorf("recognised as %s", got)
		}
	})
}

func TestTrim(t *testing.T) {
	for _, c := range []struct {
		file       File
		name, want string
	}{
		{PlainFile, "a.gz", "a.gz"}, {GzipFile, "a.csv.gz", "a.csv"}, {GzipFile, "a.GZIP", "a"},
		{GzipFile, "b/a.tgz", "b/a.tar"}, {GzipFile, "a.csv", "a.csv"}, {GzipFile, ".gz", ".gz"},
		{ZstdFile, "a.jsonl.zst", "a.jsonl"}, {ZstdFile, "a.mds.zstd", "a.mds"}, {ZstdFile, "a.tzst", "a.tar"},
		{Bzip2File, "a.bz2", "a"}, {Bzip2File, "a.tbz2", "a.tar"}, {XZFile, "a.xz", "a"}, {XZFile, "a.txz", "a.tar"},
		{LZ4File, "a.lz4", "a"}, {SnappyFile, "a.sz", "a"}, {SnappyFile, "a.snappy", "a"},
		{BrotliFile, "a.br", "a"}, {SnappyBlockFile, "a.mds.snappy", "a.mds"},
	} {
		if got := c.file.Trim(c.name); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.file, c.name, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in    string
		file  File
		level int
	}{
		{"", PlainFile, 0}, {"none", PlainFile, 0}, {"gz", GzipFile, 0}, {"gzip:6", GzipFile, 6}, {"gz:0", GzipFile, Lowest},
		{"zstd", ZstdFile, 0}, {"ZSTD:9", ZstdFile, 9}, {"zstd:22", ZstdFile, 22}, {"br:11", BrotliFile, 11},
		{"br:0", BrotliFile, Lowest}, {"bz2:9", Bzip2File, 9}, {"snappy", SnappyFile, 0}, {"lz4:3", LZ4File, 3}, {"xz", XZFile, 0},
	} {
		f, level, err := Parse(c.in)
		if err != nil || f != c.file || level != c.level {
			t.Errorf("%q: %s, %d, %v", c.in, f, level, err)
		}
	}
	for in, want := range map[string]string{
		"zip":      `compression "zip" is not one of none, gzip, zstd, bz2, xz, lz4, snappy, brotli`,
		"gz:10":    `compression gzip: level "10" is not one of 0 to 9`,
		"zstd:0":   `compression zstd: level "0" is not one of 1 to 22`,
		"bz2:":     `compression bz2: level "" is not one of 1 to 9`,
		"zstd:-1":  `compression zstd: level "-1" is not one of 1 to 22`,
		"gz:-1":    `compression gzip: level "-1" is not one of 0 to 9`,
		"snappy:1": `compression snappy has no levels: leave out "1"`,
	} {
		if _, _, err := Parse(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v", in, err)
		}
	}
}
