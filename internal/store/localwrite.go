package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weir-data/weir/internal/mem"
)

// localBuffer is what a local output collects before it writes: the size of a
// Linux pipe.
const localBuffer = 64 << 10

// Create writes a hidden file beside the one that is asked for. A name that is
// a pipe or a device is written straight.
func (l local) Create(ctx context.Context, url string, share *mem.Budget) (Output, error) {
	o := &localOutput{ctx: ctx, url: url, name: strings.TrimPrefix(url, fileScheme), stats: l.opts.Stats, cache: l.opts.WriteCache}
	lease, err := share.Acquire(ctx, localBuffer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if err := o.open(); err != nil {
		lease.Release()
		return nil, system(url, err)
	}
	o.lease, o.buf = lease, bufio.NewWriterSize(o.file, localBuffer)
	return o, nil
}

// Remove takes a file away.
func (l local) Remove(_ context.Context, url string) error {
	err := os.Remove(strings.TrimPrefix(url, fileScheme))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return system(url, err)
	}
	return nil
}

// localOutput is a file that is not yet there under its name; temp is "" for
// one that is written straight.
type localOutput struct {
	ctx        context.Context
	url        string
	name, temp string
	file       *os.File // nil once it was ended
	buf        *bufio.Writer
	lease      *mem.Lease
	size       int64
	stats      *Stats

	cache         int64 // Options.WriteCache
	begun, behind int64 // written to disk up to there: begun, done
}

func (o *localOutput) open() (err error) {
	st, err := os.Stat(o.name)
	switch {
	case err == nil && st.IsDir():
		return errors.New("a directory")
	case err == nil && !st.Mode().IsRegular():
		o.file, err = os.OpenFile(o.name, os.O_WRONLY, 0)
		return err
	}
	dir, base := filepath.Dir(o.name), filepath.Base(o.name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	o.temp = filepath.Join(dir, fmt.Sprintf(".%s.%s.tmp", base, rand.Text()[:8]))
	o.file, err = os.OpenFile(o.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return err
}

func (o *localOutput) Write(p []byte) (int, error) {
	if o.ctx.Err() != nil {
		return 0, stopped(o.url, o.ctx)
	}
	var n int
	var err error
	if len(p) < localBuffer/4 {
		n, err = o.buf.Write(p)
	} else if err = o.buf.Flush(); err == nil { // long pieces are not copied
		n, err = o.file.Write(p)
	}
	o.size += int64(n)
	if o.stats.Written.Add(int64(n)) > o.cache && o.cache > 0 && o.temp != "" {
		o.leave()
	}
	if err != nil {
		return n, system(o.url, err)
	}
	return n, nil
}

// leaveBytes is what is written to disk at a time.
const leaveBytes = 512 << 10

// leave has what was written go to disk, and what has got there out of the
// page cache.
func (o *localOutput) leave() {
	fd, end := int(o.file.Fd()), o.size-int64(o.buf.Buffered())
	if end-o.begun < leaveBytes {
		return
	}
	if o.begun > o.behind {
		writeBack(fd, o.behind, o.begun-o.behind, true)
		dropCache(fd, o.behind, o.begun-o.behind)
		o.behind = o.begun
	}
	writeBack(fd, o.begun, end-o.begun, false)
	o.begun = end
}

// Patch fails for what is written straight: it is gone.
func (o *localOutput) Patch(p []byte, off int64) error {
	if err := checkPatch(o.url, p, off, o.size); err != nil {
		return err
	}
	if o.temp == "" {
		return fmt.Errorf("%s: neither a file nor a directory; this format goes back to the beginning of its file", o.url)
	}
	err := o.buf.Flush()
	if err == nil {
		_, err = o.file.WriteAt(p, off)
	}
	if err != nil {
		return system(o.url, err)
	}
	return nil
}

// checkPatch says whether a patch lies in what was written, and in the part of
// it that may be patched.
func checkPatch(url string, p []byte, off, size int64) error {
	if end := min(size, PatchBytes); off < 0 || off+int64(len(p)) > end {
		return fmt.Errorf("%s: a bug in weir, please report it: patch of bytes %d-%d, the first %d may be", url, off, off+int64(len(p))-1, end)
	}
	return nil
}

// Commit makes the file durable and gives it its name.
func (o *localOutput) Commit(ctx context.Context) error {
	if o.file == nil {
		return fmt.Errorf("%s: %w", o.url, fs.ErrClosed)
	}
	err := o.buf.Flush()
	if err == nil && o.temp != "" {
		if err = o.file.Sync(); err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	if e := o.file.Close(); err == nil {
		err = e
	}
	o.file = nil
	o.lease.Release()
	if err == nil && o.temp != "" {
		err = rename(o.temp, o.name)
	}
	if err != nil {
		o.remove()
		return system(o.url, err)
	}
	return nil
}

// rename makes the new name durable too, where the file system can do that for
// directories.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		if link, ok := errors.AsType[*os.LinkError](err); ok {
			return link.Err
		}
		return err
	}
	if dir, err := os.Open(filepath.Dir(to)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}

func (o *localOutput) Abort() {
	if o.file == nil {
		return
	}
	o.file.Close()
	o.file = nil
	o.lease.Release()
	o.remove()
}

// remove takes the hidden file away, as far as there is one.
func (o *localOutput) remove() {
	if o.temp != "" {
		os.Remove(o.temp)
	}
}
