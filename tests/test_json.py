"""JSON as it is found: lines, arrays and documents, read value for value as Python's own json module reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import json as pyarrow_json

import rows
from binary import table, weir
from compare import differences

CUT = ["--batch-size", "7", "--threads", "4", "--memory", "64MiB"]
HARD = [
    {"text": "plain", "n": 0, "x": 0.5, "flag": True, "list": [1, 2], "in": {"a": "b", "deep": {"c": [None, 1.5]}}},
    {"text": 'quote " and \\ back', "n": -1, "x": -0.0, "flag": False, "list": [], "in": {"a": None, "deep": {"c": []}}},
    {"text": "line\nfeed\r\t\b\f/", "n": 2**63 - 1, "x": 1e300, "flag": None, "list": None, "in": None},
    {"text": "Grüße 🎏 \u2028 \x7f", "n": -(2**63), "x": 5e-324, "flag": True, "list": [None], "in": {"a": "", "deep": None}},
    {"text": "", "n": None, "x": 3.0, "flag": True, "list": [0], "in": {"a": "null", "deep": {"c": [2.0]}}},
    {"text": None, "n": 7, "x": None, "flag": False, "list": [9] * 40, "in": {"a": "b" * 5_000, "deep": {"c": None}}},
]


def lines(path: Path, values: list[Any], **how: Any) -> Path:
    path.write_text("".join(json.dumps(value, **how) + "\n" for value in values))
    return path


def read(*args: str | Path) -> list[dict[str, Any]]:
    return table(*args).to_pylist()


@pytest.mark.parametrize("cut", [[], CUT], ids=["plain", "cut"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_lines_are_read_as_json_reads_them(tmp_path: Path, ascii_only: bool, cut: list[str]) -> None:
    path = lines(tmp_path / "a.jsonl", HARD * 50, ensure_ascii=ascii_only)
    assert repr(read(path, *cut)) == repr(HARD * 50)


@pytest.mark.parametrize("cut", [[], CUT], ids=["plain", "cut"])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_is_read_as_its_values(tmp_path: Path, indent: int | None, cut: list[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(HARD * 50, indent=indent))
    assert repr(read(path, *cut)) == repr(HARD * 50)


def test_the_array_in_a_document_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": [1, {"data": [3]}], "data": {"other": [], "items": HARD}, "after": "x"}, indent=1))
    assert repr(read(path, "--field", "data.items")) == repr(HARD)
    result = weir("scan", path, "--field", "data.nothere", "--quiet")
    assert result.code in (2, 4), result.err
    assert str(path) in result.err
    assert '"data" has no key "nothere"' in result.err


def test_conversations_are_read_as_pyarrow_reads_them(tmp_path: Path) -> None:
    source = rows.chat(0, 3_000)
    path = lines(tmp_path / "a.jsonl", source.to_pylist())
    want = pyarrow_json.read_json(path)
    assert differences(table(path, *CUT), want) == []
    assert differences(table(path), want) == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", " \n\t\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_blank_lines_and_a_byte_order_mark_are_no_rows(tmp_path: Path, end: str, last: bool, mark: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes((mark + end.join(json.dumps({"i": i}) for i in range(30)) + (end if last else "")).encode())
    assert read(path) == [{"i": i} for i in range(30)]


def test_rows_with_missing_and_extra_keys_never_misalign(tmp_path: Path) -> None:
    keys = ["a", "b", "c", "d", "e"]
    values = [{k: f"{k}{i}" for n, k in enumerate(keys if i % 2 else reversed(keys)) if i >> n & 1} for i in range(640)]
    values[0] = {}
    path = lines(tmp_path / "a.jsonl", values)
    for cut in ([], CUT):
        got = read(path, *cut)
        assert [{k: v for k, v in row.items() if v is not None} for row in got] == values


def test_a_key_the_sample_did_not_show_is_refused_with_the_way_out(tmp_path: Path) -> None:
    values: list[dict[str, Any]] = [{"id": i, "text": "x" * 100} for i in range(60_000)]
    values[59_990] = {"late": "L", "id": 59_990, "text": "y"}
    path = lines(tmp_path / "a.jsonl", values)
    result = weir("scan", path, "--quiet")
    assert result.code == 4
    assert re.search(r'a\.jsonl: line 59991, byte \d+: key "late" is not in the schema.*--sample all', result.err)
    got = table(path, "--sample", "all")
    assert got["id"].to_pylist() == list(range(60_000))
    assert got["late"][59_990].as_py() == "L"


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    texts = [
        "0.1",
        "1e23",
        "9007199254740993.0",
        "2.2250738585072011e-308",
        "-0.0",
        "1E5",
        "123456789012345678901234567890",
        "4.9e-324",
        "1e-400",
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"x": {text}}}\n' for text in texts))
    assert [repr(row["x"]) for row in read(path)] == [repr(float(text)) for text in texts]


def test_integers_beyond_64_bits_and_mixtures(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [{"u": 2**64 - 1, "m": 1, "o": {"k": 1}}, {"u": 0, "m": "text", "o": [1]}])
    got = read(path)
    assert [row["u"] for row in got] == [2**64 - 1, 0]
    assert [row["m"] for row in got] == ["1", "text"]
    assert [json.loads(row["o"]) for row in got] == [{"k": 1}, [1]]


def test_a_key_given_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": 2, "a": 3}\n{"a": 4, "b": 5}\n')
    result = weir("scan", path, "--to", "jsonl", "--quiet")
    if result.code == 0:
        got = [json.loads(line) for line in result.out.splitlines()]
        assert [row["b"] for row in got] == [2, 5]
        assert got[0]["a"] in (1, 3)
    else:
        assert result.code == 4 and "line 1" in result.err, result.err


def test_what_weir_writes_is_read_by_pyarrow(tmp_path: Path) -> None:
    source = rows.chat(0, 2_000)
    lines(tmp_path / "source.jsonl", source.to_pylist())
    weir("scan", tmp_path / "source.jsonl", "--to", "jsonl", "-o", tmp_path / "out.jsonl", "--quiet").done()
    assert differences(pyarrow_json.read_json(tmp_path / "out.jsonl"), pyarrow_json.read_json(tmp_path / "source.jsonl")) == []


def test_gsm8k_is_read_as_json_reads_it(corpus: Path) -> None:
    path = corpus.parent / "gsm8k" / "train.jsonl"
    want = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert len(want) == 7_473
    assert read(path, "--memory", "64MiB") == want
    assert table(path).schema == pa.schema({"question": pa.string(), "answer": pa.string()})
