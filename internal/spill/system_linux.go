package spill

import (
	"os"

	"golang.org/x/sys/unix"
)

func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// settle leaves what goes wrong to be found by datasync.
func settle(fd int, off, n int64, wait bool) {
	if !wait {
		_ = unix.SyncFileRange(fd, off, n, unix.SYNC_FILE_RANGE_WRITE)
		return
	}
	_ = unix.SyncFileRange(fd, off, n, unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	forget(fd, off, n)
}

// forget rounds the start down to a page: the kernel keeps pages that are
// covered only in part, and the one two neighbouring ranges share goes with
// the second.
func forget(fd int, off, n int64) {
	down := off % 4096
	_ = unix.Fadvise(fd, off-down, n+down, unix.FADV_DONTNEED)
}
