"""What batches are: matrices, columns, Arrow and data frames; and the names that other code has for them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import s3
from loading import MEMORY, dataset, weir
from prepared import prepare

ROWS = 50
TEXTS = [f"row {i} ü" for i in range(ROWS)]
LISTS = [list(range(i % 4)) for i in range(ROWS)]
CHATS = [[{"role": "user", "content": f"{i}"}, {"role": "bot", "content": None}][: i % 3] for i in range(ROWS)]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Columns of many types."""
    path = tmp_path_factory.mktemp("mixed") / "mixed.parquet"
    columns = {
        "id": pa.array(range(ROWS)),
        "half": pa.array([i / 2 for i in range(ROWS)]),
        "gap": pa.array([None if i % 5 == 0 else i for i in range(ROWS)], pa.float32()),
        "text": pa.array(TEXTS),
        "raw": pa.array([t.encode() for t in TEXTS]),
        "tokens": pa.array(LISTS, pa.list_(pa.int32())),
        "chat": pa.array(CHATS),
    }
    pq.write_table(pa.table(columns), path, row_group_size=20)
    return path


def first(path: Any, **options: Any) -> Any:
    with weir.loader(path, **{"memory": MEMORY, "batch_size": 8, "output": "numpy", **options}) as loader:
        return next(iter(loader))


def test_scan_gives_the_rows_as_they_are(mixed: Path, tmp_path: Path) -> None:
    table = pq.read_table(mixed)
    batches = list(weir.scan(mixed, batch_size=7, memory=MEMORY))
    assert max(b.num_rows for b in batches) <= 7
    got = pa.Table.from_batches(batches)
    assert got.to_pylist() == table.to_pylist()
    pq.write_table(table, tmp_path / "again.parquet")
    with weir.scan([mixed, str(tmp_path)], columns=["t*", "id"], memory=MEMORY) as some:
        assert some.columns == ["text", "tokens", "id"] and some.rows == 2 * ROWS
        assert [i for b in some for i in b["id"].to_pylist()] == 2 * list(range(ROWS))


