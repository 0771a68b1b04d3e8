//go:build !linux

package storetest

import "os/exec"

// dieWithParent does nothing: this system cannot tie one process to another.
func dieWithParent(*exec.Cmd) {}
