package mds

import (
	"cmp"
	"encoding/hex"
	"hash"
	"path"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// shard is what is kept of one; there may be many millions.
type shard struct {
	object  int32 // in the listing
	kind    codec.File
	samples uint32
	bytes   int64 // decompressed
	sums    int   // where its hashes begin in catalog.sums
	count   uint8 // of hashes
}

// catalog is the shards of all indexes, found in the listing.
type catalog struct {
	layout
	objects []store.Object
	byURL   []int32 // objects in the order of their URLs
	taken   []bool  // by some index

	shards []shard
	// packed is the largest shard of each compression and level: none takes a
	// larger window.
	packed map[packed]shard
	algos  []string // names of hashes
	sums   []byte   // of each hash: the place of its name, its length, its bytes
}

// packed is a compression and its level.
type packed struct {
	kind  codec.File
	level int
}

func newCatalog(objects []store.Object) *catalog {
	c := &catalog{objects: objects, byURL: make([]int32, len(objects)), taken: make([]bool, len(objects)), packed: make(map[packed]shard)}
	for i := range c.byURL {
		c.byURL[i] = int32(i)
	}
	slices.SortFunc(c.byURL, func(a, b int32) int { return cmp.Compare(objects[a].URL, objects[b].URL) })
	return c
}

// indexes are the places of the indexes in the listing, those above others
// first: what they list counts.
func (c *catalog) indexes() ([]int, error) {
	var out []int
	for _, i := range c.byURL {
		if path.Base(c.objects[i].URL) == indexName {
			out = append(out, int(i))
		}
	}
	if len(out) == 0 && len(c.objects) == 1 && !isShard(c.objects[0].URL) {
		return []int{0}, nil
	}
	if len(out) == 0 {
		return nil, format.Error(format.ErrUsage, "none of the %d files is an %s; give the directory that it is in", len(c.objects), indexName)
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return strings.Count(c.objects[a].URL, "/") - strings.Count(c.objects[b].URL, "/")
	})
	return out, nil
}

// find is the place of a file in the listing, less than 0: it is not there.
func (c *catalog) find(url []byte) int {
	at, ok := slices.BinarySearchFunc(c.byURL, url, func(i int32, url []byte) int {
		return strings.Compare(c.objects[i].URL, string(url))
	})
	if !ok {
		return -1
	}
	return int(c.byURL[at])
}

// adder adds the shards of one index.
type adder struct {
	*catalog
	dir        string
	url        []byte
	own, other int // shards that only it lists, and that another does too
}

func (a *adder) add(e *entry) error {
	if err := a.agree(e); err != nil {
		return err
	}
	s := shard{samples: uint32(e.Samples), bytes: e.Raw.Bytes}
	file, level := e.Raw, 0
	at := a.locate(e.Raw)
	if at < 0 && e.Zip != nil {
		file, at = e.Zip, a.locate(e.Zip)
		var err error
		if s.kind, level, err = e.compression(); err != nil {
			return err
		}
	}
	switch {
	case at < 0:
		return a.missing(e)
	case a.taken[at]:
		if a.other++; a.own > 0 {
			return format.Error(format.ErrData, "%s: it is listed twice", file.Basename)
		}
		return nil
	case a.other > 0:
		return format.Error(format.ErrData, "%s: it is not in the index above, as others are", file.Basename)
	case file.Bytes != a.objects[at].Size:
		return format.Error(format.ErrData, "%s: it has %d bytes, the index says %d", file.Basename, a.objects[at].Size, file.Bytes)
	}
	a.own++
	a.taken[at] = true
	s.object = int32(at)
	if err := a.keep(&s, file); err != nil {
		return err
	}
	a.shards = append(a.shards, s)
	if s.kind != codec.PlainFile {
		key := packed{s.kind, level}
		if most, ok := a.packed[key]; !ok || s.bytes > most.bytes {
			a.packed[key] = s
		}
	}
	return nil
}

func (a *adder) locate(f *fileInfo) int {
	a.url = append(append(a.url[:0], a.dir...), f.Basename...)
	return a.find(a.url)
}

func (a *adder) missing(e *entry) error {
	name := e.Raw.Basename
	if e.Zip != nil {
		name += " or " + e.Zip.Basename
	}
	if len(a.objects) == 1 {
		return format.Error(format.ErrUsage, "%s is not among the files to read; give the directory", name)
	}
	return format.Error(format.ErrData, "shard %s is missing", name)
}

// keep keeps the hashes of a file.
func (c *catalog) keep(s *shard, f *fileInfo) error {
	s.sums = len(c.sums)
	for name, text := range f.Hashes {
		sum, err := hex.DecodeString(text)
		if _, ok := hashes[name]; !ok {
			return format.Error(format.ErrData, "%s: hash %q is not one of %s", f.Basename, name, hashNames())
		}
		if err != nil || len(sum) != hashes[name]().Size() {
			return format.Error(format.ErrData, "%s: %q is no %s", f.Basename, text, name)
		}
		at := slices.Index(c.algos, name)
		if at < 0 {
			at = len(c.algos)
			c.algos = append(c.algos, name)
		}
		c.sums = append(append(c.sums, byte(at), byte(len(sum))), sum...)
		s.count++
	}
	return nil
}

// tap sees a shard's stored bytes and checks its hashes at the end.
func (c *catalog) tap(s shard) (tap func([]byte), end func() error) {
	if s.count == 0 {
		return nil, nil
	}
	type check struct {
		name string
		want []byte
		hash.Hash
	}
	checks := make([]check, s.count)
	rest := c.sums[s.sums:]
	for i := range checks {
		n := int(rest[1])
		name := c.algos[rest[0]]
		checks[i] = check{name, rest[2 : 2+n], hashes[name]()}
		rest = rest[2+n:]
	}
	var seen int64
	tap = func(p []byte) {
		seen += int64(len(p))
		for _, k := range checks {
			k.Write(p)
		}
	}
	return tap, func() error {
		if size := c.objects[s.object].Size; seen != size {
			return format.Error(format.ErrData, "%d bytes behind the end of what is compressed", size-seen)
		}
		for _, k := range checks {
			if got := k.Sum(nil); string(got) != string(k.want) {
				return format.Error(format.ErrData, "its %s is %x, the index says %x", k.name, got, k.want)
			}
		}
		return nil
	}
}
