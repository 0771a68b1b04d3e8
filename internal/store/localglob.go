package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// glob adds the files that a pattern matches; directories match only as the
// way to files. A choice of the pattern without wildcards must exist.
func (w *walker) glob(pattern string) error {
	choices, err := expandBraces(pattern)
	if err != nil {
		return fmt.Errorf("%s%s: %w", w.scheme, pattern, err)
	}
	for _, c := range choices {
		meta := firstMeta(c, `*?[`)
		if meta < 0 {
			if err := w.path(unescape(c)); err != nil {
				return err
			}
			continue
		}
		cut := strings.LastIndexByte(c[:meta], '/') + 1
		segs, err := globSegments(c[cut:])
		if err != nil {
			return fmt.Errorf("%s%s: %w", w.scheme, pattern, err)
		}
		dir := unescape(c[:cut])
		if !isDir(dir) {
			continue
		}
		if err := w.descend(dir, segs); err != nil {
			return err
		}
	}
	if len(w.found) == 0 {
		return notFound(w.scheme+pattern, "no file matches")
	}
	return nil
}

// descend matches the names in dir, which is empty or ends in a slash,
// against the first segment, and goes on below with the rest.
func (w *walker) descend(dir string, segs []string) error {
	if segs[0] == "**" {
		return w.descendAll(dir, segs)
	}
	if firstMeta(segs[0], `*?[`) < 0 {
		name := dir + unescape(segs[0])
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return w.step(name, segs[1:])
	}
	entries, err := w.read(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !matchSegment(segs[0], e.Name()) {
			continue
		}
		if err := w.step(dir+e.Name(), segs[1:]); err != nil {
			return err
		}
	}
	return nil
}

// descendAll tries what follows ** in dir and in every directory below it.
func (w *walker) descendAll(dir string, segs []string) error {
	if err := w.descend(dir, segs[1:]); err != nil {
		return err
	}
	entries, err := w.read(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || hidden(e.Name()) {
			continue
		}
		if err := w.descendAll(dir+e.Name()+"/", segs); err != nil {
			return err
		}
	}
	return nil
}

// step takes a name that matched so far.
func (w *walker) step(name string, rest []string) error {
	if len(rest) == 0 {
		return w.file(name)
	}
	if !isDir(name) {
		return nil
	}
	return w.descend(name+"/", rest)
}

func isDir(name string) bool {
	if name == "" {
		return true
	}
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}
