"""prepare lives inside --memory, however large the data; and its bytes do not depend on how it was run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import cgroup
import rows
import s3
from binary import MIB, command, weir
from prepared import arguments, columns, manifest, prepare, split, tree
from testdata import dataset, rows_of

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")

RULES = ["--label", "label", "--keep", "id", "--dtype", "float32"]
RULES += ["--scale", "f00=robust,f01=minmax,f*=standard", "--impute", "f02=median,f*=mean"]
RULES += ["--encode", "country=onehot,city=ordinal"]
SPLITS = ("train", "val", "test")
LOADS = {64: 1, 128: 2, 512: 7}  # MiB of memory, and how often the data is there: several times the memory


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[s3.Service]:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, tmp_path_factory.mktemp("s3"), "tests") as running:
        yield running


def links(folder: Path, count: int) -> Path:
    """A directory that has the data several times."""
    folder.mkdir()
    for number in range(count):
        (folder / f"part-{number}.parquet").symlink_to(dataset("mixed"))
    return folder


@cache
def loaded(name: str) -> int:
    """Bytes of the rows in memory."""
    file = pq.ParquetFile(dataset(name))
    return sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))


def limited(args: list[str], limit: int, env: dict[str, str] | None = None) -> cgroup.Outcome:
    """A run in a container of exactly --memory, or, without the right to make one, under the eye of the sampler."""
    run = command(*args)
    if env:
        run = ["env", *(f"{key}={value}" for key, value in env.items()), *run]
    if cgroup.available():
        cgroup.drop_caches(dataset("mixed"))
        return cgroup.confined(run, limit, timeout=60)
    return cgroup.sampled(run, timeout=60)


def holds(args: list[str], limit: int, env: dict[str, str] | None = None) -> None:
    outcome = limited([*args, "--memory", f"{limit}B"], limit, env)
    assert outcome.kills == 0, f"killed in {limit // MIB} MiB"
    assert outcome.code == 0, f"exit {outcome.code}: {outcome.err}"
    assert cgroup.available() or outcome.peak <= limit  # a group holds the line itself, its counter also counts page cache


def refusal_number(args: list[str], limit: int, env: dict[str, str] | None = None) -> int:
    """The bytes that a refusal names, which leaves nothing behind."""
    outcome = limited([*args, "--memory", f"{limit}B"], limit, env)
    assert (outcome.kills, outcome.code, outcome.out) == (0, 3, ""), outcome.err
    advice = re.fullmatch(rf"weir: --memory {limit // MIB}MiB is too small: .*; try --memory (\d+)MiB\n", outcome.err)
    assert advice, outcome.err
    return int(advice[1]) * MIB


def plain(source: Path, out: str, *rules: str) -> list[str]:
    return ["prepare", str(source), "-o", out, "--quiet", *RULES, *rules]


@linux
@pytest.mark.parametrize("limit", LOADS)
def test_more_than_the_memory_is_prepared_inside_it(tmp_path: Path, limit: int) -> None:
    assert loaded("mixed") * LOADS[limit] > 2 * limit * MIB
    source = links(tmp_path / "raw", LOADS[limit])
    holds(plain(source, f"{tmp_path}/out/"), limit * MIB)
    made = manifest(tmp_path / "out")
    assert sum(part["rows"] for part in made["splits"]) == LOADS[limit] * rows_of(dataset("mixed"))
    outcome = limited(["verify", f"{tmp_path}/out/", "--memory", f"{limit}MiB"], limit * MIB)
    assert (outcome.kills, outcome.code) == (0, 0), outcome.err


@linux
@pytest.mark.parametrize("limit", [128, 512])
def test_more_than_the_memory_is_prepared_to_s3_inside_it(remote: s3.Service, tmp_path: Path, limit: int) -> None:
    source = links(tmp_path / "raw", LOADS[limit] // 2)
    out = f"s3://tests/memory-{limit}/"
    holds(plain(source, out), limit * MIB, remote.env())
    outcome = limited(["verify", out, "--memory", f"{limit}MiB"], limit * MIB, remote.env())
    assert (outcome.kills, outcome.code) == (0, 0), outcome.err
    assert remote.uploads() == []


CODED = ["--encode", "country=ordinal,city=ordinal"]  # as many columns as before


@linux
@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_what_needs_more_is_refused_with_a_number_that_works(tmp_path: Path, threads: str) -> None:
    source = links(tmp_path / "raw", 1)
    args = plain(source, f"{tmp_path}/out/", *CODED, "--threads", threads)
    number = refusal_number(args, 24 * MIB)
    assert tree(tmp_path).keys() <= {"raw/", "raw/part-0.parquet", "out/"}
    holds(args, number)


@linux
def test_what_needs_more_on_s3_is_refused_with_a_number_that_works(remote: s3.Service, tmp_path: Path) -> None:
    args = plain(links(tmp_path / "raw", 1), "s3://tests/refused/", *CODED)
    number = refusal_number(args, 24 * MIB, remote.env())
    assert remote.keys("refused/") == []
    holds(args, number, remote.env())


@linux
def test_what_the_fit_found_to_need_more_is_refused_with_a_number_that_works(tmp_path: Path) -> None:
    """One column becomes forty, which is known after the first pass: where they do not fit, the work goes on from there."""
    args = plain(links(tmp_path / "raw", 1), f"{tmp_path}/out/")
    number = refusal_number(args, 24 * MIB)
    outcome = limited([*args, "--memory", f"{number}B"], number)
    if outcome.code == 0:
        return
    more = refusal_number(args, number)
    assert more < number + 16 * MIB
    holds(args, more)


def test_two_runs_into_one_directory(tmp_path: Path) -> None:
    source = links(tmp_path / "raw", 2)
    args = plain(source, f"{tmp_path}/out/", "--memory", "128MiB")
    with subprocess.Popen(command(*args), stderr=subprocess.PIPE) as first:
        waited((tmp_path / "out" / "_weir" / "plan.jsonl").exists)
        for again in (args, [*args, "--force"]):
            second = weir(*again)
            assert second.code not in (0, 2), second.err
            assert f"process {first.pid} on" in second.err and "writes there" in second.err
        _, err = first.communicate(timeout=120)
        assert first.returncode == 0, err.decode()
    weir("verify", tmp_path / "out").done()


def test_two_runs_into_one_prefix(remote: s3.Service, tmp_path: Path) -> None:
    source = links(tmp_path / "raw", 1)
    args = plain(source, "s3://tests/twice/", "--memory", "192MiB")
    with subprocess.Popen(command(*args), stderr=subprocess.PIPE, env=os.environ | remote.env()) as first:
        waited(lambda: any("plan.jsonl" in key for key in remote.keys("twice/")))
        second = weir(*args, env=remote.env())
        assert second.code not in (0, 2) and "writes there" in second.err, second.err
        _, err = first.communicate(timeout=120)
        assert first.returncode == 0, err.decode()
    weir("verify", "s3://tests/twice/", env=remote.env()).done()


def waited(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not there():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in files of three formats, texts without what CSV cannot tell apart."""
    folder = tmp_path_factory.mktemp("several")
    for name in ("parquet", "csv", "jsonl"):
        (folder / name).mkdir()
    for part in range(2):
        table = rows.mixed(part * 6_000, 6_000)
        pq.write_table(table, folder / "parquet" / f"part-{part}.parquet", row_group_size=2_500)
        pc.write_csv(table, folder / "csv" / f"part-{part}.csv")
        text = "\n".join(json.dumps({k: v for k, v in row.items() if v is not None}) for row in table.to_pylist())
        (folder / "jsonl" / f"part-{part}.jsonl").write_text(text + "\n")
    return folder


