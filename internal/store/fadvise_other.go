//go:build !linux

package store

// dropCache does nothing: this system has no such advice.
func dropCache(int, int64, int64) {}
