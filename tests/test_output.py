"""What --to writes, read back with Python's own csv and json modules and with pyarrow."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import rows
from binary import weir
from compare import differences


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Values that are hard to write as text, then ordinary ones."""
    hard = pa.table(
        {
            "text": [
                "plain",
                'quote " and, comma',
                "line\nfeed\r\n",
                "",
                None,
                " spaces ",
                "Grüße 🎏",
                "tab\t\\ back",
                "\u2028\x01",
                "null",
            ],
            "whole": pa.array([0, -1, 2**63 - 1, -(2**63), None, 1, 2, 3, 4, 5], pa.int64()),
            "unsigned": pa.array([2**64 - 1, None, *range(8)], pa.uint64()),
            "real": [0.1, -0.0, 1e300, 5e-324, None, float("nan"), float("inf"), -float("inf"), 1 / 3, 1e16],
            "single": pa.array([0.1, 3.4e38, 1e-45, None, 0.0, 1.5, 2.5, 1 / 3, 16777216, -1], pa.float32()),
            "flag": [True, False, None, True, False, None, True, False, None, True],
            "day": pa.array([0, 1, -1, 20_000, None, 5, 6, 7, 8, 9], pa.int32()).cast(pa.date32()),
        }
    )
    path = tmp_path_factory.mktemp("source") / "hard.parquet"
    pq.write_table(hard, path)
    return path


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chats") / "chats.parquet"
    pq.write_table(rows.chat(0, 3_000), path, row_group_size=700)
    return path


def written(path: Path, to: str, *args: str) -> str:
    return weir("scan", path, "--to", to, "--quiet", "--memory", "64MiB", *args).done().out.decode()


def equal(got: Any, want: Any) -> bool:
    """Equal as numbers and texts; JSON has no number for NaN and the infinities, so they may be null or their name."""
    if isinstance(want, float) and not math.isfinite(want):
        return got is None or str(got).lower().replace("+", "").startswith((str(want), str(want).replace("inf", "infinity")))
    if isinstance(want, list):
        return len(got) == len(want) and all(map(equal, got, want))
    if isinstance(want, dict):
        return list(got) == list(want) and all(equal(got[key], want[key]) for key in want)
    if isinstance(want, float):
        return isinstance(got, float | int) and math.copysign(1, got) == math.copysign(1, want) and got == want
    return type(got) is type(want) and bool(got == want)


def test_jsonl_reads_back(source: Path) -> None:
    table = pq.read_table(source)
    want = table.set_column(6, "day", table["day"].cast(pa.string())).to_pylist()
    lines = written(source, "jsonl").split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(want)
    for line, expected in zip(lines, want, strict=True):
        got = json.loads(line, parse_int=lambda digits: -0.0 if digits == "-0" else int(digits))
        got["single"] = None if got["single"] is None else pa.scalar(got["single"], pa.float32()).as_py()
        assert equal(got, expected), f"{line}\n{expected}"


@pytest.mark.parametrize("args", [[], ["--batch-size", "7", "--threads", "4"]], ids=["plain", "cut"])
def test_nested_jsonl_reads_back(chats: Path, args: list[str]) -> None:
    got = [json.loads(line) for line in written(chats, "jsonl", *args).split("\n")[:-1]]
    assert got == pq.read_table(chats).to_pylist()


def test_csv_reads_back(source: Path) -> None:
    table = pq.read_table(source)
    header, *got = csv.reader(io.StringIO(written(source, "csv"), newline=""))
    assert header == table.column_names
    assert len(got) == table.num_rows
    columns = dict(zip(header, zip(*got, strict=True), strict=True))
    assert list(columns["text"]) == [text or "" for text in table["text"].to_pylist()]
    for name in ("whole", "unsigned"):
        assert [int(cell) if cell else None for cell in columns[name]] == table[name].to_pylist()
    for cell, want in zip(columns["real"], table["real"].to_pylist(), strict=True):
        assert repr(float(cell) if cell else None) == repr(want)
    for cell, want in zip(columns["single"], table["single"].to_pylist(), strict=True):
        assert (pa.scalar(float(cell), pa.float32()).as_py() if cell else None) == want
    assert [{"true": True, "false": False, "": None}[cell.lower()] for cell in columns["flag"]] == table["flag"].to_pylist()
    assert [cell or None for cell in columns["day"]] == table["day"].cast(pa.string()).to_pylist()


def test_csv_tells_empty_from_missing(source: Path) -> None:
    lines = written(source, "csv").split("\n")
    assert sum(line.startswith('"",') for line in lines) == 1
    assert sum(line.startswith(",") for line in lines) == 1


def test_arrow_file_reads_back(tmp_path: Path, chats: Path) -> None:
    output = tmp_path / "all.arrow"
    weir("scan", chats, "--to", "arrow", "-o", output, "--memory", "64MiB", "--batch-size", "100").done()
    with ipc.open_file(str(output)) as reader:
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    assert max(batch.num_rows for batch in batches) <= 100
    assert differences(pa.Table.from_batches(batches), pq.read_table(chats)) == []
    assert [file.name for file in tmp_path.iterdir()] == ["all.arrow"]


def test_the_same_bytes_for_all_threads(chats: Path) -> None:
    want = written(chats, "jsonl", "--threads", "1")
    for threads in ("2", "4", "8"):
        assert written(chats, "jsonl", "--threads", threads) == want
