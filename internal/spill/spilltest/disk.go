// Package spilltest has disks that go wrong, for tests of what uses scratch
// space.
package spilltest

import (
	"os"
	"sync/atomic"

	"github.com/weir-data/weir/internal/spill"
	"golang.org/x/sys/unix"
)

// Disk is the operating system's, except that only Room bytes can still be
// written, and only Calls calls that change a file succeed. Negative: any
// number. It is safe for concurrent use.
type Disk struct {
	real  spill.System
	Room  atomic.Int64
	Calls atomic.Int64
	// Written counts bytes.
	Written atomic.Int64
}

// NewDisk has room bytes, and fails after a number of changing calls.
func NewDisk(room, calls int64) *Disk {
	d := &Disk{real: spill.Host()}
	d.Room.Store(room)
	d.Calls.Store(calls)
	return d
}

// Open opens a file of the real system.
func (d *Disk) Open(path string, flag int) (spill.File, error) {
	f, err := d.real.Open(path, flag)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, path: path}, nil
}

// Free is the room that is left.
func (d *Disk) Free(path string) (int64, error) {
	if room := d.Room.Load(); room >= 0 {
		return room, nil
	}
	return d.real.Free(path)
}

// SyncNames and Datasync leave it to the system when to write: tests survive
// no power cut.
func (d *Disk) SyncNames(string) {}

// spend takes one call off.
func (d *Disk) spend(op, path string) error {
	if d.Calls.Load() < 0 {
		return nil
	}
	if d.Calls.Add(-1) < 0 {
		d.Calls.Store(0)
		return &os.PathError{Op: op, Path: path, Err: unix.EIO}
	}
	return nil
}

type file struct {
	spill.File
	disk *Disk
	path string
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.spend("write", f.path); err != nil {
		return 0, err
	}
	n := len(p)
	if room := f.disk.Room.Load(); room >= 0 {
		n = int(min(int64(n), room))
		f.disk.Room.Add(-int64(n))
	}
	k, err := f.File.WriteAt(p[:n], off)
	f.disk.Written.Add(int64(k))
	if err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Path: f.path, Err: unix.ENOSPC}
	}
	return k, err
}

func (f *file) Datasync() error { return f.disk.spend("sync", f.path) }

func (f *file) Truncate(size int64) error {
	if err := f.disk.spend("truncate", f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