STEADY = [*RULES, "--row-group", "1MiB", "--part-size", "2MiB", "--seed", "5"]


def test_the_bytes_do_not_depend_on_threads_batches_and_memory(several: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"  # one name for all: the recipe is in the manifest
    ways = [(1, 0, 128), (2, 0, 128), (4, 0, 128), (2, 1, 256), (1, 77, 128), (4, 1_000, 512), (2, 100_000, 96), (8, 4_096, 1024)]
    for source in ("parquet", "csv", "jsonl"):
        want = None
        for threads, batch, memory in ways if source == "parquet" else ways[:1] + ways[4:7]:
            how = ["--threads", str(threads), "--memory", f"{memory}MiB"] + (["--batch-size", str(batch)] if batch else [])
            prepare(several / source, out, *STEADY, *how, "--force").done()
            got = tree(out)
            assert got == (want or got), f"{source}, {how}: {sorted(set(got.items()) ^ set(want.items()))}"
            want = got


@pytest.mark.parametrize("by", [["--split-by", "id"], ["--stratify", "label"]])
def test_the_values_do_not_depend_on_the_format(several: Path, tmp_path: Path, by: list[str]) -> None:
    """Where not even the splits follow from the files' names."""
    want: dict[str, pa.Table] = {}
    for source in ("parquet", "csv", "jsonl"):
        out = tmp_path / source
        prepare(several / source, out, *STEADY, *by).done()
        for name in SPLITS:
            got = split(out, name)
            first = want.setdefault(name, got)
            assert got.select(first.column_names).equals(first), (source, name)
        assert columns(out).keys() == columns(tmp_path / "parquet").keys()
        for name, found in columns(out).items():
            assert found == columns(tmp_path / "parquet")[name] | {"type": found["type"]}, (source, name)
    assert sum(table.num_rows for table in want.values()) == 12_000
    assert np.isfinite(want["train"]["f03"].to_numpy()).all()


@pytest.fixture
def little(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MiB."""
    path = tmp_path / "little"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(path)], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


@pytest.mark.parametrize("part", [0, 0.05, 0.3, 0.6, 0.9])
def test_a_full_disk_is_said_and_gone_on_from(several: Path, little: Path, part: float) -> None:
    """There is room for a part of the output at first; with more room the same command goes on."""
    out, ballast = little / "out", little / "ballast"
    args = arguments(several / "parquet", out, *STEADY, "--part-size", "1MiB")
    weir(*args).done()
    want = tree(out)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    shutil.rmtree(out)
    with ballast.open("wb") as file:
        free = os.statvfs(little).f_bavail * os.statvfs(little).f_frsize
        os.posix_fallocate(file.fileno(), 0, free - int(part * size))
    full = weir(*args)
    assert full.code in (1, 5), f"exit {full.code}: {full.err}"
    assert re.fullmatch(rf"weir: (parquet: )?{out}/\S+: no space left on device\n", full.err), full.err
    assert not (out / "manifest.json").exists()
    ballast.unlink()
    weir(*args).done()
    assert tree(out) == want
    weir("verify", out).done()