def test_scan_takes_read_options(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1;NA\n2;5\n")
    rows = [r for b in weir.scan(tmp_path / "x.csv", delimiter=";", no_header=True, nulls=["NA"], memory=MEMORY) for r in b.to_pylist()]
    assert [list(r.values()) for r in rows] == [[1, None], [2, 5]]
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": \n{"a": 3}\n')
    with pytest.raises(weir.DataError, match="line 2"):
        list(weir.scan(tmp_path / "x.jsonl", memory=MEMORY))
    assert sum(b.num_rows for b in weir.scan(tmp_path / "x.jsonl", on_error="skip", memory=MEMORY)) == 2


def test_matrix_of_all_numbers_without_a_label(mixed: Path) -> None:
    x = first(mixed, columns=None)
    assert x.shape == (8, 3) and x.dtype == np.float32
    assert np.isnan(x[0, 2]) and x[3].tolist() == [3, 1.5, 3]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_matrix_types(mixed: Path, dtype: str) -> None:
    x, y = first(mixed, features=["id"], label="half", dtype=dtype)
    assert x.dtype == y.dtype == np.dtype(dtype)
    x, y = first(mixed, features=["half"], label="id", dtype=dtype, label_dtype="float64")
    assert y.dtype == np.float64 and y.tolist() == list(range(8))


def test_columns_are_tensors_where_they_can_be_and_arrow_where_not(mixed: Path) -> None:
    with weir.loader(mixed, columns="*", memory=MEMORY, batch_size=8, output="numpy") as loader:
        batch = list(loader)[1]
    rows = slice(8, 16)
    assert batch["id"].tolist() == list(range(8, 16)) and batch["id"].dtype == np.int64
    offsets = batch["tokens.offsets"]
    assert [batch["tokens.values"][a:b].tolist() for a, b in itertools.pairwise(offsets)] == LISTS[rows]
    assert batch["text"].to_pylist() == TEXTS[rows]
    assert batch["raw"].to_pylist() == [t.encode() for t in TEXTS[rows]]
    assert batch["chat"].to_pylist() == CHATS[rows]


def test_fixed_size_lists_are_matrices(tmp_path: Path) -> None:
    points = pa.table({"id": range(ROWS), "point": pa.array([[i, i + 1] for i in range(ROWS)], pa.list_(pa.float32(), 2))})
    with pa.ipc.new_file(tmp_path / "points.arrow", points.schema) as out:
        out.write_table(points)
    point = first(tmp_path / "points.arrow", columns=["point"])["point"]
    assert point.tolist() == [[i, i + 1] for i in range(8)] and point.dtype == np.float32
    assert first(tmp_path / "points.arrow").tolist() == [[i, i, i + 1] for i in range(8)]


def pixels(width: int, kind: pa.DataType, *, nulls: bool) -> pa.Array:
    """Fixed-size lists; some are null, and some of their values, if nulls are wanted."""
    numbers = np.random.default_rng(width).integers(0, 200, (ROWS, width)).tolist()
    if nulls:
        numbers = [None if i % 7 == 3 else [None if v % 11 == 5 else v for v in row] for i, row in enumerate(numbers)]
    if kind == pa.bool_():
        numbers = [row and [None if v is None else v > 99 for v in row] for row in numbers]
    return pa.array(numbers, pa.list_(kind, width))


WRITINGS: dict[str, dict[str, Any]] = {
    "usual": {},
    "plain": {"compression": "none", "use_dictionary": False},
    "pages": {"data_page_version": "2.0", "compression": "zstd", "data_page_size": 300, "write_batch_size": 7},
    "short": {"use_dictionary": False, "data_page_size": 1000, "write_batch_size": 50, "row_group_size": 20},
}


@pytest.mark.parametrize("how", WRITINGS)
@pytest.mark.parametrize("nulls", [False, True])
def test_fixed_size_lists_of_parquet_are_what_pyarrow_reads(tmp_path: Path, how: str, nulls: bool) -> None:
    kinds = [pa.uint8(), pa.int64(), pa.float32(), pa.float64(), pa.bool_(), pa.timestamp("us")]
    columns = {f"{kind} {width}": pixels(width, kind, nulls=nulls) for kind in kinds for width in (1, 3, 200, 3072)}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", **WRITINGS[how])
    want = pq.read_table(tmp_path / "x.parquet")
    for batch_size in (50_000, 7):
        got = pa.Table.from_batches(list(weir.scan(tmp_path / "x.parquet", batch_size=batch_size, memory=MEMORY)))
        assert [(f.name, f.type) for f in got.schema] == [(f.name, f.type) for f in want.schema]
        for name in want.column_names:
            assert got[name].combine_chunks().equals(want[name].combine_chunks()), name


@pytest.mark.parametrize("shuffle", [False, True])
def test_fixed_size_lists_of_parquet_are_features(tmp_path: Path, shuffle: bool) -> None:
    image, scale = pixels(300, pa.uint8(), nulls=False), pixels(2, pa.float64(), nulls=True)
    table = pa.table({"y": range(ROWS), "image": image, "scale": scale})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=15)
    wide = np.array(image.to_pylist(), np.float32)
    gaps = np.array([[np.nan if v is None else v for v in row or [None] * 2] for row in scale.to_pylist()], np.float32)
    options = {"memory": MEMORY, "batch_size": 8, "output": "numpy", "shuffle": shuffle, "window": "4KiB"}
    with weir.loader(tmp_path / "x.parquet", features=["image", "scale"], label="y", **options) as loader:
        seen = []
        for x, y in loader:
            assert x.shape == (len(y), 302) and x.dtype == np.float32 and x.flags.c_contiguous
            np.testing.assert_array_equal(x, np.hstack([wide, gaps])[y])
            seen += y.tolist()
    assert sorted(seen) == list(range(ROWS))
    with weir.loader(tmp_path / "x.parquet", columns=["image", "y"], **options) as loader:
        for batch in loader:
            assert batch["image"].dtype == np.uint8
            np.testing.assert_array_equal(batch["image"], wide[batch["y"]])


