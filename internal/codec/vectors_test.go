package codec

import (
	"bytes"
	"os"
	"testing"
)

// The files were written by the lz4 command, version 1.9.4, from linkedData.
func linkedData() []byte { return bytes.Repeat(text(20_000), 10) }

func TestFramesOfTheLZ4Command(t *testing.T) {
	want := linkedData()
	for _, name := range []string{
		"linked.lz4",    // -B4 -BD -BX --content-size: each block copies from the one before
		"one-block.lz4", // -B7 -9 --no-frame-crc: one block of 4 MiB at most
	} {
		src, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		var d Decoder
		if err := d.Decompress(LZ4, got, src); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: whole: %v", name, err)
		}
		got, err = readStream(LZ4, bytes.NewReader(src), len(want), 3000)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: stream: %v", name, err)
		}
	}
}

func TestXXH32(t *testing.T) {
	for in, want := range map[string]uint32{
		"":    0x02CC5D05,
		"a":   0x550D7456,
		"abc": 0x32D153FF,
		"Nobody inspects the spammish repetition": 0xE2293B2F,
	} {
		if got := xxh32Of([]byte(in)); got != want {
			t.Errorf("%q: %08x, want %08x", in, got, want)
		}
		var x xxh32
		x.reset()
		for i := range in {
			x.write([]byte(in[i : i+1]))
		}
		if got := x.sum(); got != want {
			t.Errorf("%q by the byte: %08x, want %08x", in, got, want)
		}
	}
}

func TestLZ4KnownBlocks(t *testing.T) {
	for _, c := range []struct {
		name, block, want string
		err               string
	}{
		{"empty", "\x00", "", ""},
		{"literals", "\x50Hello", "Hello", ""},
		{"overlap", "\x1fa\x01\x00\x00\x50bbbbb", "aaaaaaaaaaaaaaaaaaaabbbbb", ""},
		{"ends with a match", "\x10a\x01\x00", "aaaaa", "lz4_raw: unexpected EOF"},
		{"offset 0", "\x10a\x00\x00\x50bbbbb", "aaaaabbbbb", "lz4_raw: offset 0 before start"},
		{"offset too far", "\x10a\x02\x00\x50bbbbb", "aaaaabbbbb", "lz4_raw: offset 2 before start"},
		{"too long", "\x60Hello!", "Hello", "lz4_raw: more bytes than the block should have"},
	} {
		var d Decoder
		dst := make([]byte, len(c.want))
		err := d.Decompress(LZ4Raw, dst, []byte(c.block))
		got, serr := readStream(LZ4Raw, bytes.NewReader([]byte(c.block)), len(c.want), 2)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: whole: %v", c.name, err)
			}
			if serr == nil || serr.Error() != c.err {
				t.Errorf("%s: stream: %v", c.name, serr)
			}
		} else if err != nil || serr != nil || string(dst) != c.want || string(got) != c.want {
			t.Errorf("%s: %v, %v, %q, %q", c.name, err, serr, dst, got)
		}
	}
}
