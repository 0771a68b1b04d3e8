package wire

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// sharedFile is memory of size bytes behind a descriptor. It is sealed: nobody
// can cut it under a process that maps it.
func sharedFile(size int64) (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("weir", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // kernels before 6.3 do not know the flag
		fd, err = unix.MemfdCreate("weir", flags)
	}
	if err != nil { // a sandbox that forbids the call
		return unlinkedFile("/dev/shm", size)
	}
	f := os.NewFile(uintptr(fd), "weir")
	if err := f.Truncate(size); err != nil {
		_ = f.Close() // the first error says more
		return nil, err
	}
	// A filter of system calls may forbid sealing; it is a safety net only.
	_, _ = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	return f, nil
}

// reserve makes sure of a file's room now: a full file system would otherwise
// end the process that writes to the mapping.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return f.Truncate(size)
	}
	return err
}
