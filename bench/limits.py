"""The smallest memory limit each program survives: a fresh control group, cold caches, exit 0, no kill, the right sums."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass, replace

import cgroup
import programs
from programs import MIB, WEIR, Job, Outcome, Settings

AMPLE = 4096  # MiB: a limit that none of the programs feels


@dataclass(frozen=True)
class Search:
    """How thoroughly to look: `repeats` runs at the limit must all end well, and their median is the time."""

    ladder: tuple[int, ...] = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)  # MiB
    repeats: int = 3
    drop_all: bool = True  # empty the whole page cache before each run, and not only of the dataset's files


QUICK = Search((64, 256, 1024), repeats=1, drop_all=False)


@dataclass
class Survival:
    """The smallest limit in MiB (0: none of the ladder) and the times there and with an ample limit."""

    program: str
    dataset: str
    limit: int
    wall: float = 0.0
    full_wall: float = 0.0
    peak: int = 0
    below: str = ""  # what happened one rung below

    @property
    def speed(self) -> float:
        """Throughput at the limit as a share of full throughput."""
        return self.full_wall / self.wall if self.wall else 0.0


def attempt(job: Job, mib: int, drop_all: bool, settings: Settings) -> Outcome:
    """One run inside a limit; weir is told the same number, but its usual budget with the ample limit."""
    cgroup.drop_caches(job.data.path, everything=drop_all)
    memory = settings.memory if mib == AMPLE else mib * MIB
    return programs.run(replace(job, limit=mib * MIB, memory=memory if job.program == WEIR else 0), settings)


def smallest(job: Job, search: Search, settings: Settings) -> Survival:
    """Halves the ladder down to the smallest rung that the program survives every time."""
    note(f"{job.data.name}: {job.program} without a limit")
    full = [attempt(job, AMPLE, search.drop_all, settings) for _ in range(search.repeats)]
    result = Survival(job.program, job.data.name, 0)
    if any(run.error for run in full):
        result.below = next(run.error for run in full if run.error)
        return result
    result.full_wall = statistics.median(run.wall for run in full)
    # A program that only crawls because its own code is read from disk again and again has not survived.
    bounded = replace(settings, timeout=max(20.0, 20 * result.full_wall))
    low, high = 0, len(search.ladder)
    while low < high:
        middle = (low + high) // 2
        note(f"{job.data.name}: {job.program} in {search.ladder[middle]} MiB")
        outcome = attempt(job, search.ladder[middle], search.drop_all, bounded)
        if outcome.error:
            low, result.below = middle + 1, outcome.error
        else:
            high = middle
    for rung in range(high, len(search.ladder)):
        runs = [attempt(job, search.ladder[rung], search.drop_all, bounded) for _ in range(search.repeats)]
        failed = [run.error for run in runs if run.error]
        if failed:
            result.below = failed[0]
            continue
        result.limit = search.ladder[rung]
        result.wall = statistics.median(run.wall for run in runs)
        result.peak = max(run.peak for run in runs)
        break
    note("")
    return result


def note(text: str) -> None:
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def survey(jobs: list[Job], search: Search, settings: Settings) -> list[Survival]:
    """The smallest limits of all jobs."""
    return [smallest(job, search, settings) for job in jobs]
