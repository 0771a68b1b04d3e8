"""Memory control groups, version 1 and 2: one fresh group for each process tree that is measured or limited."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
MIB = 1 << 20


@dataclass(frozen=True)
class Group:
    """A control group of our own; `v2` says which kernel interface it speaks."""

    path: Path
    v2: bool

    def limit(self, size: int) -> None:
        """Sets the hard limit in bytes and forbids swap."""
        if self.v2:
            (self.path / "memory.max").write_text(str(size))
            with suppress(OSError):
                (self.path / "memory.swap.max").write_text("0")
            return
        (self.path / "memory.limit_in_bytes").write_text(str(size))
        with suppress(OSError):
            (self.path / "memory.memsw.limit_in_bytes").write_text(str(size))

    def resident(self) -> int:
        """Bytes of anonymous and shared memory, which is what cannot be reclaimed; page cache is not in it."""
        keys = ("anon", "shmem") if self.v2 else ("total_rss", "total_shmem")
        stat = dict(line.split() for line in (self.path / "memory.stat").read_text().splitlines())
        return sum(int(stat.get(key, 0)) for key in keys)

    def oom_kills(self) -> int:
        """How many processes the kernel has killed for the limit."""
        events = self.path / ("memory.events" if self.v2 else "memory.oom_control")
        return int(dict(line.split() for line in events.read_text().splitlines()).get("oom_kill", 0))

    def enter(self, command: list[str]) -> list[str]:
        """The command that runs `command` inside the group, with the same process id from its first page on."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"), *command]

    def remove(self) -> None:
        """Kills what is left inside and removes the group."""
        for _ in range(100):
            for pid in (self.path / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            with suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.02)


def make(name: str) -> Group | None:
    """A fresh group, or None where this process may not make one."""
    v1 = (MOUNT / "memory").is_dir()
    if not v1 and not (MOUNT / "cgroup.controllers").exists():
        return None
    path = (MOUNT / "memory" if v1 else MOUNT) / f"weir-bench-{os.getpid()}-{name}"
    try:
        if not v1 and "memory" not in (MOUNT / "cgroup.subtree_control").read_text().split():
            (MOUNT / "cgroup.subtree_control").write_text("+memory")
        path.mkdir()
        (path / "cgroup.procs").read_text()
    except OSError:
        return None
    group = Group(path, not v1)
    if not (path / "memory.stat").exists() or not shutil.which("sh"):
        group.remove()
        return None
    return group


@contextmanager
def fresh(name: str, limit: int = 0) -> Iterator[Group | None]:
    """A group for the time of the block, with a limit in bytes if one is given."""
    group = make(name)
    try:
        if group and limit:
            group.limit(limit)
        yield group
    finally:
        if group:
            group.remove()


def available() -> bool:
    """Whether limits can be set here at all."""
    with fresh("probe") as group:
        return group is not None


def drop_caches(folder: Path, everything: bool) -> None:
    """Empties the page cache, so that what a limited process reads is charged to it; without the right to, only of the dataset's files."""
    os.sync()
    if everything:
        with suppress(OSError):
            Path("/proc/sys/vm/drop_caches").write_text("3")
            return
    for part in folder.iterdir():
        fd = os.open(part, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
