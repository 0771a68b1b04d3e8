"""Parquet that weir writes, as pyarrow, DuckDB and polars read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rows
from binary import MIB, digest, weir
from compare import differences
from test_corpus import REFUSED_BY_WEIR, UNREADABLE_BY_PYARROW
from values import flat, nested

CODECS = ["none", "snappy", "gzip", "brotli", "lz4", "zstd", "zstd:9"]
NO_PARQUET = ["span"]  # an Arrow duration, which Parquet has no type for: weir writes the number


def rewritten(source: Path, target: Path, *args: str) -> Path:
    """The rows of a file as weir writes them."""
    weir("scan", source, "--to", "parquet", "-o", target, "--memory", "256MiB", "--quiet", *args).done()
    return target


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tables")
    made = {"flat": flat(True).drop_columns(NO_PARQUET), "nested": nested(True), "full": flat(False).drop_columns(NO_PARQUET)}
    for name, source in made.items():
        pq.write_table(source, folder / f"{name}.parquet")
    return {name: folder / f"{name}.parquet" for name in made}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["flat", "nested", "full"])
def test_every_codec_reads_back(tmp_path: Path, tables: dict[str, Path], name: str, codec: str) -> None:
    made = rewritten(tables[name], tmp_path / "a.parquet", "--codec", codec, "--batch-size", "777", "--threads", "2")
    want = pq.read_table(tables[name])
    assert differences(pq.ParquetFile(made, page_checksum_verification=True).read(), want) == []
    assert digest(made) == digest(tables[name])
    used = {pq.read_metadata(made).row_group(0).column(i).compression for i in range(pq.read_metadata(made).num_columns)}
    expected = {"none": "UNCOMPRESSED", "lz4": "LZ4"}.get(codec, codec.partition(":")[0].upper())
    assert expected in used


@pytest.mark.parametrize("name", ["flat", "nested"])
def test_other_readers_agree(tmp_path: Path, tables: dict[str, Path], name: str) -> None:
    made = rewritten(tables[name], tmp_path / "a.parquet")
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        got, want = (db.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table() for path in (made, tables[name]))
    assert differences(got, want) == []
    plain = [c for c in pq.read_schema(made).names if c not in ("decimal70", "maps", "float16")]  # polars has none of these
    assert pl.read_parquet(made, columns=plain).equals(pl.read_parquet(tables[name], columns=plain))


def test_statistics_and_the_page_index_lead_to_the_rows(tmp_path: Path) -> None:
    source = tmp_path / "source.parquet"
    pq.write_table(rows.numeric(0, 200_000, 0.05, floats=2), source)
    made = rewritten(source, tmp_path / "a.parquet", "--row-group", "1MiB")
    meta = pq.read_metadata(made)
    assert meta.num_row_groups > 3
    at = 0
    for i in range(meta.num_row_groups):
        column = meta.row_group(i).column(0)
        assert (column.statistics.min, column.statistics.max) == (at, at + meta.row_group(i).num_rows - 1)
        assert column.has_offset_index and column.has_column_index
        at += meta.row_group(i).num_rows
    want = pq.read_table(source, filters=[("id", ">=", 123_456), ("id", "<", 123_556)])
    assert differences(pq.read_table(made, filters=[("id", ">=", 123_456), ("id", "<", 123_556)]), want) == []
    got = duckdb.sql(f"SELECT * FROM read_parquet('{made}') WHERE id BETWEEN 123456 AND 123555").to_arrow_table()
    assert differences(got, want) == []
    filtered = pl.scan_parquet(made).filter(pl.col("id").is_between(123_456, 123_555)).collect()
    assert filtered.height == 100


def test_a_table_of_numbers_alone_is_written(tmp_path: Path) -> None:
    source = pa.table({"a": [1, 2, 3]})
    pq.write_table(source, tmp_path / "source.parquet")
    assert differences(pq.read_table(rewritten(tmp_path / "source.parquet", tmp_path / "a.parquet")), source) == []


@pytest.mark.parametrize("size", ["1MiB", "4MiB"])
def test_row_groups_have_the_size_asked_for(tmp_path: Path, size: str) -> None:
    source = tmp_path / "source.parquet"
    pq.write_table(rows.numeric(0, 150_000, floats=10), source)  # 12 columns of 8 bytes
    made = pq.read_metadata(rewritten(source, tmp_path / "a.parquet", "--row-group", size))
    sizes = [made.row_group(i).num_rows * 96 for i in range(made.num_row_groups)]
    asked = int(size.removesuffix("MiB")) * MIB
    assert max(sizes) <= asked * 1.25
    assert min(sizes[:-1]) >= asked * 0.5


def test_parts_of_a_directory_are_one_dataset(tmp_path: Path) -> None:
    source = tmp_path / "source.parquet"
    pq.write_table(rows.chat(0, 20_000), source)
    weir("scan", source, "--to", "parquet", "-o", f"{tmp_path}/out/", "--part-size", "2MiB", "--row-group", "1MiB", "--quiet").done()
    parts = sorted((tmp_path / "out").iterdir())
    assert len(parts) > 2
    assert differences(pq.read_table(tmp_path / "out"), pq.read_table(source)) == []
    assert digest(tmp_path / "out") == digest(source)


@pytest.mark.parametrize("make", [flat, nested])
def test_an_empty_table_keeps_its_schema(tmp_path: Path, make: Callable[[bool], pa.Table]) -> None:
    source = make(True).drop_columns([c for c in NO_PARQUET if make is flat]).slice(0, 0)
    pq.write_table(source, tmp_path / "source.parquet")
    assert differences(pq.read_table(rewritten(tmp_path / "source.parquet", tmp_path / "a.parquet")), source) == []


def test_the_same_bytes_for_all_threads(tmp_path: Path) -> None:
    source = tmp_path / "source.parquet"
    pq.write_table(rows.chat(0, 20_000), source)
    files = [rewritten(source, tmp_path / f"{n}.parquet", "--threads", str(n), "--row-group", "1MiB") for n in (1, 2, 4)]
    assert len({file.read_bytes() for file in files}) == 1


def test_good_file_is_rewritten_value_for_value(tmp_path: Path, good_file: Path) -> None:
    if good_file.name in REFUSED_BY_WEIR:
        pytest.skip(REFUSED_BY_WEIR[good_file.name])
    if good_file.name in UNREADABLE_BY_PYARROW:
        pytest.skip(UNREADABLE_BY_PYARROW[good_file.name])
    made = rewritten(good_file, tmp_path / "a.parquet")
    assert differences(pq.ParquetFile(made).read(), pq.ParquetFile(good_file).read()) == []
    assert digest(made) == digest(good_file)
