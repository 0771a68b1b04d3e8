package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const fileScheme = "file://"

// local is the store of the machine's own file systems.
type local struct{ opts Options }

// List takes a literal name first, so that a file called a[1].csv is found as
// it is.
func (l local) List(ctx context.Context, pattern string) ([]Object, error) {
	scheme, name := "", pattern
	if rest, ok := strings.CutPrefix(pattern, fileScheme); ok {
		scheme, name = fileScheme, rest
	}
	w := walker{ctx: ctx, scheme: scheme}
	list := w.path
	if isGlob(name) {
		if _, err := os.Stat(name); err != nil {
			list = w.glob
		}
	}
	if err := list(name); err != nil {
		return nil, err
	}
	slices.SortFunc(w.found, byURL)
	return slices.CompactFunc(w.found, sameURL), nil
}

func byURL(a, b Object) int    { return strings.Compare(a.URL, b.URL) }
func sameURL(a, b Object) bool { return a.URL == b.URL }

// localETag is what tells two versions of a file apart.
func localETag(size, mtimeNanos int64) string {
	return fmt.Sprintf("%d-%d", size, mtimeNanos)
}

// walker collects files. Its paths are the user's, with names appended.
type walker struct {
	ctx    context.Context
	scheme string
	found  []Object
}

func (w *walker) add(name string, fi fs.FileInfo) {
	w.found = append(w.found, Object{
		URL:  w.scheme + name,
		Size: fi.Size(),
		ETag: localETag(fi.Size(), fi.ModTime().UnixNano()),
	})
}

// stat follows links; a name that is not there is ErrNotFound.
func (w *walker) stat(name string) (fs.FileInfo, error) {
	fi, err := os.Stat(name)
	switch {
	case err == nil:
		return fi, nil
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(name, "://"):
		return nil, notFound(name, "not found; weir reads s3:// and local files")
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFound(w.scheme+name, "not found")
	}
	return nil, system(w.scheme+name, err)
}

// path adds the file, or all files of the directory, called name.
func (w *walker) path(name string) error {
	fi, err := w.stat(name)
	switch {
	case err != nil:
		return err
	case fi.Mode().IsRegular():
		w.add(name, fi)
		return nil
	case !fi.IsDir():
		return fmt.Errorf("%s%s: neither a file nor a directory", w.scheme, name)
	}
	before := len(w.found)
	if err := w.tree(strings.TrimSuffix(name, "/") + "/"); err != nil {
		return err
	}
	if len(w.found) == before {
		return notFound(w.scheme+name, "no files below it (names that begin with . or _ do not count)")
	}
	return nil
}

// tree adds the files below dir, which ends in a slash. Links to files are
// followed; links to directories are not, since they may lead in circles.
func (w *walker) tree(dir string) error {
	entries, err := w.read(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := dir + e.Name(); {
		case hidden(e.Name()):
			continue
		case e.IsDir():
			err = w.tree(name + "/")
		default:
			err = w.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file adds name if it is a regular file or a link to one. A link to nothing
// is an error: it stands for data that should be there.
func (w *walker) file(name string) error {
	fi, err := w.stat(name)
	if err != nil {
		return err
	}
	if fi.Mode().IsRegular() {
		w.add(name, fi)
	}
	return nil
}

func (w *walker) read(dir string) ([]fs.DirEntry, error) {
	if w.ctx.Err() != nil {
		return nil, stopped(w.scheme+dir, w.ctx)
	}
	name := dir
	if name == "" {
		name = "."
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, system(w.scheme+name, err)
	}
	return entries, nil
}
