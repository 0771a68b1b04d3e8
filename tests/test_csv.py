"""CSV as it is found, read as Python's csv module and pyarrow read it; and what weir writes is read by others."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv as pyarrow_csv

import rows
from binary import table, weir
from compare import differences

CUT = ["--batch-size", "7", "--threads", "4", "--memory", "64MiB"]
CELLS = [
    "plain",
    'quote " here',
    "comma, semi; tab\t pipe|",
    "line\nfeed",
    "cr\r\nlf",
    "",
    " spaces ",
    "Grüße 🎏",
    '"',
    '""',
    ",",
    "x" * 9_000,
]


def in_text(path: Path, delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL, end: str = "\r\n") -> list[list[str]]:
    """Every hard cell beside every other, an id in front."""
    records = [[str(i), a, b] for i, (a, b) in enumerate((a, b) for a in CELLS for b in CELLS)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
    writer.writerows([["id", "left", "right"], *records])
    path.write_bytes(out.getvalue().encode())
    return records


@pytest.mark.parametrize("cut", [[], CUT], ids=["plain", "cut"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL], ids=["minimal", "all"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "pipe"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_hard_cells_are_read(tmp_path: Path, delimiter: str, quoting: int, end: str, cut: list[str]) -> None:
    path = tmp_path / "a.csv"
    want = in_text(path, delimiter, quoting, end)
    got = table(path, "--delimiter", delimiter, *cut)
    assert got.column_names == ["id", "left", "right"]
    for row, expected in zip(got.to_pylist(), want, strict=True):
        assert [str(row["id"]), row["left"] or "", row["right"] or ""] == expected


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "pipe"])
def test_the_delimiter_is_guessed(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(delimiter.join([f"{i}", f"text {i}", f"{i / 4}"]) + "\n" for i in ["id", *range(50)] if i != "id"))
    got = table(path, "--no-header")
    assert got.column_names == ["c0", "c1", "c2"]
    assert got["c0"].to_pylist() == list(range(50))
    assert got["c2"].to_pylist() == [i / 4 for i in range(50)]


def test_types_are_those_of_pyarrow(tmp_path: Path) -> None:
    source = rows.numeric(0, 5_000, 0.1, floats=4)
    path = tmp_path / "a.csv"
    pyarrow_csv.write_csv(source, path)
    for cut in ([], CUT):
        assert differences(table(path, *cut), pyarrow_csv.read_csv(path)) == []


def test_an_empty_field_is_null_and_quotes_are_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b,c\n,1,x\n"",2,y\nz,,\n')
    assert table(path).to_pydict() == {"a": [None, "", "z"], "b": [1, 2, None], "c": ["x", "y", None]}


def test_words_for_null(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,NA\n-,"NA"\n3,\n')
    got = table(path, "--null", "NA", "--null", "-", "--null", "")
    assert got.to_pydict() == {"a": [1, None, 3], "b": [None, "NA", None]}
    assert got.schema.field("a").type == pa.int64()


def test_identifiers_keep_their_zeros_and_large_numbers_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("zip,large\n01234,123456789012345678901\n99999,1\n")
    assert table(path).to_pydict() == {"zip": ["01234", "99999"], "large": ["123456789012345678901", "1"]}


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfid,x\n1,2\n")
    assert table(path).column_names == ["id", "x"]


@pytest.mark.parametrize(("line", "says"), [("1,2,3", "3"), ("1", "1")], ids=["more", "fewer"])
def test_a_record_of_another_width_is_refused_with_its_place(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "a.csv"
    head = "a,b\n" + "1,2\n" * 20
    path.write_text(head + line + "\n5,6\n")
    result = weir("scan", path, "--quiet")
    assert result.code == 4, result.err
    assert f"{path}: line 22, byte {len(head)}" in result.err
    assert says in result.err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with nulls, numbers and hard texts, written by weir."""
    folder = tmp_path_factory.mktemp("csv")
    in_text(folder / "source.csv")
    weir("scan", folder / "source.csv", "--to", "csv", "-o", folder / "made.csv", "--quiet").done()
    return folder


def test_what_weir_writes_is_read_by_all(made: Path) -> None:
    want = table(made / "source.csv")
    options = pyarrow_csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    parse = pyarrow_csv.ParseOptions(newlines_in_values=True)
    assert differences(pyarrow_csv.read_csv(made / "made.csv", parse_options=parse, convert_options=options), want) == []
    assert differences(pl.read_csv(made / "made.csv").to_arrow(), want) == []
    got = duckdb.sql(f"SELECT * FROM read_csv('{made / 'made.csv'}', quote='\"', escape='\"', max_line_size=100000)").to_arrow_table()
    assert got["id"].to_pylist() == want["id"].to_pylist()
    assert [text or "" for text in got["right"].to_pylist()] == [text or "" for text in want["right"].to_pylist()]
    assert differences(table(made / "made.csv"), want) == []
