"""The programs that are compared: how each is started, and how its answer is read and checked."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import environment
import measure
import preparation
from corpora import NAMES as CORPUS
from datasets import Dataset, cache
from feeds import NAMES as FEEDERS
from feeds import Feeder

HERE = Path(__file__).resolve().parent
MIB = 1 << 20

WEIR = "weir"


@dataclass(frozen=True)
class Peer:
    """A program in peers/: the forms of data it reads, the virtual environment it needs, whether it can use a second thread."""

    module: str
    forms: tuple[str, ...]
    environment: str = ""
    parallel: bool = True


PEERS = {
    "pyarrow iter_batches": Peer("pyarrow_iter", ("parquet",)),
    "pyarrow to_batches": Peer("pyarrow_dataset", ("parquet",)),
    "pyarrow": Peer("pyarrow_stream", ("jsonl", "csv", "arrow")),
    "pyarrow mapped": Peer("pyarrow_mapped", ("arrow",)),
    "DuckDB": Peer("duckdb_sum", ("parquet", "jsonl", "csv")),
    "Polars streaming": Peer("polars_stream", ("parquet", "jsonl", "csv", "arrow")),
    "StreamingDataset batch 1": Peer("streaming_iter", ("mds",), "mds", parallel=False),
    "StreamingDataset batch 64": Peer("streaming_batched", ("mds",), "mds", parallel=False),
    "webdataset": Peer("webdataset_iter", ("webdataset",), parallel=False),
    "tf.data": Peer("tf_data", ("tfrecord", "images"), "tf"),
}
WRITERS = {
    "pyarrow write_table": Peer("pyarrow_table", ("parquet",)),
    "pyarrow ParquetWriter": Peer("pyarrow_writer", ("parquet",)),
    "Polars sink_parquet": Peer("polars_sink", ("parquet",)),
}
PREPARERS = {
    "sklearn batches": Peer("sklearn_batches", ("parquet",)),
    "sklearn batches tuned": Peer("sklearn_tuned", ("parquet",)),
    "pandas eager": Peer("pandas_eager", ("parquet",)),
    "pandas eager tuned": Peer("pandas_tuned", ("parquet",)),
    "Polars prepare": Peer("polars_prepare", ("parquet",)),
    "Polars second pass": Peer("polars_second", ("parquet",)),
}
CHECKER = "pyarrow iter_batches"  # reads what was written
NAMES = [WEIR, *PEERS, *WRITERS, *PREPARERS, *FEEDERS, *CORPUS]


def readers(form: str) -> tuple[str, ...]:
    """The peers that read a form of data."""
    return tuple(name for name, peer in PEERS.items() if form in peer.forms)


@dataclass
class Outcome:
    """One scan of one dataset by one program. `error` is empty when it ended well with the right sums."""

    error: str
    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0
    samples: list[tuple[float, int]] = field(default_factory=list)
    written: int = 0  # bytes of the files it wrote
    share: float = 0.0  # of packed rows that is filled, or of planted duplicates that was found
    added: int = 0  # the most bytes above those of what is in memory before, where that was measured


@dataclass(frozen=True)
class Settings:
    """What all runs of one benchmark have in common."""

    weir: Path
    memory: int  # weir's budget where nothing else is said, in bytes
    timeout: float = 1200.0  # seconds


@dataclass(frozen=True)
class Job:
    """One scan to be run: a limit of 0 is none; `source` replaces the dataset's path (weir only).

    With a codec the rows are written again as Parquet compressed with it: as they are, or prepared. `reference` is weir's manifest
    of the prepared dataset, which parameters are compared with. With a feeder, Python is fed in a loop of that mode.
    """

    program: str
    data: Dataset
    threads: int
    memory: int = 0
    limit: int = 0
    source: str = ""
    env: tuple[tuple[str, str], ...] = ()
    codec: str = ""
    prepare: bool = False
    reference: str = ""
    feeder: Feeder | None = None
    mode: str = ""
    name: str = ""  # of the loop

    @property
    def label(self) -> str:
        if self.name:
            return self.name
        return f"write-{self.codec}" if self.codec and not self.prepare else self.data.name


def run(job: Job, settings: Settings) -> Outcome:
    """Runs the job and checks what it found, or what it wrote."""
    if job.feeder:
        return run_feeder(job, job.feeder, settings)
    start = run_weir if job.program == WEIR else run_peer
    if not job.codec:
        return start(job, settings, "")
    os.sync()  # so that no program waits for what another left to be written
    with tempfile.TemporaryDirectory(prefix="bench-out-", dir=cache()) as target:
        outcome = start(job, settings, target)
        if outcome.error:
            return outcome
        copy = replace(job.data, path=Path(target))
        outcome.written = sum(path.stat().st_size for path in copy.files())
        if job.prepare:
            return replace(outcome, error=preparation.wrong(target, job.data, job.reference))
        checked = run_peer(Job(CHECKER, copy, job.threads), settings, "")
        return replace(outcome, error=checked.error and f"what it wrote: {checked.error}")


def run_weir(job: Job, settings: Settings, target: str) -> Outcome:
    """weir's cost is that of the whole process, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        source = job.source or str(job.data.path)
        command = preparation.arguments(source, target) if job.prepare else ["scan", source, "--report", str(report)]
        if target and not job.prepare:
            command += ["--to", "parquet", "-o", f"{target}/", "--codec", job.codec]
        command = [str(settings.weir), *command, "--memory", str(job.memory or settings.memory), "--threads", str(job.threads), "--quiet"]
        done = measure.run(command, threads=job.threads, env=dict(job.env), cwd=HERE, limit=job.limit, timeout=settings.timeout)
        error = failure(done)
        if not error and not job.prepare:
            found = json.loads(report.read_text())
            if found["rows"] != job.data.rows:
                error = f"{found['rows']} rows instead of {job.data.rows}"
            elif found["memory_bytes"] < job.data.text_bytes:
                error = f"{found['memory_bytes']} bytes instead of at least {job.data.text_bytes}"
        return Outcome(error, done.wall, done.cpu, done.peak, done.samples)


