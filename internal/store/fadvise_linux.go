package store

import "golang.org/x/sys/unix"

// dropCache takes pages out of the cache; it is advice, so no error matters.
// The kernel keeps pages that are covered only in part: the start is rounded
// down, so that the page two neighbouring ranges share goes with the second.
func dropCache(fd int, off, n int64) {
	const page = 4096
	down := off % page
	_ = unix.Fadvise(fd, off-down, n+down, unix.FADV_DONTNEED)
}

// adviseRandom turns the system's own reading ahead off.
func adviseRandom(fd int) { _ = unix.Fadvise(fd, 0, 0, unix.FADV_RANDOM) }

// adviseWanted starts reading a range into the page cache.
func adviseWanted(fd int, off, n int64) { _ = unix.Fadvise(fd, off, n, unix.FADV_WILLNEED) }

// writeBack begins to write a part of a file to disk, or waits until it is.
// What goes wrong shows when the file is synced.
func writeBack(fd int, off, n int64, wait bool) {
	flags := unix.SYNC_FILE_RANGE_WRITE
	if wait {
		flags |= unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	}
	_ = unix.SyncFileRange(fd, off, n, flags)
}
