"""The same rows in the same order, whatever the threads, the batches, the budget and the store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rows
import s3
from binary import digest, inspect, table
from compare import differences
from s3 import Service

PARTS = 5
THREADS = range(1, 9)
BATCHES = [1, 7, 1_000, 50_000, 1_000_000]
BUDGETS = ["64MiB", "96MiB", "200MiB", "1GiB"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of files of unequal length, flat and nested columns beside each other, nulls, several row groups, one file empty."""
    folder = tmp_path_factory.mktemp("parts")
    for i in range(PARTS):
        count = 0 if i == 3 else 9_000 + 1_777 * i
        table = rows.numeric(i * 20_000, max(count, 1), 0.1, floats=4)
        chats = rows.chat(i * 20_000, max(count, 1))
        whole = table.append_column("messages", chats["messages"]).slice(0, count)
        pq.write_table(whole, folder / f"part-{i}.parquet", row_group_size=4_000, compression="zstd", data_page_size=64 << 10)
    return folder


@pytest.fixture(scope="module")
def want(parts: Path) -> str:
    return digest(parts, "--threads", "1", "--memory", "1GiB")


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory, parts: Path) -> Iterator[Service]:
    """The same directory in S3."""
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, tmp_path_factory.mktemp("s3"), "tests") as running:
        running.put(parts, "raw/parts")
        yield running


def everything(parts: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(file) for file in sorted(parts.iterdir())])


def test_rows_are_those_of_pyarrow_file_after_file(parts: Path) -> None:
    assert differences(table(parts, "--threads", "8", "--memory", "96MiB"), everything(parts)) == []


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("threads", THREADS)
def test_threads_and_batches_change_nothing(parts: Path, want: str, threads: int, batch: int) -> None:
    if batch == 1 and threads not in (1, 3, 8):
        pytest.skip("batches of one row are slow, three counts of threads will do")
    assert digest(parts, "--threads", str(threads), "--batch-size", str(batch), "--memory", "256MiB") == want


@pytest.mark.parametrize("memory", BUDGETS)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_budgets_change_nothing(parts: Path, want: str, memory: str, threads: int) -> None:
    assert digest(parts, "--threads", str(threads), "--memory", memory) == want


def test_digest_knows_order_and_content(parts: Path, want: str) -> None:
    files = sorted(parts.iterdir())
    assert digest(*reversed(files)) != want
    assert digest(*files[:-1]) != want
    assert digest(parts, "--columns", "id") != want


def test_ways_to_name_the_files(parts: Path, want: str) -> None:
    files = sorted(parts.iterdir())
    assert digest(*files) == want
    assert digest(parts / "*.parquet") == want
    assert digest(parts / "part-[01].parquet", *files[2:]) == want
    assert digest(parts / "part-?.parquet", parts) == want  # a file named twice is read once
    assert digest(f"{os.path.relpath(parts)}/") == want


def test_columns_come_as_asked_for(parts: Path) -> None:
    got = table(parts, "--columns", "label,f0[13],id", "--memory", "64MiB")
    assert differences(got, everything(parts).select(["label", "f01", "f03", "id"])) == []


@pytest.mark.parametrize("threads", [1, 2, 4, 8])
@pytest.mark.parametrize("memory", ["64MiB", "512MiB"])
def test_s3_has_the_same_rows(remote: Service, want: str, threads: int, memory: str) -> None:
    assert digest("s3://tests/raw/parts/", "--threads", str(threads), "--memory", memory, env=remote.env()) == want


@pytest.mark.parametrize("batch", [7, 1_000_000])
def test_s3_batches_change_nothing(remote: Service, want: str, batch: int) -> None:
    assert digest("s3://tests/raw/parts/", "--batch-size", str(batch), "--memory", "128MiB", env=remote.env()) == want


def test_ways_to_name_objects(remote: Service, parts: Path, want: str) -> None:
    env = remote.env()
    assert digest("s3://tests/raw/*/part-*.parquet", env=env) == want
    assert digest("s3://tests/", env=env) == want
    assert digest(*(f"s3://tests/raw/parts/part-{i}.parquet" for i in range(PARTS)), env=env) == want
    assert digest("s3://tests/raw/parts/part-0.parquet", *sorted(parts.iterdir())[1:], env=env) == want
    assert inspect("s3://tests/raw/", env=env)["rows"] == everything(parts).num_rows
