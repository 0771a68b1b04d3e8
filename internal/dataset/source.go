package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/store"
)

// listed is an object of the source as manifests and plans have it.
type listed struct {
	URL  string `json:"url"`
	Size int64  `json:"size"`
	ETag string `json:"etag"`
}

// asListed makes the strings such that JSON keeps them as they are.
func asListed(o store.Object) listed {
	return listed{URL: strings.ToValidUTF8(o.URL, "\uFFFD"), Size: o.Size, ETag: strings.ToValidUTF8(o.ETag, "\uFFFD")}
}

func (l listed) object() store.Object { return store.Object{URL: l.URL, Size: l.Size, ETag: l.ETag} }

// listing hashes objects in their order.
type listing struct {
	h     hasher
	count int64
}

func newListing() *listing { return &listing{h: newHasher()} }

func (l *listing) add(o listed) {
	var n [8]byte
	word := func(v int64) {
		binary.LittleEndian.PutUint64(n[:], uint64(v))
		l.h.Write(n[:])
	}
	word(int64(len(o.URL)))
	l.h.WriteString(o.URL)
	word(o.Size)
	word(int64(len(o.ETag)))
	l.h.WriteString(o.ETag)
	l.count++
}

// SourceDigest is one hash of all of a listing, in its order: names, sizes and
// ETags.
func SourceDigest(objects []store.Object) string {
	l := newListing()
	for _, o := range objects {
		l.add(asListed(o))
	}
	return l.h.String()
}

// compareSource says in words what the first difference is between the source
// as it was, which comes from next until io.EOF, and as it is; "" where there
// is none.
func compareSource(next func() (listed, error), now []store.Object) (string, error) {
	var extra listed
	for i := 0; ; i++ {
		was, err := next()
		switch {
		case err == io.EOF && i == len(now):
			return "", nil
		case err == io.EOF:
			return asListed(now[i]).URL + " is new", nil
		case err != nil:
			return "", err
		case i == len(now):
			return was.URL + " is gone", nil
		}
		extra = asListed(now[i])
		switch {
		case was == extra:
			continue
		case was.URL == extra.URL && was.Size != extra.Size:
			return fmt.Sprintf("%s had %d bytes, it has %d", was.URL, was.Size, extra.Size), nil
		case was.URL == extra.URL:
			return was.URL + " was changed (its ETag or time is another)", nil
		case !slices.ContainsFunc(now, func(o store.Object) bool { return asListed(o).URL == was.URL }):
			return was.URL + " is gone", nil
		}
		return extra.URL + " is new, or stands elsewhere", nil
	}
}
