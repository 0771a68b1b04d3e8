"""The examples do what they say."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from loading import PACKAGE
from prepared import prepare, split

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = 6000


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points of which those on one side of a plane are 1."""
    folder = tmp_path_factory.mktemp("raw")
    x = np.random.default_rng(1).normal(3, 2, (ROWS, 4))
    y = (x @ [1, -2, 0.5, 1] > 1.5).astype(int)
    pq.write_table(pa.table({f"f{i}": x[:, i] for i in range(4)} | {"y": y}), folder / "x.parquet", row_group_size=500)
    return folder


@pytest.fixture(scope="module")
def prepared(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("prepared") / "out"
    prepare(raw, out, "--label", "y", "--scale", "f*=standard").done()
    return out


def example(*args: object) -> list[str]:
    return [sys.executable, *map(str, args)]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(PACKAGE)}


def said(*args: object) -> str:
    done = subprocess.run(example(*args), env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_network_learns(prepared: Path) -> None:
    lines = said(EXAMPLES / "train_mlp.py", prepared).splitlines()
    assert len(lines) == 4 and "the model waited" in lines[3]
    right = float(lines[2].partition(": ")[2].partition("%")[0])
    assert lines[2].endswith(f"of {split(prepared, 'val').num_rows} right") and right > 95


def test_killed_again_and_again_the_model_becomes_the_same(prepared: Path, tmp_path: Path) -> None:
    said(EXAMPLES / "resume.py", prepared, "--checkpoint", tmp_path / "whole.pt")
    chance = random.Random(3)
    checkpoint = tmp_path / "killed.pt"
    for _ in range(3):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        command = example(EXAMPLES / "resume.py", prepared, "--checkpoint", checkpoint, "--every", 3)
        with subprocess.Popen(command, env=environment()) as run:
            while run.poll() is None and (not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before):
                time.sleep(0.01)
            time.sleep(chance.random() / 20)
            run.send_signal(signal.SIGKILL)
    assert "done" in said(EXAMPLES / "resume.py", prepared, "--checkpoint", checkpoint)
    whole, killed = (torch.load(tmp_path / name) for name in ("whole.pt", "killed.pt"))
    assert whole["data"] == killed["data"] and whole["data"]["epoch"] == 2
    assert all(torch.equal(whole["model"][name], killed["model"][name]) for name in whole["model"])


def test_two_ranks_share_every_epoch(prepared: Path) -> None:
    lines = said("-m", "torch.distributed.run", "--nproc-per-node", 2, EXAMPLES / "two_ranks.py", prepared).splitlines()
    rows = split(prepared, "train").num_rows
    steps = -(-rows // 128)
    assert lines == [f"epoch {e}: {rows} of {rows} samples, {steps} batches on each of 2 ranks" for e in range(2)]


def test_pandas_means(raw: Path) -> None:
    means = {name: float(value) for name, value in (line.split() for line in said(EXAMPLES / "pandas_loop.py", raw).splitlines())}
    want = pq.read_table(raw).to_pandas().mean().to_dict()
    assert means.keys() == want.keys() and all(abs(means[n] - want[n]) < 1e-5 for n in want)
