"""The job that `weir prepare` and its peers are given (scale 32 features, split 80/10/10, write Parquet), and its check."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
from datasets import Dataset, cache

HERE = Path(__file__).resolve().parent
CODEC = "snappy"


JOB = ["prepare", "--label", "label", "--scale", "f*=standard", "--split", "train=80,val=10,test=10", "--codec", CODEC]


def arguments(source: str, target: str) -> list[str]:
    """What weir is told to do."""
    return [JOB[0], source, "-o", f"{target}/", *JOB[1:]]


def wrong(target: str, data: Dataset, reference: str) -> str:
    """What is wrong with a prepared dataset, by itself and against the parameters of weir, or nothing."""
    manifest = data.path.with_name(f"{data.name}.json")
    command = [str(environment.python()), str(HERE / "check_prepared.py"), target, str(manifest), *([reference] if reference else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"what it wrote: {(done.stderr.strip().splitlines() or ['no message'])[-1]}" if done.returncode else ""


@contextmanager
def reference(data: Dataset, weir: Path, memory: int) -> Iterator[str]:
    """weir's manifest of a prepared dataset, by a run that is not measured: peers' parameters are compared with it. Empty without weir."""
    if not weir.exists():
        yield ""
        return
    folder = cache() / f"bench-reference-{data.path.parent.name}-{data.name}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        command = [str(weir), *arguments(str(data.path), str(folder)), "--memory", str(memory), "--quiet"]
        done = subprocess.run(command, check=False)
        for split in [path for path in folder.glob("*") if path.is_dir()]:
            shutil.rmtree(split)
        yield "" if done.returncode else str(folder / "manifest.json")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fits(data: Dataset) -> bool:
    """Whether there is room for a prepared copy of a dataset, and a tenth more."""
    return shutil.disk_usage(cache()).free > 1.1 * data.arrow_bytes
