package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lock keeps other runs out of a directory.
type lock interface {
	// held is nil as long as the lock is this run's; else ErrLost.
	held(ctx context.Context) error
	// release gives it up. Nothing of it is left.
	release(ctx context.Context) error
	// name is that of the lock's object in the directory.
	name() string
	// drop lets go as the end of the process does: what lies in the directory
	// stays.
	drop()
}

// acquire locks d or fails with ErrBusy.
//
// On disk the kernel keeps the lock, on NFS the server: it ends with its
// process, and no two can ever have it. Where a file system has no such locks,
// and on S3, it is made of objects; see claim.
func (d *directory) acquire(ctx context.Context) (lock, error) {
	if d.remote() {
		return d.claim(ctx)
	}
	l, err := d.lockFile()
	if errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return d.claim(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

const lockName = workDir + "lock"

// fileLock is a locked file.
type fileLock struct {
	url  string // the directory's
	path string
	file *os.File
}

// lockFile takes the lock on a file. Whoever removes the file does so while it
// is locked, so a lock on a file that no longer has its name is worth nothing,
// and is tried again.
func (d *directory) lockFile() (*fileLock, error) {
	l := &fileLock{url: d.url, path: strings.TrimPrefix(d.url, "file://") + lockName}
	for {
		again, err := l.try(d.me())
		if err == nil && !again {
			return l, nil
		}
		if l.file != nil {
			l.file.Close()
			l.file = nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *fileLock) try(me process) (again bool, err error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o777); err != nil {
		return false, fmt.Errorf("%s: %w", l.url, plainPath(err))
	}
	l.file, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		l.file = nil
		return true, nil // another run has just tidied up
	}
	if err != nil {
		l.file = nil
		return false, fmt.Errorf("%s: %w", l.path, plainPath(err))
	}
	err = flock(l.file)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, l.busy()
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.path, err)
	}
	if !l.named() {
		return true, nil
	}
	// For people, and for the error of whoever comes second.
	text, err := json.Marshal(me)
	if err == nil {
		err = l.file.Truncate(0)
	}
	if err == nil {
		_, err = l.file.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.path, plainPath(err))
	}
	return false, nil
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			return err
		}
	}
}

// busy names the process that has the lock.
func (l *fileLock) busy() error {
	var by process
	text, _ := io.ReadAll(io.LimitReader(l.file, 4<<10))
	if json.Unmarshal(text, &by) != nil || by.PID == 0 {
		return refuse(ErrBusy, "%s: another process writes there", l.url)
	}
	return busy(l.url, by)
}

func busy(url string, by process) error {
	return refuse(ErrBusy, "%s: %v writes there", url, by)
}

// named says whether the file still has its name.
func (l *fileLock) named() bool {
	mine, err1 := l.file.Stat()
	there, err2 := os.Stat(l.path)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}

func (l *fileLock) held(context.Context) error {
	if l.named() {
		return nil
	}
	return refuse(ErrLost, "%s: %s was removed while this run wrote there", l.url, lockName)
}

func (l *fileLock) release(context.Context) error {
	defer l.drop()
	if l.file == nil || !l.named() {
		return nil
	}
	if err := os.Remove(l.path); err != nil {
		return fmt.Errorf("%s: %w", l.path, plainPath(err))
	}
	return nil
}

func (l *fileLock) name() string { return lockName }

func (l *fileLock) drop() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// plainPath is an error without the path, which its place names.
func plainPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// me is the process that locks are in the name of.
func (d *directory) me() process {
	if d.owner != nil {
		return *d.owner
	}
	return self()
}
