"""What lies under its final name is whole: after a kill, after Ctrl-C, on disk and on S3."""

from __future__ import annotations

import json
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import s3
from binary import command, table, weir
from testdata import dataset

INTERRUPTED = 130
ENOUGH = 2  # parts that lie there when the signal comes


def lines(path: Path) -> int:
    return len([json.loads(line) for line in path.read_text().splitlines()])


def members(path: Path) -> int:
    with tarfile.open(path) as archive:
        return len(archive.getnames())


# Reads a part to its end with the format's own library.
READERS: dict[str, Callable[[Path], int]] = {
    "parquet": lambda path: pq.read_table(path).num_rows,
    "arrow": lambda path: ipc.open_file(str(path)).read_all().num_rows,
    "jsonl": lines,
    "csv": lambda path: table(path).num_rows,
    "webdataset": members,
}


def visible(folder: Path) -> list[Path]:
    """The files that anyone would take for data."""
    return sorted(f for f in folder.glob("*") if not f.name.startswith("."))


def stopped(to: str, output: str, there: Callable[[], int], sent: signal.Signals, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Starts to write a directory, sends the signal when some parts lie there, and says how it ended."""
    args = ["--to", to, "-o", output, "--part-size", "4MiB", "--memory", "128MiB", "--quiet"]
    with subprocess.Popen(command("scan", dataset("lines.jsonl"), *args), stderr=subprocess.PIPE, text=True, env=env) as process:
        end = time.monotonic() + 60
        while there() < ENOUGH and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        assert process.poll() is None, "it ended before it could be stopped"
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
        return process.returncode, err


@pytest.mark.parametrize("to", READERS)
def test_a_kill_leaves_only_whole_parts(tmp_path: Path, to: str) -> None:
    folder = tmp_path / "out"
    code, _ = stopped(to, f"{folder}/", lambda: len(visible(folder)), signal.SIGKILL)
    assert code == -signal.SIGKILL
    parts = visible(folder)
    assert len(parts) >= ENOUGH
    counts = [READERS[to](part) for part in parts]
    assert min(counts) > 0
    assert table(folder).num_rows == sum(counts) // (2 if to == "webdataset" else 1)  # a row is two members
    assert len(list(folder.glob(".*"))) <= 2  # the parts that were being written


def test_a_kill_leaves_shards_without_an_index(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    stopped("mds", f"{folder}/", lambda: len(visible(folder)), signal.SIGKILL)
    assert not (folder / "index.json").exists()
    assert weir("scan", folder, "--quiet").code != 0


def test_a_directory_that_a_kill_left_can_be_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    stopped("parquet", f"{folder}/", lambda: len(visible(folder)), signal.SIGKILL)
    result = weir("scan", dataset("text"), "--to", "parquet", "-o", f"{folder}/", "--quiet")
    if result.code == 0:  # then nothing of the first attempt is left among the rows
        assert table(folder).num_rows == pq.read_metadata(dataset("text")).num_rows
    else:
        assert str(folder) in result.err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to", [*READERS, "mds"])
def test_an_interruption_leaves_nothing(tmp_path: Path, to: str, sent: signal.Signals) -> None:
    folder = tmp_path / "out"
    code, err = stopped(to, f"{folder}/", lambda: len(visible(folder)), sent)
    assert (code, err) == (INTERRUPTED, "weir: interrupted\n")
    assert [f for f in tmp_path.rglob("*") if f.is_file()] == []


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[s3.Service, Path]]:
    """A service and the folder in which its objects lie."""
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    folder = tmp_path_factory.mktemp("s3")
    with s3.service(program, folder, "tests") as running:
        yield running, folder / "tests"


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_a_kill_leaves_only_whole_objects(remote: tuple[s3.Service, Path], to: str) -> None:
    service, bucket = remote
    folder = bucket / f"killed-{to}"
    code, _ = stopped(to, f"s3://tests/{folder.name}/", lambda: len(visible(folder)), signal.SIGKILL, env=service.env())
    assert code == -signal.SIGKILL
    assert min(READERS[to](part) for part in visible(folder)) > 0


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_an_interruption_leaves_no_objects(remote: tuple[s3.Service, Path], to: str) -> None:
    service, bucket = remote
    folder = bucket / f"interrupted-{to}"
    code, err = stopped(to, f"s3://tests/{folder.name}/", lambda: len(visible(folder)), signal.SIGINT, env=service.env())
    assert (code, err) == (INTERRUPTED, "weir: interrupted\n")
    assert visible(folder) == []
