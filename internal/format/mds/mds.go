// Package mds reads and writes MDS, the shards that mosaicml-streaming trains
// from: a directory of shards and an index.json that lists them. Below it
// there may be such directories again, one a split; they are read one after
// another in the order of their names. An index that was merged from others
// takes their place.
//
// Reading. Columns become:
//
//	bytes, jpeg, png              binary
//	str, json                     string: the text as it is stored
//	str_int, str_float,
//	str_decimal                   string: digits of any number, exact
//	int                           int64
//	uint8 … int64, float16 … 64   the same
//	pil                           struct {width, height uint32; mode string; data binary}
//	jpeg_array, list[jpeg|png]    list of binary
//	list[pil]                     list of the struct above
//	ndarray:TYPE:SHAPE            fixed-size list of TYPE, row-major
//	ndarray:TYPE                  struct {shape list<int64>; data list<TYPE>}
//	ndarray                       struct {dtype string; shape list<int64>; data binary}
//
// The encoding is kept in the field's metadata as "mds.encoding". Pickles run
// code when they are read: a column of them is refused, unless other columns
// are picked. Text that is not UTF-8 is an
// error.
//
// The index is what counts; what shards say about themselves is not looked at,
// but for their offsets, which must be those of the samples. Where a shard
// lies there both compressed and not, the one that is not is read. All hashes
// that the index has of the file read are checked while it is read, before
// the last rows of a shard are given; a shard that is resumed in its middle
// is not hashed.
//
// Writing is told at Writer.
package mds

import (
	"bytes"
	"path"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// indexName is the name of the file that lists a directory's shards.
const indexName = "index.json"

// Format reads MDS datasets.
func Format() format.Format {
	return format.Format{Name: "mds", Sniff: sniff, Gather: gather, Plan: Plan}
}

// sniff takes an index that is named alone, of which Plan says more.
func sniff(c format.Clue) bool {
	head := bytes.TrimLeft(c.Head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	head = bytes.TrimLeft(head[1:], " \t\r\n")
	shards, version := []byte(`"shards"`), []byte(`"version"`)
	if !bytes.HasPrefix(head, shards) && !bytes.HasPrefix(head, version) {
		return false
	}
	// The columns of a first shard can fill the head.
	return bytes.Contains(head, shards) && (bytes.Contains(head, version) || bytes.Contains(head, []byte(`"column_`)))
}

// gather keeps indexes that have shards in their directory or below it, and
// those shards.
func gather(objects []store.Object) []store.Object {
	dirs := make(map[string]bool) // whether it has shards
	for _, o := range objects {
		if dir, base := path.Split(o.URL); base == indexName {
			dirs[dir] = false
		}
	}
	shards := make([]bool, len(objects))
	for i, o := range objects {
		shards[i] = isShard(o.URL) && mark(dirs, o.URL)
	}
	var out []store.Object
	for i, o := range objects {
		dir, base := path.Split(o.URL)
		if shards[i] || base == indexName && dirs[dir] {
			out = append(out, o)
		}
	}
	return out
}

// isShard goes by the name: x.mds, x.mds.zstd.
func isShard(url string) bool {
	base := path.Base(url)
	return strings.HasSuffix(base, ".mds") || strings.Contains(base, ".mds.")
}

// mark notes a shard for every index above it; false: there is none.
func mark(dirs map[string]bool, url string) bool {
	found := false
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] != '/' {
			continue
		}
		if _, ok := dirs[url[:i+1]]; ok {
			dirs[url[:i+1]], found = true, true
		}
	}
	if _, ok := dirs[""]; ok {
		dirs[""], found = true, true
	}
	return found
}
