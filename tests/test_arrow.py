"""Arrow IPC both ways: what pyarrow writes is read value for value, and what weir writes pyarrow reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

from binary import digest, table, weir
from compare import differences
from values import flat, nested

CODECS = [None, "lz4", "zstd"]


def special(nulls: bool) -> pa.Table:
    """Types that Parquet has not: dictionaries, views, times of other units."""
    count = 2_000
    texts = pa.array([None if nulls and i % 7 == 0 else f"word {i % 50} " * (i % 4) for i in range(count)])
    numbers = pa.array([None if nulls and i % 5 == 0 else i for i in range(count)], pa.int64())
    lists = [None if nulls and i % 9 == 0 else [i, None, i % 3][: i % 4] for i in range(count)]
    days = pa.array(np.arange(count), pa.int64()).cast(pa.timestamp("ms"))
    return pa.table(
        {
            "dictionary": texts.dictionary_encode(),
            "dictionary8": pa.DictionaryArray.from_arrays(pa.array([i % 5 for i in range(count)], pa.int8()), list("abcde")),
            "numbers": numbers.dictionary_encode(),
            "string_view": texts.cast(pa.string_view()),
            "binary_view": texts.cast(pa.binary()).cast(pa.binary_view()),
            "date64": days.cast(pa.date64()),
            "seconds": pa.array([i % 86_400 for i in range(count)], pa.int32()).cast(pa.time32("s")),
            "at": days.cast(pa.timestamp("s"), safe=False),
            "decimal32": pa.array(range(count), pa.int32()).cast(pa.decimal128(12, 2)).cast(pa.decimal32(9, 2), safe=False),
            "struct": pa.StructArray.from_arrays([texts.dictionary_encode(), pa.array(lists)], names=["category", "list"]),
        }
    )


def file(path: Path, source: pa.Table, codec: str | None) -> None:
    with ipc.new_file(path, source.schema, options=ipc.IpcWriteOptions(compression=codec)) as out:
        out.write_table(source, max_chunksize=700)


def stream(path: Path, source: pa.Table, codec: str | None) -> None:
    with ipc.new_stream(path, source.schema, options=ipc.IpcWriteOptions(compression=codec)) as out:
        out.write_table(source, max_chunksize=700)


def feathered(path: Path, source: pa.Table, codec: str | None) -> None:
    feather.write_feather(source, path, compression=codec or "uncompressed", chunksize=900)


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
@pytest.mark.parametrize("make", [flat, nested, special])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("write", [file, stream, feathered])
def test_what_pyarrow_writes_is_read(tmp_path: Path, write: Callable, codec: str | None, make: Callable, nulls: bool) -> None:
    source = make(nulls)
    path = tmp_path / "a.arrow"
    write(path, source, codec)
    assert differences(table(path, "--memory", "128MiB", "--threads", "1"), source) == []
    assert differences(table(path, "--memory", "64MiB", "--threads", "4", "--batch-size", "7"), source) == []


@pytest.mark.parametrize("kind", [pa.list_view(pa.int32()), pa.large_list_view(pa.int32())], ids=["small", "large"])
@pytest.mark.parametrize("cut", [[], ["--batch-size", "7"]], ids=["plain", "cut"])
def test_views_of_lists_are_read_and_not_written(tmp_path: Path, kind: pa.DataType, cut: list[str]) -> None:
    source = pa.table({"list": pa.array([None if i % 9 == 0 else [i, None, i % 3][: i % 4] for i in range(500)], kind)})
    file(tmp_path / "a.arrow", source, None)
    weir("scan", tmp_path / "a.arrow", *cut).done()
    refused = weir("scan", tmp_path / "a.arrow", *cut, "--to", "arrow", "-o", tmp_path / "b.arrow")
    assert refused.code == 2 and 'column "list"' in refused.err


def test_a_dictionary_that_changes_between_batches_is_followed(tmp_path: Path) -> None:
    batches = [pa.record_batch({"d": pa.array([f"{k}-{i % 3}" for i in range(50)]).dictionary_encode()}) for k in range(4)]
    path = tmp_path / "a.arrows"
    with ipc.new_stream(path, batches[0].schema) as out:
        for batch in batches:
            out.write_batch(batch)
    want = [value for batch in batches for value in batch["d"].to_pylist()]
    for cut in ([], ["--batch-size", "7", "--threads", "4"]):
        assert table(path, *cut)["d"].to_pylist() == want


def test_deltas_of_a_dictionary_are_added(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(40)]
    path = tmp_path / "a.arrows"
    schema = pa.schema({"d": pa.dictionary(pa.int32(), pa.string())})
    with ipc.new_stream(path, schema, options=ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as out:
        for known in (10, 20, 40):
            out.write_batch(
                pa.record_batch([pa.DictionaryArray.from_arrays(pa.array(range(known), pa.int32()), words[:known])], schema=schema)
            )
    assert table(path)["d"].to_pylist() == words[:10] + words[:20] + words[:40]


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
@pytest.mark.parametrize("make", [flat, nested, special])
@pytest.mark.parametrize("name", ["a.arrow", "a.arrows"])
def test_what_weir_writes_is_read_by_pyarrow(tmp_path: Path, make: Callable, codec: str, name: str) -> None:
    source = make(True)
    file(tmp_path / "source.arrow", source, None)
    args = ["--to", "arrow", "--codec", codec, "--batch-size", "500", "--quiet"]
    weir("scan", tmp_path / "source.arrow", *args, "-o", tmp_path / "out" / name).done()
    with pa.OSFile(str(tmp_path / "out" / name)) as raw:
        got = (ipc.open_file if name == "a.arrow" else ipc.open_stream)(raw).read_all()
    assert differences(got, source) == []
    assert got.schema.types == source.schema.types
    assert digest(tmp_path / "out" / name) == digest(tmp_path / "source.arrow")


def test_parts_of_a_directory_hold_all_rows_in_order(tmp_path: Path) -> None:
    source = flat(True)
    pq.write_table(source, tmp_path / "source.parquet")
    args = ["--to", "arrow", "--part-size", "100KB", "--batch-size", "100", "--quiet"]
    weir("scan", tmp_path / "source.parquet", *args, "-o", f"{tmp_path}/out/").done()
    parts = sorted((tmp_path / "out").iterdir())
    assert len(parts) > 2
    assert differences(pa.concat_tables([ipc.open_file(str(part)).read_all() for part in parts]), source) == []


def test_metadata_of_the_schema_is_kept(tmp_path: Path) -> None:
    field = pa.field("a", pa.int64(), metadata={"unit": "ms"})
    source = pa.table([pa.array([1, 2])], schema=pa.schema([field], metadata={"huggingface": "{}"}))
    file(tmp_path / "a.arrow", source, None)
    got = table(tmp_path / "a.arrow").schema
    assert got.field("a").metadata == {b"unit": b"ms"}
    assert got.metadata == {b"huggingface": b"{}"}


@pytest.mark.parametrize("write", [file, stream])
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, write: Callable) -> None:
    path = tmp_path / "a.arrow"
    write(path, flat(True), "zstd")
    whole = path.read_bytes()
    for keep in (9, 100, len(whole) // 3, len(whole) - 300):
        path.write_bytes(whole[:keep])
        result = weir("scan", path, "--format", "arrow", "--quiet")
        assert result.code == 4, f"{keep} bytes: exit {result.code}: {result.err}"
        assert str(path) in result.err
