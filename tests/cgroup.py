"""Runs a process inside a hard memory limit: a control group, version 1 or 2; where none may be made its memory is sampled instead."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
SAMPLING = 0.005  # seconds between two samples of a process without a group
_numbers = itertools.count()


@dataclass(frozen=True)
class Outcome:
    """How a limited process ended."""

    code: int  # negative: the signal that ended it
    out: str
    err: str
    kills: int  # processes the kernel killed for the limit
    peak: int  # most bytes: as the group counted them, page cache included, or as sampled


class Group:
    """A memory control group of our own, which is removed at the end of the with block."""

    def __init__(self, limit: int) -> None:
        self.v2 = not (MOUNT / "memory").is_dir()
        parent = MOUNT if self.v2 else MOUNT / "memory"
        if self.v2 and "memory" not in (MOUNT / "cgroup.subtree_control").read_text().split():
            (MOUNT / "cgroup.subtree_control").write_text("+memory")
        self.path = parent / f"weir-test-{os.getpid()}-{next(_numbers)}"
        self.path.mkdir()
        try:
            self._limit(limit)
        except OSError:
            self.path.rmdir()
            raise

    def _limit(self, limit: int) -> None:
        """A hard limit without swap; a kernel without swap accounting has no such file, and a machine for tests no swap."""
        hard, with_swap, most = ("memory.max", "memory.swap.max", 0) if self.v2 else (
            "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", limit)  # fmt: skip
        (self.path / hard).write_text(str(limit))
        with suppress(OSError):
            (self.path / with_swap).write_text(str(most))

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        for _attempt in range(200):
            for pid in (self.path / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            with suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.02)

    def enter(self, command: list[str]) -> list[str]:
        """The command that runs `command` inside the group from its first page on."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"), *command]

    def kills(self) -> int:
        events = (self.path / ("memory.events" if self.v2 else "memory.oom_control")).read_text()
        return int(dict(line.split() for line in events.splitlines()).get("oom_kill", 0))

    def peak(self) -> int:
        """0 where the kernel does not count it."""
        with suppress(OSError):
            return int((self.path / ("memory.peak" if self.v2 else "memory.max_usage_in_bytes")).read_text())
        return 0


@cache
def available() -> bool:
    """Whether limits can be set here."""
    try:
        with Group(64 << 20) as group:
            return (group.path / "cgroup.procs").exists()
    except OSError:
        return False


def drop_caches(path: Path) -> None:
    """Takes the files out of the page cache, so that reading them is charged to the group; all of it where that is allowed."""
    os.sync()
    with suppress(OSError):
        Path("/proc/sys/vm/drop_caches").write_text("1")
        return
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def confined(command: list[str], limit: int, timeout: float = 180) -> Outcome:
    """Runs the command in a fresh group of exactly that limit."""
    with Group(limit) as group:
        done = subprocess.run(group.enter(command), capture_output=True, text=True, timeout=timeout, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr, group.kills(), group.peak())


def sampled(command: list[str], timeout: float = 180) -> Outcome:
    """Runs the command without a limit and looks at its anonymous and shared memory all the while."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        peak, end = 0, time.monotonic() + timeout
        while process.poll() is None and time.monotonic() < end:
            peak = max(peak, resident(process.pid))
            time.sleep(SAMPLING)
        if process.poll() is None:
            process.kill()
        out, err = process.communicate()
        return Outcome(process.returncode, out, err, 0, peak)


def resident(pid: int) -> int:
    """Bytes of anonymous and shared memory of a process, which is what cannot be reclaimed; 0 once it has ended."""
    with suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {key: int(value.split()[0]) << 10 for key, value in (line.split(":") for line in lines)}
        return sizes.get("Anonymous", 0) + sizes.get("Pss_Shmem", 0)
    return 0
