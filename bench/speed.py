"""Speed: every program on every dataset, a round at a time, so that a slow minute of the machine hits all of them."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import corpus_runs
import programs
from datasets import Dataset
from programs import Job, Outcome, Settings

AnyJob = TypeVar("AnyJob", Job, corpus_runs.Job)
LONG = 30.0  # seconds: a run that takes longer is not repeated


@dataclass
class Entry:
    """All rounds of one program on one dataset with one number of threads."""

    program: str
    dataset: str
    rows: int
    arrow_bytes: int
    threads: int
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    written: int = 0  # bytes, where the rows were written
    share: float = 0.0  # of packed rows that is filled, or of planted duplicates that was found
    added: int = 0  # the most bytes above those of what is in memory before, where that was measured

    def add(self, outcome: Outcome) -> None:
        if outcome.error:
            self.errors.append(outcome.error)
            return
        self.walls.append(outcome.wall)
        self.cpus.append(outcome.cpu)
        self.peaks.append(outcome.peak)
        self.written, self.share = outcome.written, outcome.share
        self.added = max(self.added, outcome.added)

    @property
    def good(self) -> bool:
        """Whether every run ended well."""
        return bool(self.walls) and not self.errors

    @property
    def wall(self) -> float:
        return statistics.median(self.walls)

    @property
    def cpu(self) -> float:
        return statistics.median(self.cpus)

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.wall

    @property
    def work(self) -> float:
        """Rows a CPU second."""
        return self.rows / self.cpu

    @property
    def peak(self) -> int:
        return max(self.peaks)


def warm(data: Dataset) -> None:
    """Reads the files once, so that every round finds them in the page cache."""
    for inode in {part.stat().st_ino: part for part in data.files()}.values():
        with inode.open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


def interleave(
    jobs: Sequence[AnyJob], rounds: int, settings: Settings, run: Callable[[AnyJob, Settings], Outcome] = programs.run
) -> list[Entry]:
    """Runs all jobs `rounds` times in turn, but those that take long only once."""
    entries = [Entry(job.program, job.label, job.data.rows, job.data.arrow_bytes, job.threads) for job in jobs]
    pending = list(zip(jobs, entries, strict=True))
    for turn in range(rounds):
        again = []
        for job, entry in pending:
            print(f"\r\033[K{job.label}: round {turn + 1}/{rounds}, {job.program}", end="", file=sys.stderr, flush=True)
            outcome = run(job, settings)
            entry.add(outcome)
            if outcome.wall <= LONG:
                again.append((job, entry))
        pending = again
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return entries


def compare(data: Dataset, names: list[str], threads: int, rounds: int, settings: Settings, *, codec: str = "") -> list[Entry]:
    """All programs on one dataset, from a warm cache."""
    warm(data)
    return interleave([Job(name, data, threads, codec=codec) for name in names], rounds, settings)
