"""TFRecord files of Examples, written here byte by byte."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from binary import digest, table, weir
from tfrecords import records

if "tfrecord" not in weir("scan", "--help").out.decode():
    pytest.skip("this weir does not read TFRecord", allow_module_level=True)

CUT = ["--batch-size", "7", "--threads", "4", "--memory", "64MiB"]
ROWS: list[dict[str, list[Any]]] = [
    {"id": [i], "image": [b"\xff\xd8" * i], "text": [f"Grüße {i}".encode()], "x": [i / 3], "tokens": list(range(i % 5)), "neg": [-i]}
    for i in range(400)
]


def wanted() -> list[dict[str, Any]]:
    single = {"id", "image", "text", "x", "neg"}
    rows = []
    for row in ROWS:
        values = {name: values[0] if name in single else values for name, values in sorted(row.items())}
        rows.append(values | {"text": values["text"].decode(), "x": float(np.float32(values["x"]))})
    return rows


@pytest.mark.parametrize("cut", [[], CUT], ids=["plain", "cut"])
@pytest.mark.parametrize("packed", [True, False], ids=["packed", "single"])
def test_examples_are_read(tmp_path: Path, packed: bool, cut: list[str]) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(records(ROWS, packed))
    assert table(path, *cut).to_pylist() == wanted()


def test_names_without_an_ending_and_compressed(tmp_path: Path) -> None:
    (tmp_path / "train.tfrecord-00000-of-00001").write_bytes(records(ROWS))
    (tmp_path / "b.tfrecord.gz").write_bytes(gzip.compress(records(ROWS)))
    assert digest(tmp_path / "train.tfrecord-00000-of-00001") == digest(tmp_path / "b.tfrecord.gz")


def test_a_feature_some_records_lack_is_null_there(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(records([{"a": [1], "b": [2.5]}, {"b": [3.5]}, {"a": [4]}]))
    assert table(path).to_pydict() == {"a": [1, None, 4], "b": [2.5, 3.5, None]}


@pytest.mark.parametrize("where", [3, 9, 20, -2], ids=["length", "its sum", "body", "its sum at the end"])
def test_a_wrong_sum_is_refused_with_its_place(tmp_path: Path, where: int) -> None:
    whole = bytearray(records(ROWS[1:2]))
    start = len(records(ROWS[:1]))
    whole[where] ^= 0x40
    path = tmp_path / "a.tfrecord"
    path.write_bytes(records(ROWS[:1]) + whole)
    result = weir("scan", path, "--quiet")
    assert result.code == 4, result.err
    assert str(path) in result.err and str(start) in result.err


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(records(ROWS)[:-5])
    assert weir("scan", path, "--quiet").code == 4
