"""weir prepare --npy: arrays that numpy maps, the same rows as the parts, on disk and on S3, killed and verified."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import s3
from binary import command, weir

ROWS = 30_000
SPLITS = ("train", "val", "test")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbers of several types, some missing, a category, a group, a time and a label."""
    rng = np.random.default_rng(11)
    folder = tmp_path_factory.mktemp("raw")
    for part in range(2):
        rows = pa.table(
            {
                "user": rng.integers(0, 3_000, ROWS),
                **{f"f{i}": rng.normal(5, 1 + i, ROWS) for i in range(9)},
                "count": pa.array(rng.integers(-9, 9, ROWS), pa.int16(), mask=rng.random(ROWS) < 0.1),
                "flag": rng.integers(0, 2, ROWS).astype(bool),
                "color": rng.choice(["red", "green", "[blue*"], ROWS),
                "note": pa.array([f"n{i}" for i in range(ROWS)]),
                "at": pa.array(np.arange(ROWS), pa.timestamp("us")),
                "id": np.arange(ROWS),
                "y": rng.integers(0, 5, ROWS).astype(np.int8),
            }
        )
        pq.write_table(rows, folder / f"part-{part}.parquet", row_group_size=7_000)
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[s3.Service, Path]]:
    binary = s3.program()
    if not binary:
        pytest.skip("the S3 service is built with Go")
    folder = tmp_path_factory.mktemp("s3")
    with s3.service(binary, folder, "tests") as running:
        yield running, folder / "tests"


def prepare(raw: Path, out: Path | str, *args: str) -> list[str]:
    rules = ["--label", "y", "--keep", "id", "--split-by", "user", "--scale", "f*=standard", "--encode", "color=onehot"]
    return ["prepare", str(raw), "-o", f"{out}/", *rules, "--part-size", "2MiB", "--memory", "128MiB", "--npy", "--quiet", *args]


def check(out: Path, dtype: type) -> None:
    """Holds the arrays against the parts and the manifest."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    arrays = {array["name"]: array for array in manifest["arrays"]}
    assert sorted(arrays) == sorted(f"{letter}_{name}.npy" for letter in "Xy" for name in SPLITS)
    for name in SPLITS:
        parts = sorted((out / name).glob("*.parquet"))
        assert len(parts) > 1
        rows = pa.concat_tables([pq.read_table(part) for part in parts])
        x, y = (np.load(out / f"{letter}_{name}.npy", mmap_mode="r") for letter in "Xy")
        assert isinstance(x, np.memmap) and x.flags.c_contiguous
        columns = arrays[f"X_{name}.npy"]["columns"]
        assert columns == [*(f"f{i}" for i in range(9)), "count", "flag", "color_[blue*", "color_green", "color_red"]
        want = np.stack([rows[column].to_numpy().astype(dtype) for column in columns], axis=1)
        assert x.dtype == dtype and np.array_equal(x, want, equal_nan=True)
        assert y.dtype == np.int64 and np.array_equal(y, rows["y"].to_numpy())
        for letter, array in (("X", x), ("y", y)):
            said = arrays[f"{letter}_{name}.npy"]
            assert said["shape"] == list(array.shape) and said["dtype"] == array.dtype.name and said["rows"] == len(rows)
            assert said["bytes"] == (out / said["name"]).stat().st_size
    assert np.isnan(np.load(out / "X_train.npy")).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_are_the_rows_of_the_parts(raw: Path, tmp_path: Path, dtype: str) -> None:
    weir(*prepare(raw, tmp_path / "out", "--dtype", dtype)).done()
    check(tmp_path / "out", getattr(np, dtype))
    weir("verify", tmp_path / "out").done()


def test_arrays_on_s3_are_the_same_bytes(raw: Path, tmp_path: Path, service: tuple[s3.Service, Path]) -> None:
    running, folder = service
    weir(*prepare(raw, tmp_path / "out", "--dtype", "float32")).done()
    weir(*prepare(raw, "s3://tests/out", "--dtype", "float32"), env=running.env()).done()
    check(folder / "out", np.float32)
    for array in sorted((tmp_path / "out").glob("*.npy")):
        assert (folder / "out" / array.name).read_bytes() == array.read_bytes()
    weir("verify", "s3://tests/out/", env=running.env()).done()
    (folder / "out" / "y_val.npy").unlink()
    broken = weir("verify", "s3://tests/out/", env=running.env())
    assert broken.code == 4 and b"y_val.npy: missing" in broken.out


def test_a_killed_run_ends_with_the_same_arrays(raw: Path, tmp_path: Path) -> None:
    def contents() -> dict[str, str]:
        return {
            str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.rglob("*")) if path.is_file()
        }

    out = tmp_path / "out"
    began = time.monotonic()
    weir(*prepare(raw, out)).done()
    took = time.monotonic() - began
    want, draw = contents(), random.Random(5)
    for round_ in range(10):
        shutil.rmtree(out)
        run = subprocess.Popen(command(*prepare(raw, out)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(took * (0.3 + 0.7 * draw.random()))  # the later part: what comes before has tests of its own
        run.send_signal(signal.SIGKILL)
        if run.wait() != 0:
            last = weir(*prepare(raw, out))
            assert last.code == 0 or "holds a finished dataset" in last.err, last.err  # it was at its end
        assert contents() == want, f"round {round_}"


def test_verify_names_arrays_that_are_wrong(raw: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    weir(*prepare(raw, out)).done()
    with (out / "X_val.npy").open("r+b") as array:
        array.truncate(1_000)
    (out / "y_test.npy").unlink()
    (out / "X_more.npy").write_bytes(b"")
    broken = weir("verify", out)
    text = broken.out.decode()
    assert broken.code == 4
    assert all(word in text for word in ("X_val.npy: 1000 bytes", "y_test.npy: missing", "X_more.npy: not in the manifest"))


def test_a_label_that_is_no_number_is_refused_before_reading(raw: Path, tmp_path: Path) -> None:
    refused = weir(*prepare(raw, tmp_path / "out"), "--label", "note")
    assert refused.code == 2 and 'label "note"' in refused.err and not (tmp_path / "out" / "train").exists()
