"""The promise: a scan lives inside --memory, shown by the hard limit that it survives."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import pytest

import cgroup
from binary import BINARY, MIB, command, digest
from testdata import CODECS, dataset, rows_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")

ORDINARY = ["numeric", "nulls", "text", "chat", "numeric-one", "text-one", "duckdb-numeric", "duckdb-text-snappy"]
LIMITS = [64, 128, 256]
THREADS = [1, 2, 4, 8]
SMALL = 32 * MIB  # with less, planning 10,000 columns pushes the program's own pages out


@cache
def unlimited(name: str) -> str:
    """The digest of a dataset where memory does not matter."""
    return digest(dataset(name), "--memory", "4GiB", "--threads", "1")


def scan(path: Path, limit: int, threads: int) -> cgroup.Outcome:
    """One digest of the file in a container of exactly --memory, or, without the right to make one, under the eye of the sampler."""
    run = command("scan", path, "--digest", "--quiet", "--memory", f"{limit}B", "--threads", str(threads))
    if cgroup.available():
        cgroup.drop_caches(path)
        return cgroup.confined(run, limit)
    return cgroup.sampled(run)


def holds(name: str, limit: int, threads: int) -> None:
    """A scan inside the limit ends well and has read the right rows."""
    outcome = scan(dataset(name), limit, threads)
    assert outcome.kills == 0, f"killed in {limit // MIB} MiB"
    assert outcome.code == 0, f"exit {outcome.code}: {outcome.err}"
    assert outcome.out.strip() == unlimited(name)
    assert outcome.err == ""
    assert cgroup.available() or outcome.peak <= limit  # a group holds the line itself, its counter also counts page cache


def test_how_memory_is_measured() -> None:
    if not cgroup.available():
        pytest.skip("no memory cgroup may be made here: the tests compare the sampled resident memory with --memory instead")


def test_a_process_over_the_limit_is_killed() -> None:
    """The negative control: without it, surviving would prove nothing."""
    if not cgroup.available():
        pytest.skip("no memory cgroup may be made here")
    hog = [sys.executable, "-S", "-c", "held = b'x' * (96 << 20); print(len(held))"]
    outcome = cgroup.confined(hog, 64 * MIB)
    assert outcome.kills == 1
    assert outcome.code == -9
    assert cgroup.confined(hog, 256 * MIB).code == 0


def test_the_sampler_sees_memory() -> None:
    hog = [sys.executable, "-S", "-c", "import time; held = b'x' * (96 << 20); time.sleep(0.5)"]
    assert cgroup.sampled(hog).peak >= 96 * MIB


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", ORDINARY)
def test_scan_survives_in_its_memory(name: str, limit: int) -> None:
    holds(name, limit * MIB, threads=2)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", ORDINARY)
def test_threads_do_not_move_the_limit(name: str, threads: int) -> None:
    holds(name, 64 * MIB, threads)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("name", "limit"), [("text", SMALL), ("chat", SMALL), ("numeric-one", 64 * MIB)])
def test_a_container_that_holds_little_more_than_the_program(name: str, limit: int, threads: int) -> None:
    """The program's pages are read from disk again, into the container, and stay there while data passes through."""
    if not cgroup.available():
        pytest.skip("no memory cgroup may be made here")
    cgroup.drop_caches(BINARY)
    holds(name, limit, threads)


@pytest.mark.parametrize("name", [f"duckdb-text-{codec}" for codec in CODECS] + ["large-pages-brotli"])
def test_pages_larger_than_memory_stream_through_every_codec(name: str) -> None:
    holds(name, 64 * MIB, threads=2)


@pytest.mark.parametrize("name", ORDINARY)
def test_every_row_is_reported(name: str) -> None:
    run = command("scan", dataset(name), "--memory", "64MiB", "--report", "-")
    report = cgroup.sampled(run)
    found = re.search(r'"rows": (\d+)', report.out)
    assert found, report.err
    assert int(found[1]) == rows_of(dataset(name))


LARGE = ["wide-small-groups", "wide-large-groups", "value-alone", "value-among-small"]


def refusal_number(name: str, limit: int, threads: int) -> int:
    """The bytes named by a refusal, which came before any data was read."""
    outcome = scan(dataset(name), limit, threads)
    assert outcome.kills == 0
    assert outcome.code == 3, f"exit {outcome.code}: {outcome.err}"
    assert outcome.out == ""
    advice = re.fullmatch(rf"weir: --memory {limit // MIB}MiB is too small: .*; try --memory (\d+)MiB\n", outcome.err)
    assert advice, outcome.err
    return int(advice[1]) * MIB


@pytest.mark.parametrize("name", LARGE)
def test_what_needs_more_is_refused_with_a_number_that_works(name: str) -> None:
    """Each needs far more than 32 MiB; in a container of the number that the refusal names, it is read."""
    holds(name, refusal_number(name, SMALL, threads=2), threads=2)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", [name for name in LARGE if name != "wide-large-groups"])
def test_the_number_works_for_all_threads(name: str, threads: int) -> None:
    """Left out are 5 GB of columns, which take long."""
    holds(name, refusal_number(name, SMALL, threads), threads)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", [name for name in LARGE if name != "wide-large-groups"])
def test_what_needs_more_is_read_or_refused(name: str, limit: int) -> None:
    """Nothing in between: no kill, no error halfway; and a refusal only of what is less than the number it names."""
    number = refusal_number(name, SMALL, threads=2)
    if limit * MIB >= number:
        holds(name, limit * MIB, threads=2)
    else:
        assert refusal_number(name, limit * MIB, threads=2) == number
