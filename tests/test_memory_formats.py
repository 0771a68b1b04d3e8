"""The promise for the other formats: files far larger than --memory, single values of many megabytes, a bomb, all in a hard limit."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cgroup
import streams
from binary import MIB, command
from testdata import dataset, rows_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")


def limited(limit: int, *args: str | Path) -> cgroup.Outcome:
    """A scan in a container of exactly --memory, or under the eye of the sampler."""
    run = command("scan", *args, "--memory", f"{limit}MiB")
    if not cgroup.available():
        outcome = cgroup.sampled(run)
        assert outcome.peak <= limit * MIB
        return outcome
    cgroup.drop_caches(Path(args[0]))
    outcome = cgroup.confined(run, limit * MIB)
    assert outcome.kills == 0, f"killed in {limit} MiB"
    return outcome


def rows_in(outcome: cgroup.Outcome) -> int:
    assert outcome.code == 0, f"exit {outcome.code}: {outcome.err}"
    return int(json.loads(outcome.out)["rows"])


@pytest.mark.parametrize(("name", "reads"), [("array.json", "json.load(file)"), ("cells.csv", "list(csv.reader(file))")])
def test_what_reads_it_whole_is_killed(name: str, reads: str) -> None:
    """The negative control."""
    if not cgroup.available():
        pytest.skip("no memory cgroup may be made here")
    whole = [sys.executable, "-S", "-c", f"import csv, json, sys; file = open(sys.argv[1]); {reads}", str(dataset(name))]
    outcome = cgroup.confined(whole, 200 * MIB)
    assert outcome.kills == 1
    assert outcome.code == -9


@pytest.mark.parametrize("threads", ["1", "4"])
def test_an_array_of_5_gb_in_64_mib(threads: str) -> None:
    outcome = limited(64, dataset("array.json"), "--report", "-", "--quiet", "--threads", threads)
    assert rows_in(outcome) == streams.ARRAY * streams.BLOCK


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_lines_in_64_mib(threads: str) -> None:
    outcome = limited(64, dataset("lines.jsonl"), "--report", "-", "--quiet", "--threads", threads)
    assert rows_in(outcome) == streams.LINES * streams.BLOCK


def test_3_gb_of_cells_with_one_of_40_mb_in_200_mib() -> None:
    outcome = limited(200, dataset("cells.csv"), "--report", "-", "--quiet")
    assert rows_in(outcome) == streams.TABLE * streams.BLOCK + 1


@pytest.mark.parametrize("name", ["cells.csv", "archive.tar"])
def test_a_value_that_does_not_fit_is_refused_with_a_number_that_works(name: str) -> None:
    """How large a record is may show only while it is read, so the advice may have to be followed more than once."""
    limit = 64
    for _ in range(5):
        outcome = limited(limit, dataset(name), "--report", "-", "--quiet")
        if outcome.code == 0:
            break
        assert outcome.code == 3, f"exit {outcome.code} with {limit} MiB: {outcome.err}"
        advice = re.search(r"try --memory (\d+)MiB\n", outcome.err)
        assert advice, outcome.err
        limit = int(advice[1])
    assert rows_in(outcome) == {"cells.csv": streams.TABLE * streams.BLOCK + 1, "archive.tar": streams.BLOCK}[name]


def test_the_place_of_a_record_that_does_not_fit_is_where_it_begins() -> None:
    path = dataset("cells.csv")
    begins = (path.stat().st_size - 8 - (4 + streams.CELL // 23 * 23 + 2)) // 2 + 8
    for limit in (64, 100):
        outcome = limited(limit, path, "--quiet")
        assert outcome.code == 3
        assert f"byte {begins}:" in outcome.err


@pytest.mark.parametrize("limit", [32, 64, 256])
def test_a_bomb_is_refused(limit: int) -> None:
    path = dataset("bomb.jsonl.zst")
    assert path.stat().st_size < 200_000
    outcome = limited(limit, path, "--quiet")
    assert outcome.code == 3, f"exit {outcome.code}: {outcome.err}"
    assert len(outcome.err.splitlines()) == 1
    assert str(path) in outcome.err and "record" in outcome.err


@pytest.mark.parametrize("codec", ["zstd", "snappy"])
def test_writing_parquet_in_128_mib(tmp_path: Path, codec: str) -> None:
    made = tmp_path / "a.parquet"
    args = ["--to", "parquet", "--codec", codec, "-o", made, "--quiet"]
    outcome = limited(128, dataset("lines.jsonl"), *args)
    assert (outcome.code, outcome.err) == (0, "")
    assert rows_of(made) == streams.LINES * streams.BLOCK
    assert pq.ParquetFile(made).read_row_group(0).slice(0, 100).to_pylist() == streams.block()[:100]
    made.unlink()


@pytest.mark.parametrize(("to", "limit"), [("jsonl", 64), ("csv", 64), ("arrow", 64), ("webdataset", 64), ("mds", 160)])
def test_writing_the_other_formats(tmp_path: Path, to: str, limit: int) -> None:
    outcome = limited(limit, dataset("text"), "--to", to, "-o", f"{tmp_path}/out/", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
