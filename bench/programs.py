"""The programs that are compared: how each is started, and how its answer is read and checked."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import environment
import measure
from datasets import SPECS, Dataset

HERE = Path(__file__).resolve().parent
MIB = 1 << 20

WEIR = "weir"
PEERS = {
    "pyarrow iter_batches": "pyarrow_iter",
    "pyarrow to_batches": "pyarrow_dataset",
    "DuckDB": "duckdb_sum",
    "Polars streaming": "polars_stream",
}
NAMES = [WEIR, *PEERS]


@dataclass
class Outcome:
    """One scan of one dataset by one program. `error` is empty when it ended well with the right sums."""

    error: str
    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0
    samples: list[tuple[float, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """What all runs of one benchmark have in common."""

    weir: Path
    memory: int  # weir's budget where nothing else is said, in bytes
    timeout: float = 600.0


@dataclass(frozen=True)
class Job:
    """One scan to be run: a limit of 0 is none; `source` replaces the dataset's path (weir only)."""

    program: str
    data: Dataset
    threads: int
    memory: int = 0
    limit: int = 0
    source: str = ""
    env: tuple[tuple[str, str], ...] = ()


def kind_of(data: Dataset) -> str:
    """Which of the peers' queries fits the dataset."""
    kind = SPECS[data.name].kind
    return {"links": "numeric", "duckdb": "text"}.get(kind, kind)


def run(job: Job, settings: Settings) -> Outcome:
    """Runs the job and checks what it found."""
    return run_weir(job, settings) if job.program == WEIR else run_peer(job, settings)


def run_weir(job: Job, settings: Settings) -> Outcome:
    """weir's cost is that of the whole process, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [str(settings.weir), "scan", job.source or str(job.data.path)]
        command += ["--memory", str(job.memory or settings.memory), "--threads", str(job.threads), "--report", str(report), "--quiet"]
        done = measure.run(command, threads=job.threads, env=dict(job.env), cwd=HERE, limit=job.limit, timeout=settings.timeout)
        error = failure(done)
        if not error:
            found = json.loads(report.read_text())
            if found["rows"] != job.data.rows:
                error = f"{found['rows']} rows instead of {job.data.rows}"
            elif found["memory_bytes"] < job.data.text_bytes:
                error = f"{found['memory_bytes']} bytes instead of at least {job.data.text_bytes}"
        return Outcome(error, done.wall, done.cpu, done.peak, done.samples)


def run_peer(job: Job, settings: Settings) -> Outcome:
    """A peer's cost is what it measures itself once its imports are done; memory is that of the whole process."""
    command = [str(environment.python()), "-m", f"peers.{PEERS[job.program]}", str(job.data.path), kind_of(job.data), str(job.threads)]
    env = {"POLARS_MAX_THREADS": str(job.threads), "OMP_NUM_THREADS": str(job.threads), "PYTHONDONTWRITEBYTECODE": "1"}
    done = measure.run(command, threads=job.threads, env=env, cwd=HERE, limit=job.limit, timeout=settings.timeout)
    error = failure(done)
    if error:
        return Outcome(error, done.wall, done.cpu, done.peak, done.samples)
    found = json.loads(done.stdout.splitlines()[-1])
    for name in ("rows", "ints", "text_bytes"):
        if found[name] != getattr(job.data, name):
            error = f"{name} {found[name]} instead of {getattr(job.data, name)}"
    if not math.isclose(found["floats"], job.data.floats, rel_tol=1e-6, abs_tol=1e-3):
        error = f"sum of floats {found['floats']} instead of {job.data.floats}"
    return Outcome(error, found["wall"], found["cpu"], done.peak, done.samples)


def failure(done: measure.Run) -> str:
    """Why a run does not count, or nothing."""
    if done.oom_kills:
        return "killed for memory"
    if done.timed_out:
        return f"not done after {done.wall:.0f} s"
    if done.status:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return f"exit {done.status}: {last[:200]}"
    return ""
