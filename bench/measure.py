"""Runs one command as a process tree of its own and says what it cost: wall, CPU seconds, memory over time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import cgroup

INTERVAL = 0.01  # seconds between two samples of memory
_serial = count()


@dataclass
class Run:
    """One finished process."""

    status: int  # exit code, negative for a signal
    wall: float
    cpu: float  # user and system seconds, children included
    peak: int  # largest sample of anonymous and shared memory in bytes
    oom_kills: int
    timed_out: bool
    stdout: str
    stderr: str
    samples: list[tuple[float, int]] = field(default_factory=list)  # seconds since the start, bytes
    began: float = 0.0  # by perf_counter, which is the same in all processes of this machine

    def added(self, since: float) -> int:
        """The most bytes above those that were there at a moment of perf_counter."""
        before = [size for at, size in self.samples if self.began + at <= since]
        behind = [size for at, size in self.samples if self.began + at > since]
        return max(0, max(behind) - before[-1]) if before and behind else 0


class Reaper(threading.Thread):
    """Waits for a process, so that its end is timed exactly and not by the next sample."""

    def __init__(self, pid: int, began: float) -> None:
        super().__init__()
        self.pid, self.began = pid, began
        self.ended = threading.Event()
        self.status, self.wall, self.cpu = 0, 0.0, 0.0

    def run(self) -> None:
        _, self.status, usage = os.wait4(self.pid, 0)
        self.wall = time.perf_counter() - self.began
        self.cpu = usage.ru_utime + usage.ru_stime
        self.ended.set()


def tree(pid: int) -> list[int]:
    """A process and its descendants."""
    found, at = [pid], 0
    while at < len(found):
        for task in Path(f"/proc/{found[at]}/task").glob("*"):
            with suppress(OSError):
                found += [int(child) for child in (task / "children").read_text().split()]
        at += 1
    return found


def tree_resident(pid: int) -> int:
    """Anonymous and shared bytes of a process tree; shared pages are divided among those that map them, so that none counts twice."""
    total = 0
    for member in tree(pid):
        with suppress(OSError):
            for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                    total += int(line.split()[1]) << 10
    return total


def pinned(command: list[str], cores: list[int]) -> list[str]:
    """The command on those cores only, where the system can do that."""
    if not shutil.which("taskset") or not cores:
        return command
    return ["taskset", "-c", ",".join(map(str, cores)), *command]


def cores_for(threads: int) -> list[int]:
    """The last `threads` cores of this machine (0: all): the harness itself then has the first ones to itself."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return usable[-threads:]


def run(command: list[str], *, threads: int, env: dict[str, str], cwd: Path, limit: int = 0, timeout: float = 600.0) -> Run:
    """Runs the command to its end in a fresh control group (of `limit` bytes, if given) and samples its memory meanwhile."""
    with cgroup.fresh(str(next(_serial)), limit) as group, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if limit and group is None:
            raise PermissionError("no memory control group can be made here")
        argv = pinned(command, cores_for(threads))
        argv = group.enter(argv) if group else argv
        began = time.perf_counter()
        process = subprocess.Popen(argv, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=cwd, env=os.environ | env)
        reaper = Reaper(process.pid, began)
        reaper.start()
        samples: list[tuple[float, int]] = []
        timed_out = False
        while not reaper.ended.wait(INTERVAL):
            now = time.perf_counter() - began
            samples.append((now, group.resident() if group else tree_resident(process.pid)))
            if now > timeout and not timed_out:
                timed_out = True
                os.kill(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(reaper.status)
        kills = group.oom_kills() if group else 0
        out.seek(0)
        err.seek(0)
        return Run(
            status=process.returncode,
            wall=reaper.wall,
            cpu=reaper.cpu,
            peak=max((size for _, size in samples), default=0),
            oom_kills=kills,
            timed_out=timed_out,
            stdout=out.read().decode(errors="replace"),
            stderr=err.read().decode(errors="replace"),
            samples=samples,
            began=began,
        )
