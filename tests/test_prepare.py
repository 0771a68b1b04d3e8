"""weir prepare: splits, standardised by train alone, killed and resumed to the same bytes, verified."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from binary import command, weir

ROWS = 60_000
SPLITS = ("train", "val", "test")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of numbers on 1e9, a group and a label."""
    rng = np.random.default_rng(7)
    folder = tmp_path_factory.mktemp("raw")
    for part in range(2):
        rows = pa.table(
            {
                "id": np.arange(part * ROWS, (part + 1) * ROWS),
                "user": rng.integers(0, 3_000, ROWS),
                **{f"f{i}": rng.normal(1e9, 1 + i, ROWS) for i in range(6)},
                "y": rng.integers(0, 2, ROWS),
            }
        )
        pq.write_table(rows, folder / f"part-{part}.parquet", row_group_size=7_000)
    return folder


def prepare(raw: Path, out: Path, *args: str) -> list[str]:
    return [
        "prepare",
        str(raw),
        "-o",
        f"{out}/",
        "--label",
        "y",
        "--keep",
        "id,user",
        "--scale",
        "f*=standard",
        "--part-size",
        "2MiB",
        *args,
    ]


def bytes_of(out: Path) -> dict[str, str]:
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.rglob("*")) if path.is_file()}


def test_splits_are_standardised_by_train_alone(raw: Path, tmp_path: Path) -> None:
    weir(*prepare(raw, tmp_path / "out", "--memory", "128MiB")).done()
    source = pq.read_table(raw).sort_by("id")
    made = {name: pq.read_table(tmp_path / "out" / name) for name in SPLITS}
    ids = {name: made[name]["id"].to_numpy() for name in SPLITS}
    assert sorted(np.concatenate(list(ids.values()))) == list(range(2 * ROWS))
    assert abs(len(ids["train"]) / (2 * ROWS) - 0.8) < 0.01
    for column in (f"f{i}" for i in range(6)):
        values = source[column].to_numpy()
        train = values[ids["train"]]
        for name in SPLITS:
            want = (values[ids[name]] - train.mean()) / train.std()
            assert np.allclose(made[name][column].to_numpy(), want, rtol=0, atol=1e-6)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert [split["rows"] for split in manifest["splits"]] == [len(ids[name]) for name in SPLITS]
    weir("verify", tmp_path / "out").done()


def test_a_group_is_in_one_split(raw: Path, tmp_path: Path) -> None:
    weir(*prepare(raw, tmp_path / "out", "--split-by", "user", "--memory", "128MiB")).done()
    users = [set(pq.read_table(tmp_path / "out" / name)["user"].to_pylist()) for name in SPLITS]
    assert all(not users[i] & users[j] for i in range(3) for j in range(i))


def test_the_bytes_do_not_depend_on_batches_and_kills(raw: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    weir(*prepare(raw, out, "--memory", "128MiB")).done()
    want = bytes_of(out)
    draw = random.Random(3)
    for round_ in range(12):
        weir(*prepare(raw, out, "--memory", "1MiB", "--force"))  # too little: nothing is touched
        args = prepare(raw, out, "--memory", "128MiB", "--threads", "2", "--quiet")
        args += ["--batch-size", str(draw.choice([100, 7_000, 50_000]))]
        for path in sorted(out.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        for _ in range(20):
            run = subprocess.Popen(command(*args), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.random() * 0.5)
            run.send_signal(signal.SIGKILL)
            if run.wait() == 0:
                break
        else:
            weir(*args).done()
        assert bytes_of(out) == want, f"round {round_}"


def test_what_is_there_is_not_overwritten(raw: Path, tmp_path: Path) -> None:
    weir(*prepare(raw, tmp_path / "out", "--memory", "128MiB")).done()
    again = weir(*prepare(raw, tmp_path / "out", "--memory", "128MiB"))
    assert again.code == 2 and "--force" in again.err
    (tmp_path / "out" / "val" / "part-00000.parquet").unlink()
    broken = weir("verify", tmp_path / "out")
    assert broken.code == 4 and "val/part-00000.parquet: missing" in broken.out.decode()


def test_a_recipe_runs_as_its_command_does(raw: Path, tmp_path: Path) -> None:
    recipe = weir(*prepare(raw, tmp_path / "out", "--memory", "128MiB", "--print-recipe")).done().out
    (tmp_path / "recipe.yaml").write_bytes(recipe)
    weir("run", tmp_path / "recipe.yaml").done()
    weir("verify", tmp_path / "out").done()
    (tmp_path / "recipe.yaml").write_bytes(recipe.replace(b"- scale:", b"- scal:"))
    wrong = weir("run", tmp_path / "recipe.yaml")
    assert wrong.code == 2 and 'did you mean "scale"' in wrong.err
