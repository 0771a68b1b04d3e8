"""The command line as its users meet it: exit codes, messages, interruption, the report, inspect."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cgroup
import rows
import s3
from binary import MIB, Result, command, digest, inspect, weir
from testdata import dataset

REPORT_KEYS = {
    "rows", "skipped", "batches", "files", "row_groups", "columns", "stored_bytes", "memory_bytes", "wall_seconds", "plan_seconds",
    "cpu_seconds", "rows_per_second", "mb_per_second", "threads", "memory_limit", "peak_memory", "budget_limit", "budget_peak", "waits",
    "bottleneck",
}  # fmt: skip
INTERRUPTED = 130


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "a.parquet"
    pq.write_table(rows.numeric(0, 2_000, 0.1, floats=3), path, row_group_size=500)
    return path


def message(result: Result, code: int) -> str:
    """What is said with an exit code: lines without a trace, nothing on stdout."""
    assert result.code == code, f"exit {result.code}: {result.err}"
    assert result.out == b""
    assert result.err.startswith("weir: ")
    assert not re.search(r"panic|goroutine|\.go:\d+|\*\w+\.\w+", result.err)
    return result.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["scan"], "name at least one"),
        (["nonsense"], "unknown command"),
        (["scan", "F", "--nonsense"], "unknown flag"),
        (["scan", "F", "--memory", "many"], "--memory"),
        (["scan", "F", "--memory", "-1"], "--memory"),
        (["scan", "F", "--batch-size", "-1"], "--batch-size"),
        (["scan", "F", "--threads", "-2"], "--threads"),
        (["scan", "F", "--to", "xml"], "--to"),
        (["scan", "F", "-o", "x"], "--to"),
        (["scan", "F", "--columns", "nothere"], "nothere"),
        (["scan", "F", "--log-level", "loud"], "--log-level"),
        (["inspect"], "name at least one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors_exit_2(small: Path, args: list[str], says: str) -> None:
    assert says in message(weir(*(str(small) if arg == "F" else arg for arg in args)), 2)


def test_too_little_memory_exits_3_with_the_number(small: Path) -> None:
    said = message(weir("scan", small, "--memory", "1MiB"), 3)
    number = re.search(r"try --memory (\S+)$", said.strip())
    assert number
    assert weir("scan", small, "--memory", number[1]).done()


@pytest.mark.parametrize("damage", ["empty", "cut", "head", "footer", "data"])
def test_damaged_files_exit_4_and_are_named(tmp_path: Path, small: Path, damage: str) -> None:
    whole = bytearray(small.read_bytes())
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    if damage == "data":
        for i in range(4, footer, 97):
            whole[i] ^= 0xFF
    if damage == "footer":
        for i in range(footer + 10, len(whole) - 8, 5):
            whole[i] ^= 0x55
    others: dict[str, bytes] = {"empty": b"", "cut": bytes(whole[: footer // 2]), "head": bytes(whole[:4])}
    path = tmp_path / "damaged.parquet"
    path.write_bytes(others.get(damage, bytes(whole)))
    said = message(weir("scan", path, "--memory", "64MiB"), 4)
    assert str(path) in said
    assert len(said.splitlines()) == 1


def test_text_is_not_parquet_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "text.parquet"
    path.write_bytes(b"hello, world\n")
    assert str(path) in message(weir("scan", path, "--format", "parquet"), 4)


def test_missing_files_exit_5(tmp_path: Path) -> None:
    for name in ("nothere.parquet", "*.parquet", "nothere/"):
        assert "nothere" in message(weir("scan", tmp_path / name), 5) or "*" in name
    assert str(tmp_path) in message(weir("scan", tmp_path), 5)


def test_s3_that_does_not_answer_exits_5() -> None:
    start = time.monotonic()
    said = message(weir("scan", "s3://bucket/raw/", env=s3.credentials(f"http://127.0.0.1:{s3.free_port()}")), 5)
    assert "s3://bucket/raw/" in said
    assert "refused" in said
    assert time.monotonic() - start < 60


def test_unknown_bucket_and_wrong_key_exit_5(tmp_path: Path) -> None:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, tmp_path, "tests") as service:
        assert "s3://nothere/raw/" in message(weir("scan", "s3://nothere/raw/", env=service.env()), 5)
        assert "s3://tests/nothere/" in message(weir("scan", "s3://tests/nothere/", env=service.env()), 5)
        wrong = service.env() | {"AWS_SECRET_ACCESS_KEY": "wrong"}
        assert "s3://tests/" in message(weir("scan", "s3://tests/", env=wrong), 5)


def interrupt(args: list[str], sent: signal.Signals, ready: Path) -> subprocess.CompletedProcess[str]:
    """Starts weir, waits for something in the directory and sends the signal."""
    with subprocess.Popen(command(*args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 30
        while not any(f.stat().st_size for f in ready.iterdir()) and time.monotonic() < end:
            time.sleep(0.002)
        process.send_signal(sent)
        out, err = process.communicate(timeout=20)
        return subprocess.CompletedProcess(args, process.returncode, out, err)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to", ["arrow", "jsonl", "csv"])
def test_interrupted_leaves_nothing_behind(tmp_path: Path, to: str, sent: signal.Signals) -> None:
    output = tmp_path / "out"
    done = interrupt(["scan", str(dataset("numeric")), "--to", to, "-o", str(output), "--memory", "64MiB"], sent, tmp_path)
    assert done.returncode == INTERRUPTED, done.stderr
    assert done.stderr == "weir: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_interrupted_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.touch()
    done = interrupt(["scan", str(dataset("numeric")), "--to", "csv", "-o", str(output), "--memory", "64MiB"], signal.SIGINT, tmp_path)
    assert done.returncode == INTERRUPTED, done.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["out"]
    assert output.read_bytes() == b""


def test_failed_output_leaves_nothing_behind(tmp_path: Path, small: Path) -> None:
    (tmp_path / "file").touch()
    result = weir("scan", small, "--to", "csv", "-o", tmp_path / "file" / "out")
    assert str(tmp_path / "file" / "out") in message(result, 1)
    assert [f.name for f in tmp_path.iterdir()] == ["file"]
    if Path("/dev/full").exists():
        assert "no space left" in message(weir("scan", small, "--to", "csv", "-o", "/dev/full"), 1)


def test_missing_directories_are_made(tmp_path: Path, small: Path) -> None:
    weir("scan", small, "--to", "csv", "-o", tmp_path / "nothere" / "deep" / "out").done()
    assert [f.name for f in (tmp_path / "nothere" / "deep").iterdir()] == ["out"]


@pytest.mark.parametrize("to", ["arrow", "jsonl", "csv"])
def test_a_reader_that_leaves_ends_the_scan_quietly(to: str) -> None:
    with subprocess.Popen(
        command("scan", dataset("numeric"), "--to", to, "--memory", "64MiB", "--quiet"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(1000)
        process.stdout.close()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == b""


def test_report_says_what_was_read(tmp_path: Path, small: Path) -> None:
    path = tmp_path / "report.json"
    weir("scan", small, "--memory", "64MiB", "--threads", "2", "--report", path, "--digest", "--quiet").done()
    report: dict[str, Any] = json.loads(path.read_text())
    assert set(report) == REPORT_KEYS | {"digest"}
    assert set(report["waits"]) == {"decode_for_store_percent", "consumer_for_decode_percent", "decode_for_consumer_percent"}
    assert (report["rows"], report["files"], report["row_groups"], report["columns"]) == (2_000, 1, 4, 5)
    assert report["digest"] == digest(small)
    assert report["memory_limit"] == 64 << 20
    assert 0 < report["peak_memory"] <= report["memory_limit"]
    assert report["threads"] == 2
    assert all(0 <= share <= 100 for share in report["waits"].values())
    assert set(json.loads(weir("scan", small, "--report", "-").done().out)) == REPORT_KEYS


def test_reported_peak_is_that_of_the_process() -> None:
    run = command("scan", dataset("numeric"), "--memory", "64MiB", "--report", "-")
    outcome = cgroup.sampled(run)
    peak = json.loads(outcome.out)["peak_memory"]
    assert peak <= 64 << 20
    assert outcome.peak <= 64 << 20
    assert abs(peak - outcome.peak) < 12 << 20


@pytest.mark.parametrize("name", ["numeric", "text", "chat", "numeric-one", "duckdb-text-snappy", "wide-small-groups", "value-among-small"])
@pytest.mark.parametrize("threads", ["1", "4"])
def test_the_smallest_memory_of_inspect_works(name: str, threads: str) -> None:
    path = dataset(name)
    smallest = -(-inspect(path, "--threads", threads)["smallest_memory"] // MIB)
    told = f"--memory {smallest}MiB"
    assert told in weir("inspect", path, "--threads", threads).done().out.decode()
    run = command("scan", path, "--digest", "--quiet", "--threads", threads, *told.split())
    outcome = cgroup.confined(run, smallest * MIB) if cgroup.available() else cgroup.sampled(run)
    assert (outcome.code, outcome.kills, outcome.err) == (0, 0, "")


def test_inspect_describes(small: Path) -> None:
    described = inspect(small)
    assert (described["format"], described["rows"], described["files"], described["row_groups"]) == ("parquet", 2_000, 1, 4)
    assert [column["name"] for column in described["schema"]["columns"]] == pq.read_schema(small).names
    assert described["stored_bytes"] <= os.path.getsize(small)


def test_help_and_version() -> None:
    for args in (["--help"], ["scan", "--help"], ["inspect", "--help"]):
        assert "Exit codes:" in weir(*args).done().out.decode()
    assert weir("version").done().out.startswith(b"weir version ")
    for shell in ("bash", "zsh", "fish", "powershell"):
        assert weir("completion", shell).done().out