def test_lists_are_padded(mixed: Path) -> None:
    batch = first(mixed, columns=["tokens"], pad={"tokens": {"length": 5, "fill": -1}})
    assert batch["tokens"].tolist() == [row + [-1] * (5 - len(row)) for row in LISTS[:8]]
    assert batch["tokens.lengths"].tolist() == [len(row) for row in LISTS[:8]]
    assert first(mixed, columns=["tokens"], pad={"tokens": 0})["tokens"].shape == (8, 3)
    assert first(mixed, columns=["tokens"], pad={"tokens": {"length": 2, "cut": True}})["tokens"].shape == (8, 2)
    with pytest.raises(weir.DataError, match="tokens"):
        first(mixed, columns=["tokens"], pad={"tokens": 2})


def test_rows_as_arrow_and_polars(mixed: Path) -> None:
    table = pq.read_table(mixed).slice(0, 8)
    assert first(mixed, output="arrow").to_pylist() == table.to_pylist()
    frame = first(mixed, output="polars", columns=["id", "text"])
    assert isinstance(frame, pl.DataFrame) and frame.to_dicts() == table.select(["id", "text"]).to_pylist()
    with weir.loader(mixed, output="arrow", shuffle=True, batch_size=9, memory=MEMORY) as loader:
        rows = [row for batch in loader for row in batch.to_pylist()]
    assert rows != pq.read_table(mixed).to_pylist()
    assert sorted(rows, key=lambda row: row["id"]) == pq.read_table(mixed).to_pylist()


def test_splits_of_prepared_data(tmp_path: Path) -> None:
    raw = dataset(tmp_path / "raw", 1000, features=2)
    prepare(raw, tmp_path / "out", "--label", "y", "--scale", "f*=standard").done()
    counts = {}
    for split in ("", "train", "val", "test"):
        with weir.loader(tmp_path / "out", split=split, features="f*", label="y", memory=MEMORY, output="numpy") as loader:
            counts[split] = loader.rows
            assert loader.features == ["f0", "f1"]
    assert counts[""] == counts["train"] and counts["train"] + counts["val"] + counts["test"] == 1000
    with pytest.raises(ValueError, match="extra"):
        len(weir.loader(tmp_path / "out", split="extra", memory=MEMORY, output="numpy"))


def test_known_names_read_a_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    (tmp_path / "s3").mkdir()
    with s3.service(program, tmp_path / "s3", "tests") as service:
        service.put(dataset(tmp_path / "data", ROWS, features=2), "some/data")
        for name, value in service.env().items():
            monkeypatch.setenv(name, value)
        batches = list(weir.scan_parquet_dataset("tests", "some/data/", ["id", "y"], batch_size=9, memory=MEMORY))
        assert [i for b in batches for i in b["id"].to_pylist()] == list(range(ROWS)) and batches[0].schema.names == ["id", "y"]
        with weir.loader("s3://tests/some/data", features="f*", label="y", shuffle=True, memory=MEMORY, output="numpy") as loader:
            assert sorted(x[0] for batch, _ in loader for x in batch.tolist()) == [10 * i for i in range(ROWS)]


def test_known_names_read_dicts_of_lists(mixed: Path, tmp_path: Path) -> None:
    whole = pq.read_table(mixed, columns=["id", "text", "chat"])
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(r) + "\n" for r in whole.to_pylist()))
    for path, kind in ((mixed, "parquet"), (tmp_path / "x.jsonl", "jsonl"), (tmp_path / "x.jsonl", "json"), (mixed, "")):
        batches = list(weir.streaming_dataset_reader(str(path), kind, batch_size=20, num_threads=2, columns=whole.column_names))
        assert [len(b["id"]) for b in batches] == [20, 20, 10]
        assert {name: [v for b in batches for v in b[name]] for name in whole.column_names} == whole.to_pydict()
    with pytest.raises(ValueError, match="file_path"):
        list(weir.streaming_dataset_reader("", "parquet"))
    with pytest.raises(RuntimeError):
        list(weir.streaming_dataset_reader("/nowhere.parquet", ""))
