// Package spill is scratch space: sequential files on disk, inside the budget,
// whose need is told beforehand.
//
// Files are opened for as long as a call needs them: any number of Writers
// costs no descriptors while nothing is written.
package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/weir-data/weir/internal/mem"
)

// ErrSpace is wrapped by every error that says the scratch disk is, or would
// be, full; the way out is another --scratch.
var ErrSpace = errors.New("scratch disk full")

const (
	// suffix is how the files of scratch space are told from all others.
	suffix = ".spill"
	// marker lies in a directory that Open made, so that a later process
	// knows that it may be removed.
	marker = ".weir-scratch"
)

// Options are what OpenWith can be told; the zero value is what Open takes.
type Options struct {
	// WriteCache is how many bytes of a file may wait in the page cache to be
	// written; what is beyond goes to disk and leaves the cache. 0: the system
	// decides. It is for containers in which the cache takes the program's room.
	WriteCache int64
	// System is what files are made with; nil: the operating system.
	System System
}

// Dir is a directory of scratch files. It belongs to one run: nothing keeps
// two of them apart. Its methods are safe for concurrent use.
type Dir struct {
	path   string
	cache  int64
	sys    System
	coders *Coders // nil: files are not compressed

	unnamed atomic.Bool // there may be files whose names are not on disk
}

// Open makes the directory where it is missing. What a killed run left there
// stays, for Append and Reader.
func Open(path string) (*Dir, error) { return OpenWith(path, Options{}) }

// OpenWith is Open with options.
func OpenWith(path string, o Options) (*Dir, error) {
	if o.System == nil {
		o.System = host{}
	}
	d := &Dir{path: path, cache: o.WriteCache, sys: o.System}
	st, err := os.Stat(path)
	switch {
	case err == nil && !st.IsDir():
		return nil, fmt.Errorf("scratch: %s: not a directory", path)
	case err == nil:
		return d, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, d.failed("", err)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, d.failed("", err)
	}
	f, err := os.Create(filepath.Join(path, marker))
	if err != nil {
		return nil, d.failed("", err)
	}
	return d, f.Close()
}

// Path is the directory.
func (d *Dir) Path() string { return d.path }

// Free is how many bytes can be written where a directory is, or would be made.
func Free(path string, sys System) (int64, error) {
	if sys == nil {
		sys = host{}
	}
	at := path
	for {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	free, err := sys.Free(at)
	if err != nil {
		return 0, (&Dir{path: path}).failed("", err)
	}
	return free, nil
}

// Check is ErrSpace when the disk has not need bytes free, beside what lies
// there already.
func (d *Dir) Check(need int64) error {
	free, err := Free(d.path, d.sys)
	if err != nil {
		return err
	}
	if free < need {
		return &SpaceError{Path: d.path, Need: need, Free: free}
	}
	return nil
}

// Remove takes a file away; one that is not there is no error.
func (d *Dir) Remove(name string) error {
	file, err := d.file(name)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.failed(name, err)
	}
	return nil
}

// Clear removes all scratch files, and the directory if weir made it and
// nothing else lies in it.
func (d *Dir) Clear() error {
	entries, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return d.failed("", err)
	}
	ours, others := false, false
	for _, e := range entries {
		switch {
		case e.Name() == marker:
			ours = true
		case strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular():
			if err := os.Remove(filepath.Join(d.path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return d.failed(e.Name(), err)
			}
		default:
			others = true
		}
	}
	if !ours || others {
		return nil
	}
	if err := os.Remove(filepath.Join(d.path, marker)); err != nil {
		return d.failed("", err)
	}
	if err := os.Remove(d.path); err != nil {
		return d.failed("", err)
	}
	return nil
}

// file is where a name lies. Names are plain words: they come from stages, not
// from users.
func (d *Dir) file(name string) (string, error) {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("scratch: a bug in weir, please report it: %q is no name of a file", name)
	}
	return filepath.Join(d.path, name+suffix), nil
}

// SpaceError says how much scratch space is needed and how much there is.
type SpaceError struct {
	Path       string
	Need, Free int64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("scratch: %s: %s are needed, %s are free; try --scratch with a directory on a larger disk",
		e.Path, mem.Format(e.Need), mem.Format(e.Free))
}

// Unwrap makes errors.Is(err, ErrSpace) hold.
func (e *SpaceError) Unwrap() error { return ErrSpace }

// failed gives an error its place.
func (d *Dir) failed(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	place := d.path
	if name != "" {
		place = filepath.Join(d.path, name)
	}
	if full(err) {
		return fmt.Errorf("scratch: %s: %w: %w; try --scratch with a directory on a larger disk", place, ErrSpace, err)
	}
	return fmt.Errorf("scratch: %s: %w", place, err)
}
