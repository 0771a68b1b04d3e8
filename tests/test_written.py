"""Files written for the occasion by pyarrow and DuckDB, in every combination of type, encoding, codec and page version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from binary import table
from compare import differences
from values import flat, nested

CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
PAGES = ["1.0", "2.0"]


def check(path: Path, *, cut: bool = True) -> None:
    """weir reads the file as pyarrow does, in large batches and in small ones."""
    want = pq.ParquetFile(path).read()
    assert differences(table(path, "--memory", "128MiB", "--threads", "1"), want) == []
    if cut:
        assert differences(table(path, "--memory", "64MiB", "--threads", "4", "--batch-size", "7"), want) == []


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
@pytest.mark.parametrize("make", [flat, nested])
@pytest.mark.parametrize("pages", PAGES)
@pytest.mark.parametrize("codec", CODECS)
def test_codecs_and_page_versions(tmp_path: Path, codec: str, pages: str, make: Any, nulls: bool) -> None:
    for dictionary in (True, False):
        path = tmp_path / f"{dictionary}.parquet"
        more = {"write_page_index": dictionary, "write_page_checksum": True, "data_page_size": 4_096, "row_group_size": 1_111}
        pq.write_table(make(nulls), path, compression=codec, data_page_version=pages, use_dictionary=dictionary, **more)
        check(path, cut=dictionary)


ENCODINGS = {
    "PLAIN": ["bool", "int32", "int64", "float32", "float64", "string", "fixed", "decimal38"],
    "RLE": ["bool", "runs"],
    "DELTA_BINARY_PACKED": ["int8", "uint16", "int32", "uint32", "int64", "uint64", "few", "date", "at_us", "time_ns"],
    "DELTA_LENGTH_BYTE_ARRAY": ["string", "binary", "large_string"],
    "DELTA_BYTE_ARRAY": ["string", "binary", "fixed", "decimal38"],
    "BYTE_STREAM_SPLIT": ["float16", "float32", "float64", "int32", "int64", "uint32", "fixed", "decimal38", "at_us"],
}


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
@pytest.mark.parametrize("pages", PAGES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(tmp_path: Path, encoding: str, pages: str, nulls: bool) -> None:
    names = ENCODINGS[encoding]
    path = tmp_path / "a.parquet"
    chosen: dict[str, Any] = {"use_dictionary": False, "column_encoding": dict.fromkeys(names, encoding)}
    pq.write_table(flat(nulls).select(names), path, data_page_version=pages, data_page_size=2_048, **chosen)
    found = {e for g in [pq.read_metadata(path).row_group(0)] for i in range(len(names)) for e in g.column(i).encodings}
    assert encoding in found
    check(path)


@pytest.mark.parametrize("encoding", ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN"])
def test_encodings_in_lists(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(nested(True).select(["tokens"]), path, use_dictionary=False, column_encoding={"tokens.list.element": encoding})
    check(path)


def test_int96_and_dictionary_types(tmp_path: Path) -> None:
    path = tmp_path / "int96.parquet"
    pq.write_table(flat(True).select(["at_us", "local"]), path, use_deprecated_int96_timestamps=True)
    check(path)
    path = tmp_path / "dictionary.parquet"
    source = flat(True).select(["string", "few"])
    pq.write_table(pa.table({"category": source["string"].combine_chunks().dictionary_encode()}), path)
    check(path)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiny_tables(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(flat(False).append_column("nested", nested(True)["deep"])[:rows], path)
    check(path)


def test_thousands_of_tiny_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(flat(True).select(["int32", "string"]).append_column("l", nested(True)["tokens"]), path, row_group_size=1)
    check(path)


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw"])
@pytest.mark.parametrize("version", ["V1", "V2"])
def test_files_of_duckdb(tmp_path: Path, codec: str, version: str) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as db:
        db.execute("SET threads = 1")
        db.execute(
            "COPY (SELECT i AS id, i % 7 = 0 AS b, i / 3.0 AS d, if(i % 5 = 0, NULL, 'text ' || (i * 7919 % 100003)) AS s,"
            " (i * 12.5)::DECIMAL(18, 2) AS m, DATE '2026-11-15' + (i % 1000)::INT AS day, TIMESTAMP '2026-11-15' + to_seconds(i) AS at,"
            " [i, NULL, i % 3] AS l, {'a': i, 'b': ['x' || i]} AS st, MAP {'k': i} AS mp, (i % 100)::UTINYINT AS u, i::VARCHAR::BLOB AS bl"
            f" FROM range(150000) t(i)) TO '{path}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}, ROW_GROUP_SIZE 122880)"
        )
    want = pq.ParquetFile(path).read()
    assert differences(table(path, "--memory", "128MiB"), want) == []
    assert differences(table(path, "--memory", "64MiB", "--threads", "4", "--batch-size", "999"), want) == []
