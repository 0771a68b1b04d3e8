package arrow

import (
	"encoding/binary"
	"path"
	"regexp"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// Format reads Arrow IPC: files, streams, Feather version 2, and directories
// that Hugging Face datasets saves.
func Format() format.Format {
	return format.Format{Name: "arrow", Sniff: sniff, Gather: gather, Plan: Plan}
}

// sniff knows files by their magic and streams by a schema message. Feather
// version 1 is taken too, to be refused by name.
func sniff(c format.Clue) bool {
	head := string(c.Head)
	if strings.HasPrefix(head, fileMagic) || strings.HasPrefix(head, featherMagic) {
		return true
	}
	if len(head) < 8 {
		return false
	}
	n, prefix := binary.LittleEndian.Uint32(c.Head), 4
	if n == 1<<32-1 {
		n, prefix = binary.LittleEndian.Uint32(c.Head[4:]), 8
	}
	if n < 8 || n > metaMost || n%4 != 0 {
		return false
	}
	// A wide schema's fields lie beyond the head, not what says that it is one.
	f := &flat{b: c.Head[prefix:min(len(c.Head), prefix+int(n))]}
	t := f.root()
	version, kind := t.int16(0, 0), t.byte(1)
	return !f.bad && version >= version4 && version <= version5 && kind == schemaMessage && t.slot(2) != 0
}

// shard is the name of a file that datasets writes when it saves.
var shard = regexp.MustCompile(`^data-\d{5,}-of-(\d{5,})\.arrow$`)

// gather picks the data out of directories that Hugging Face datasets saved or
// keeps as a cache, known by the files that describe them. Beside the shards
// lie results of earlier work, called cache-… or tmp….
func gather(all []store.Object) []store.Object {
	known := false
	shards := map[string]bool{} // directories that have them
	for _, o := range all {
		dir, name := path.Split(o.URL)
		switch name {
		case "state.json", "dataset_info.json", "dataset_dict.json":
			known = true
		}
		if shard.MatchString(name) {
			shards[dir] = true
		}
	}
	if !known {
		return nil
	}
	var out []store.Object
	for _, o := range all {
		dir, name := path.Split(o.URL)
		switch {
		case !strings.HasSuffix(name, ".arrow"):
		case shards[dir] && !shard.MatchString(name):
		case strings.HasPrefix(name, "cache-") || strings.HasPrefix(name, "tmp"):
		default:
			out = append(out, o)
		}
	}
	return out
}

// oneSaving holds that the shards of a directory are of one saving: those that
// a longer or shorter one left behind would be read as data.
func oneSaving(objects []store.Object) error {
	of := map[string]string{}
	for _, o := range objects {
		dir, name := path.Split(o.URL)
		m := shard.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if n, ok := of[dir]; ok && n != m[1] {
			return format.Error(format.ErrUsage, "arrow: %s has shards of %s and of %s; name those that its state.json names", dir, n, m[1])
		}
		of[dir] = m[1]
	}
	return nil
}