def run_peer(job: Job, settings: Settings, target: str) -> Outcome:
    """A peer's cost is what it measures itself once its imports are done; memory is that of the whole process."""
    peer, spec = (PEERS | WRITERS | PREPARERS)[job.program], job.data.spec
    try:
        command = [str(environment.python(peer.environment)), "-m", f"peers.{peer.module}"]
    except environment.Unavailable as why:
        return Outcome(str(why))
    command += [str(job.data.path), spec.kind, spec.form, str(job.threads), *([target, job.codec] if target else [])]
    env = {"POLARS_MAX_THREADS": str(job.threads), "OMP_NUM_THREADS": str(job.threads), "PYTHONDONTWRITEBYTECODE": "1"}
    done = measure.run(command, threads=job.threads, env=env, cwd=HERE, limit=job.limit, timeout=settings.timeout)
    error = failure(done)
    if error:
        return Outcome(error, done.wall, done.cpu, done.peak, done.samples)
    found = json.loads(done.stdout.splitlines()[-1])
    return Outcome("" if target else wrong(found, job.data), found["wall"], found["cpu"], done.peak, done.samples)


def feed(feeder: Feeder, data: Path, mode: str, threads: int, settings: Settings) -> measure.Run:
    """Runs a script of feeders/, which finds weir's package in this tree."""
    interpreter, memory = str(environment.python(feeder.environment)), feeder.memory * MIB or settings.memory
    command = [interpreter, str(HERE / "feeders" / f"{feeder.script}.py"), str(data), mode, str(threads), str(memory)]
    with tempfile.TemporaryDirectory(prefix="bench-home-", dir=cache()) as home:
        env = {
            "WEIR_BIN": str(settings.weir.resolve()),
            "PYTHONPATH": str(HERE.parent / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HF_HOME": home,  # empty: nothing of an earlier run is found again
            "HF_HUB_OFFLINE": "1",
        }
        return measure.run([*command, *feeder.arguments], threads=threads, env=env, cwd=HERE, timeout=settings.timeout)


def run_feeder(job: Job, feeder: Feeder, settings: Settings) -> Outcome:
    """A loop's cost, weir's too, is what it measures itself from the end of its imports to its last batch, with all child processes."""
    try:
        done = feed(feeder, job.data.path, job.mode, job.threads, settings)
    except environment.Unavailable as why:
        return Outcome(str(why))
    error = failure(done)
    if error:
        return Outcome(error, done.wall, done.cpu, done.peak, done.samples)
    found = json.loads(done.stdout.splitlines()[-1])
    return Outcome(wrong_loop(found, job, feeder), found["wall"], found["cpu"], done.peak, done.samples)


def wrong_loop(found: dict[str, float], job: Job, feeder: Feeder) -> str:
    """What a loop found otherwise than it is, or nothing. Matrices have no ids, which are 0, 1, 2 and so on."""
    if job.mode == "first":
        return "" if found["rows"] else "no rows"
    data = job.data
    if job.mode in ("ordered", "shuffled"):
        data = replace(data, ints=data.ints - data.rows * (data.rows - 1) // 2)
    return wrong(found if feeder.nested else found | {"text_bytes": data.text_bytes}, data)


def wrong(found: dict[str, float], data: Dataset) -> str:
    """What a peer found otherwise than it is, or nothing."""
    for name in ("rows", "ints", "text_bytes"):
        if found[name] != getattr(data, name):
            return f"{name} {found[name]} instead of {getattr(data, name)}"
    if not math.isclose(found["floats"], data.floats, rel_tol=1e-6, abs_tol=1e-3):
        return f"sum of floats {found['floats']} instead of {data.floats}"
    return ""


def digest(data: Dataset, settings: Settings) -> str:
    """weir's digest of all names, types and values, or nothing where it cannot read the dataset."""
    command = [str(settings.weir), "scan", str(data.path), "--memory", str(settings.memory), "--digest", "--quiet"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def failure(done: measure.Run) -> str:
    """Why a run does not count, or nothing."""
    if done.oom_kills:
        return "killed for memory"
    if done.timed_out:
        return f"not done after {done.wall:.0f} s"
    if done.status:
        lines = done.stderr.strip().splitlines() or ["no message"]
        told = next((line for line in lines if line.startswith("weir: ")), lines[-1])
        return f"exit {done.status}: {told[:200]}"
    return ""
