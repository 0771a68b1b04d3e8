package spill

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// System makes files. Tests put one in the operating system's place to have
// disks that are full or broken.
type System interface {
	// Open is os.OpenFile with the usual permissions.
	Open(path string, flag int) (File, error)
	// Free is the number of bytes that can still be written below path.
	Free(path string) (int64, error)
	// SyncNames makes the names in a directory durable, where the file system
	// can.
	SyncNames(path string)
}

// File is what scratch space needs of a file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Stat() (os.FileInfo, error)
	// Datasync makes what was written durable.
	Datasync() error
	// Settle begins to write a range to disk, or waits until that is done and
	// takes it out of the page cache. It is advice.
	Settle(off, n int64, wait bool)
	// Forget takes a range out of the page cache. It is advice.
	Forget(off, n int64)
}

// host is the operating system.
type host struct{}

// Host is the operating system, for a System that stands before it.
func Host() System { return host{} }

func (host) Open(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return hostFile{f}, nil
}

func (host) Free(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

func (host) SyncNames(path string) {
	if dir, err := os.Open(path); err == nil {
		dir.Sync()
		dir.Close()
	}
}

type hostFile struct{ *os.File }

func (f hostFile) Datasync() error                { return datasync(f.File) }
func (f hostFile) Settle(off, n int64, wait bool) { settle(int(f.Fd()), off, n, wait) }
func (f hostFile) Forget(off, n int64)            { forget(int(f.Fd()), off, n) }

// full says whether a write found no room: on the disk, in the user's quota,
// or in what one file may have.
func full(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
