package mds

import (
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
)

// packing is how shards are compressed.
type packing struct {
	name  string // as MDS has it, with the level; "": they are not
	file  codec.File
	level int
}

// ending is what the names of compressed shards have more.
func (p packing) ending() string {
	base, _, _ := strings.Cut(p.name, ":")
	if base == "" {
		return ""
	}
	return "." + base
}

func packingOf(name string) (packing, error) {
	file, level, err := codec.Parse(name)
	p := packing{file: file, level: level}
	if err == nil {
		switch file {
		case codec.PlainFile:
			return packing{}, nil
		case codec.BrotliFile:
			p.name = "br"
		case codec.Bzip2File:
			p.name = "bz2"
		case codec.GzipFile:
			p.name = "gz"
		case codec.ZstdFile:
			p.name = "zstd"
		case codec.SnappyFile:
			p.name, p.file = "snappy", codec.SnappyBlockFile
		default:
			err = fmt.Errorf("compression %q is not one of br, bz2, gz, snappy, zstd", name)
		}
	}
	if err != nil {
		return packing{}, format.Error(format.ErrUsage, "mds: %w", err)
	}
	if _, number, ok := strings.Cut(name, ":"); ok {
		p.name += ":" + number
	}
	return p, nil
}

func (p packing) cost() int64 {
	if p.file == codec.SnappyBlockFile {
		return codec.SnappyBlockWriteCost
	}
	return p.file.WriteCost(p.level)
}

// open compresses size bytes to w.
func (p packing) open(w io.Writer, size int64) (io.WriteCloser, error) {
	if p.file == codec.SnappyBlockFile {
		return codec.NewSnappyBlockWriter(w, size)
	}
	out, err := p.file.NewWriter(w, p.level)
	// mosaicml-streaming decompresses zstd at one go, and only what tells its size.
	if z, ok := out.(interface{ ResetContentSize(io.Writer, int64) }); ok && err == nil {
		z.ResetContentSize(w, size)
	}
	return out, err
}

// note is what the index needs of a shard.
type note struct {
	raw, zip sums
}

// sums is the length of a file and its hashes.
type sums struct {
	bytes  int64
	hashes []string // in hex
}

// summer passes on what is written, and sums it up.
type summer struct {
	format.Counter
	hashes []hash.Hash
}

func (d *design) summer(w io.Writer) *summer {
	s := &summer{Counter: format.Counter{Writer: w}}
	for _, h := range d.hashes {
		s.hashes = append(s.hashes, hashes[h]())
	}
	return s
}

func (s *summer) Write(p []byte) (int, error) {
	for _, h := range s.hashes {
		h.Write(p)
	}
	return s.Counter.Write(p)
}

func (s *summer) sums() sums {
	out := sums{bytes: s.N}
	for _, h := range s.hashes {
		out.hashes = append(out.hashes, fmt.Sprintf("%x", h.Sum(nil)))
	}
	return out
}
