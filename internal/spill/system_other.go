//go:build !linux

package spill

import "os"

func datasync(f *os.File) error { return f.Sync() }

// settle and forget do nothing: this system has no such advice.
func settle(int, int64, int64, bool) {}

func forget(int, int64, int64) {}
