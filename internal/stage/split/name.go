package split

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// roots are the directories that listed objects may lie below, each with a
// slash at its end: every path itself, since a directory may be called like a
// pattern, and what stands before the first segment with a wildcard.
func roots(paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, strings.TrimRight(p, "/")+"/")
		if fixed, glob := literal(p); glob {
			out = append(out, fixed[:strings.LastIndexByte(fixed, '/')+1])
		}
	}
	return out
}

// literal is what stands before the first wildcard, without backslashes.
func literal(path string) (fixed string, glob bool) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			b.WriteByte(path[i])
		case strings.IndexByte("*?[{", c) >= 0:
			return b.String(), true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), false
}

// relative is an object's URL without the longest root it lies below, or its
// last segment where it lies below none: a file that was named itself.
func relative(roots []string, url string) string {
	name, found := url[strings.LastIndexByte(url, '/')+1:], false
	for _, r := range roots {
		rest, ok := strings.CutPrefix(url, r)
		rest = strings.TrimLeft(rest, "/")
		if ok && rest != "" && (!found || len(rest) < len(name)) {
			name, found = rest, true
		}
	}
	return name
}

// dirs decides by the directories that objects lie in.
type dirs struct {
	names   []string
	objects []string
}

func newDirs(c Config, objects []string) (*dirs, error) {
	d := &dirs{names: c.Names, objects: objects}
	for _, url := range objects {
		if _, ok := d.find(url); !ok {
			return nil, usage("from_dirs", "%s: no directory of it is called %s", url, few(c.Names))
		}
	}
	return d, nil
}

// find looks for a split's name from the object outwards.
func (d *dirs) find(url string) (uint8, bool) {
	dir := url
	for {
		end := strings.LastIndexByte(dir, '/')
		if end < 0 {
			return 0, false
		}
		dir = dir[:end]
		segment := dir[strings.LastIndexByte(dir, '/')+1:]
		for i, name := range d.names {
			if segment == name {
				return uint8(i), true
			}
		}
	}
}

func (d *dirs) assign(dst []uint8, _ arrow.RecordBatch, object int, _ int64) error {
	split, _ := d.find(d.objects[object])
	for i := range dst {
		dst[i] = split
	}
	return nil
}
