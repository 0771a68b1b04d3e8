"""The smallest memory limit each program survives: a fresh control group, cold caches, exit 0, no kill, the right sums."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass, replace

import cgroup
import programs
from datasets import Dataset
from programs import MIB, WEIR, Job, Outcome, Settings

LADDER = [32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048]  # MiB
AMPLE = 4096  # MiB: a limit that none of the programs feels
REPEATS = 3  # runs at the limit that must all end well, and whose median is the time


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


def attempt(job: Job, mib: int, settings: Settings) -> Outcome:
    """One run inside a limit; weir is told the same number, but never more than its usual budget with an ample limit."""
    cgroup.drop_caches(job.data.path)
    memory = settings.memory if mib == AMPLE else mib * MIB
    return programs.run(replace(job, limit=mib * MIB, memory=memory if job.program == WEIR else 0), settings)


def smallest(job: Job, settings: Settings) -> Survival:
    """Halves the ladder down to the smallest rung that the program survives every time."""
    full = [attempt(job, AMPLE, settings) for _ in range(REPEATS)]
    result = Survival(job.program, job.data.name, 0)
    if any(run.error for run in full):
        result.below = next(run.error for run in full if run.error)
        return result
    result.full_wall = statistics.median(run.wall for run in full)
    # A program that only crawls because its own code is read from disk again and again has not survived.
    bounded = replace(settings, timeout=max(30.0, 20 * result.full_wall))
    low, high = 0, len(LADDER)
    while low < high:
        middle = (low + high) // 2
        note(f"{job.data.name}: {job.program} in {LADDER[middle]} MiB")
        outcome = attempt(job, LADDER[middle], bounded)
        if outcome.error:
            low, result.below = middle + 1, outcome.error
        else:
            high = middle
    for rung in range(high, len(LADDER)):
        runs = [attempt(job, LADDER[rung], bounded) for _ in range(REPEATS)]
        failed = [run.error for run in runs if run.error]
        if failed:
            result.below = failed[0]
            continue
        result.limit = LADDER[rung]
        result.wall = statistics.median(run.wall for run in runs)
        result.peak = max(run.peak for run in runs)
        break
    note("")
    return result


def note(text: str) -> None:
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def survey(data: list[Dataset], names: list[str], threads: int, settings: Settings) -> list[Survival]:
    """The smallest limits of all programs on all datasets."""
    return [smallest(Job(name, each, threads), settings) for each in data for name in names]
