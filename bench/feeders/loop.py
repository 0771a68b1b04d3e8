"""What every program that feeds Python shares: its arguments, a clock, and the line of JSON it prints.

Programs here are scripts, not modules: in this folder nothing hides the library `datasets`, as bench/datasets.py would. bench/ comes last
on the path, for touch.py.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

TICK = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> Iterator[int]:
    """The living children of a process, and theirs."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from descendants(child)


def cpu_seconds() -> float:
    """User and system time of this process and of all its descendants, those that have ended too."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = sum(each.ru_utime + each.ru_stime for each in used)
    for child in descendants(os.getpid()):
        with suppress(OSError):
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / TICK  # its own time and that of its children that have ended
    return total


@dataclass
class Loop:
    """One loop over a dataset. Make it after the imports: the clock starts here, and stops at the last `took`."""

    path: str
    mode: str  # which loop: ordered, shuffled, first, or the format of the rows
    threads: int
    memory: str  # weir's budget in bytes
    arguments: list[str]
    rows: int = 0
    ints: int = 0
    floats: float = 0.0
    text_bytes: int = 0
    began: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=cpu_seconds)
    ended: float = 0.0

    @classmethod
    def from_args(cls) -> Loop:
        path, mode, threads, memory, *arguments = sys.argv[1:]
        return cls(path, mode, int(threads), memory, arguments)

    def files(self) -> list[str]:
        """The files of the dataset, in order."""
        return sorted(str(part) for part in Path(self.path).rglob("*") if part.is_file())

    def took(self, rows: int) -> None:
        """Counts rows that have arrived."""
        self.rows += rows
        self.ended = time.perf_counter()

    def cost(self) -> dict[str, float]:
        """What the loop has cost; asked for when it has ended, before anything is taken down or checked."""
        return {"wall": self.ended - self.began, "cpu": cpu_seconds() - self.cpu}

    def tell(self, cost: dict[str, float]) -> None:
        """Prints what was found and what it cost."""
        found = {name: getattr(self, name) for name in ("rows", "ints", "floats", "text_bytes")}
        print(json.dumps(found | cost), flush=True)
