package dataset

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process names one process of one machine, for others to say whether it still
// runs.
type process struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Machine is the same for two processes that see each other's numbers: one
	// boot of one kernel, one PID namespace. Started tells processes apart that
	// had a number after each other. Both are empty where there is no /proc.
	Machine string `json:"machine"`
	Started string `json:"started"`
}

// self is this process.
func self() process {
	host, _ := os.Hostname() // only for people to read
	p := process{Host: host, PID: os.Getpid()}
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 == nil && err2 == nil {
		p.Machine = strings.TrimSpace(string(boot)) + " " + space
		p.Started = startOf(p.PID)
	}
	return p
}

// dead says that p certainly no longer runs. Of a process elsewhere that cannot
// be said.
func (p process) dead(me process) bool {
	if p.Machine == "" || p.Machine != me.Machine || p.PID <= 0 {
		return false
	}
	if errors.Is(unix.Kill(p.PID, 0), unix.ESRCH) {
		return true
	}
	now := startOf(p.PID)
	return now != "" && p.Started != "" && now != p.Started
}

// startOf is when a process started, in ticks since the system did; "" where
// that cannot be seen.
func startOf(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field, the program's name in brackets, may hold anything.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const start = 22 - 3 // the fields begin with the third
	if len(fields) <= start {
		return ""
	}
	return fields[start]
}

func (p process) String() string { return fmt.Sprintf("process %d on %s", p.PID, p.Host) }
