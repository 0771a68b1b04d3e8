package mem

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ContainerLimit is the least memory limit that holds for this process: of its
// cgroup and of every group above it that can be seen, v1 and v2; where none
// is below the machine's RAM, that. From names the file the number is from, or
// "RAM".
func ContainerLimit() (bytes int64, from string) { return containerLimit("/") }

// containerLimit is ContainerLimit with the system's files below root.
func containerLimit(root string) (least int64, from string) {
	least, from = totalRAM(root), fromRAM
	groups, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	mounts, _ := os.ReadFile(path.Join(root, "proc/self/mountinfo"))
	for _, m := range memoryMounts(string(mounts)) {
		group, ok := memoryGroup(string(groups), m.v2)
		if !ok {
			continue
		}
		dir, ok := below(m.root, group)
		if !ok {
			dir = "/" // a group outside what is mounted: only the mount's top is ours to see
		}
		for ; ; dir = path.Dir(dir) {
			for _, name := range m.files() {
				file := path.Join(m.point, dir, name)
				if n, ok := readLimit(path.Join(root, file)); ok && n < least {
					least, from = n, file
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least, from
}

// mount is a place where a memory hierarchy of cgroups can be read.
type mount struct {
	root, point string // the group mounted, and where
	v2          bool
}

// files are the limits of one group; memory.high is the one at which the
// kernel begins to slow the process down.
func (m mount) files() []string {
	if m.v2 {
		return []string{"memory.max", "memory.high"}
	}
	return []string{"memory.limit_in_bytes"}
}

// memoryMounts finds the hierarchies in the text of mountinfo: fields by
// spaces, a "-" before the type, options last.
func memoryMounts(info string) []mount {
	var out []mount
	for line := range strings.Lines(info) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 1 {
			continue
		}
		m := mount{root: l[3], point: l[4], v2: r[0] == "cgroup2"}
		v1 := r[0] == "cgroup" && slices.Contains(strings.Split(r[len(r)-1], ","), "memory")
		if v1 || m.v2 {
			out = append(out, m)
		}
	}
	return out
}

// memoryGroup is the process's own group, from lines like "4:memory:/a/b"
// (v1) and "0::/a/b" (v2).
func memoryGroup(groups string, v2 bool) (string, bool) {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if v2 && f[0] == "0" && f[1] == "" || !v2 && slices.Contains(strings.Split(f[1], ","), "memory") {
			return path.Clean("/" + f[2]), true
		}
	}
	return "", false
}

// below is group relative to the group that a mount shows as its top.
func below(top, group string) (string, bool) {
	if top == "/" || top == group {
		return path.Clean("/" + strings.TrimPrefix(group, top)), true
	}
	rest, ok := strings.CutPrefix(group, top+"/")
	return "/" + rest, ok
}

// readLimit reads one number; "max" and a missing file are no limit.
func readLimit(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n > 0
}

func totalRAM(root string) int64 {
	text, _ := os.ReadFile(path.Join(root, "proc/meminfo"))
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				return kib << 10
			}
		}
	}
	return unknownRAM
}
