package mem

import (
	"os"
	"path/filepath"
	"testing"
)

// system writes files below a fresh root.
func system(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestContainerLimitIsTheLeastThatHolds(t *testing.T) {
	const (
		v1mount = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
		v2mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		ram     = "MemTotal:       16777216 kB\nMemFree: 1 kB\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		n     int64
		from  string
	}{
		"nothing known": {nil, unknownRAM, fromRAM},
		"no container":  {map[string]string{"proc/meminfo": ram}, 16 << 30, fromRAM},
		"v2 own group": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2mount,
			"sys/fs/cgroup/a/b/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, 1 << 30, "/sys/fs/cgroup/a/b/memory.max"},
		"v2 parent is tighter": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2mount,
			"sys/fs/cgroup/a/b/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.max": "536870912\n",
		}, 512 << 20, "/sys/fs/cgroup/a/memory.max"},
		"v2 high": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2mount,
			"sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.high": "1048576\n",
		}, 1 << 20, "/sys/fs/cgroup/memory.high"},
		"v1 unlimited": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "4:memory:/x\n0::/\n", "proc/self/mountinfo": v1mount,
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n",
		}, 16 << 30, fromRAM},
		"v1 in a container that shows its group as the top": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "4:cpu,memory:/docker/abc\n",
			"proc/self/mountinfo":                        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,cpu,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		"group outside the mount": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "0::/../other\n",
			"proc/self/mountinfo":      "30 23 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory.max": "67108864\n",
		}, 64 << 20, "/sys/fs/cgroup/memory.max"},
	} {
		t.Run(name, func(t *testing.T) {
			n, from := containerLimit(system(t, c.files))
			if n != c.n || from != c.from {
				t.Errorf("got %d from %s, want %d from %s", n, from, c.n, c.from)
			}
		})
	}
}

func TestUsageSeesTouchedMemory(t *testing.T) {
	before := Usage()
	buf, err := mapBytes(32 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(buf); i += pageSize {
		buf[i] = 1
	}
	if grown := Usage() - before; grown < 24<<20 {
		t.Errorf("32 MiB were touched, Usage grew by %s", Format(grown))
	}
	unmapBytes(buf)
	if left := Usage() - before; left > 24<<20 {
		t.Errorf("32 MiB were given back, Usage still counts %s", Format(left))
	}
}

func BenchmarkUsage(b *testing.B) {
	for b.Loop() {
		Usage()
	}
}
