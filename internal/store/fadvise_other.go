//go:build !linux

package store

// dropCache does nothing: this system has no such advice.
func dropCache(int, int64, int64) {}

func adviseRandom(int) {}

func adviseWanted(int, int64, int64) {}

func writeBack(int, int64, int64, bool) {}
