"""kill -9 at any moment, again and again, on disk and on S3: the same command ends in the same bytes, and nothing is left over."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import s3
from binary import command, weir
from prepared import arguments, prepare, tree

KILLS = {"disk": 200, "s3": 120, "uploads": 40}
AGAIN = 6  # kills of one preparation, before it is let to its end

FINISHED = "holds a finished dataset"


def rows(path: Path, count: int, width: int, seed: int) -> None:
    """Numbers, some of them missing, words and a label."""
    rng = np.random.default_rng(seed)
    words = np.array(["red", "green", "blue", "violet"])
    table = pa.table(
        {"id": np.arange(count), "color": words[rng.integers(0, 4, count)]}
        | {f"f{i:02d}": pa.array(rng.normal(1e6, 1 + i, count), mask=rng.random(count) < 0.05) for i in range(width)}
        | {"y": rng.integers(0, 2, count)}
    )
    pq.write_table(table, path, row_group_size=max(1, count // 5), compression="none", use_dictionary=["color"])


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts that take several writes each, in several sets."""
    folder = tmp_path_factory.mktemp("raw")
    for part in range(2):
        rows(folder / f"part-{part}.parquet", 20_000, 8, part)
    return folder


@pytest.fixture(scope="module")
def heavy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts that S3 takes in several pieces."""
    folder = tmp_path_factory.mktemp("heavy")
    rows(folder / "part.parquet", 100_000, 24, 9)
    return folder


RULES = ["--label", "y", "--keep", "id", "--scale", "f00=robust,f*=standard", "--impute", "f*=mean", "--encode", "color=onehot"]
SMALL = [*RULES, "--part-size", "1MiB", "--row-group", "1MiB"]
LARGE = [*RULES, "--part-size", "64MiB", "--row-group", "2MiB", "--codec", "none"]


@dataclass
class Ground:
    """Where datasets are written, and how all that lies there is seen."""

    url: str
    folder: Path
    service: s3.Service | None = None
    verified: int = 1  # one in so many is verified; the bytes are compared of all

    def env(self) -> dict[str, str]:
        return self.service.env() if self.service else {}

    def take(self) -> dict[str, str]:
        """All that lies there, uploads that nobody ended too; it is taken away."""
        found = tree(self.folder / "out")
        shutil.rmtree(self.folder / "out")
        if self.service is None:
            return found
        # On S3 there are no directories.
        return {path: digest for path, digest in found.items() if not path.endswith("/")} | dict.fromkeys(self.service.uploads(), "upload")


@dataclass
class Hunt:
    """A preparation that is killed until there were kills enough."""

    ground: Ground
    source: Path
    rules: list[str]
    draw: random.Random
    kills: int = 0

    def run(self, at: float) -> bool:
        """Kills a run at a moment; false: it had come to its end before."""
        threads = str(self.draw.choice([1, 2, 8]))  # from four on, spans are written side by side
        args = command(*arguments(self.source, f"{self.ground.url}/out", *self.rules, "--memory", "192MiB", "--threads", threads))
        env = os.environ | self.ground.env()
        with subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(at)
            process.send_signal(signal.SIGKILL)
            _, err = process.communicate()
            code = process.returncode
        assert code in (0, -signal.SIGKILL) or FINISHED in err.decode(), f"exit {code}: {err.decode()}"
        self.kills += code == -signal.SIGKILL
        return code == -signal.SIGKILL

    def whole(self) -> tuple[dict[str, str], float]:
        """Lets the preparation come to its end: all that lies there then, which is taken away, and how long it took."""
        start = time.monotonic()
        result = prepare(self.source, f"{self.ground.url}/out", *self.rules, "--memory", "192MiB", env=self.ground.env())
        took = time.monotonic() - start
        assert result.code == 0 or (result.code == 2 and FINISHED in result.err), result.err
        if self.draw.randrange(self.ground.verified) == 0:
            weir("verify", f"{self.ground.url}/out/", env=self.ground.env()).done()
        return self.ground.take(), took

    def go(self, enough: int) -> None:
        want, took = self.whole()
        assert not any("_weir" in path or "/." in path for path in want)
        while self.kills < enough:
            at = self.draw.random() * took * 1.2  # runs are not all as quick
            if not self.run(at):
                took = min(took, at)
            else:
                for _ in range(self.draw.randrange(AGAIN)):
                    if not self.run(self.draw.random() * took):
                        break
            got, _ = self.whole()
            assert got == want, f"after {self.kills} kills: {sorted(set(got.items()) ^ set(want.items()))}"


@pytest.fixture
def memory() -> Iterator[Path]:
    """A directory in memory where there is one: hundreds of runs sync all they write, which is not what is tested."""
    with tempfile.TemporaryDirectory(prefix="weir-test-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        yield Path(folder)


def test_kills_on_disk(raw: Path, memory: Path) -> None:
    Hunt(Ground(str(memory), memory), raw, SMALL, random.Random(1)).go(KILLS["disk"])


@pytest.fixture
def remote(memory: Path) -> Iterator[Ground]:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, memory / "s3", "tests") as running:
        yield Ground("s3://tests", memory / "s3" / "tests", running, verified=8)


def test_kills_on_s3(raw: Path, remote: Ground) -> None:
    Hunt(remote, raw, SMALL, random.Random(2)).go(KILLS["s3"])


def test_kills_on_s3_during_uploads(heavy: Path, remote: Ground) -> None:
    Hunt(remote, heavy, LARGE, random.Random(3)).go(KILLS["uploads"])
