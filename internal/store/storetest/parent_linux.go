package storetest

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the service with the test process, however that ends.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
