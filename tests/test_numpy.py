"""NumPy arrays both ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from binary import digest, table, weir

KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
CUT = ["--batch-size", "7", "--threads", "4", "--memory", "64MiB"]


def numbers(kind: str, *shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 113).reshape(shape).astype(kind)


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_every_type_and_dimension(tmp_path: Path, kind: str, order: str) -> None:
    for shape in [(500,), (300, 4), (40, 2, 3), (0,), (1, 1)]:
        source = numbers(order + kind, *shape)
        np.save(tmp_path / "a.npy", source)
        for cut in ([], CUT):
            got = table(tmp_path / "a.npy", *cut)["data"]
            assert got.to_pylist() == source.reshape(shape if len(shape) < 3 else (shape[0], -1)).tolist()


def test_named_fields_are_columns(tmp_path: Path) -> None:
    fields = [("id", "<i8"), ("big", ">f4"), ("name", "S6"), ("text", "<U5"), ("pair", "<i2", (2,)), ("day", "<M8[us]"), ("flag", "?")]
    source = np.zeros(100, dtype=fields)
    source["id"], source["big"], source["flag"] = np.arange(100), np.arange(100) / 4, np.arange(100) % 2
    source["name"], source["text"] = [f"n{i}".encode() for i in range(100)], [f"ü{i}" for i in range(100)]
    source["pair"], source["day"] = numbers("i2", 100, 2), np.arange(100).astype("M8[us]")
    source["day"][7] = np.datetime64("NaT")
    np.save(tmp_path / "a.npy", source)
    got = table(tmp_path / "a.npy")
    assert got.column_names == [field[0] for field in fields]
    for name in ("id", "big", "name", "text", "pair", "flag"):
        assert got[name].to_pylist() == source[name].tolist(), name
    assert got["day"].to_pylist() == source["day"].tolist()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed], ids=["stored", "deflated"])
@pytest.mark.parametrize("cut", [[], CUT], ids=["plain", "cut"])
def test_arrays_of_an_archive_are_columns(tmp_path: Path, save: object, cut: list[str]) -> None:
    arrays = {"x": numbers("f4", 5_000, 8), "y": numbers("i8", 5_000), "flag": numbers("b1", 5_000)}
    save(tmp_path / "a.npz", **arrays)  # type: ignore[operator]
    got = table(tmp_path / "a.npz", *cut)
    assert got.column_names == list(arrays)
    assert all(got[name].to_pylist() == array.tolist() for name, array in arrays.items())


def test_arrays_of_unequal_length_are_refused_unless_chosen(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=numbers("f4", 10), y=numbers("f4", 11))
    result = weir("scan", tmp_path / "a.npz", "--quiet")
    assert result.code == 4, result.err
    assert "10" in result.err and "11" in result.err
    assert table(tmp_path / "a.npz", "--columns", "y").num_rows == 11


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (np.array([{}, None], dtype=object), '"|O"'),
        (np.array([1j]), '"<c16"'),
        (np.asfortranarray(numbers("f4", 3, 4)), "Fortran"),
    ],
    ids=["objects", "complex", "fortran"],
)
def test_what_is_not_rows_of_numbers_is_refused(tmp_path: Path, source: np.ndarray, says: str) -> None:
    np.save(tmp_path / "a.npy", source, allow_pickle=True)
    result = weir("scan", tmp_path / "a.npy", "--quiet")
    assert result.code == 4, result.err
    assert says in result.err


@pytest.mark.parametrize("kind", KINDS)
def test_what_weir_writes_is_read_by_numpy(tmp_path: Path, kind: str) -> None:
    for shape in [(1_000,), (1_000, 5)]:
        source = numbers(kind, *shape)
        np.save(tmp_path / "source.npy", source)
        weir("scan", tmp_path / "source.npy", "--to", "npy", "-o", tmp_path / "made.npy", "--quiet", "--batch-size", "77").done()
        made = np.load(tmp_path / "made.npy")
        assert made.dtype == source.dtype
        assert np.array_equal(made, source)
        assert digest(tmp_path / "made.npy") == digest(tmp_path / "source.npy")


def test_columns_become_a_matrix(tmp_path: Path) -> None:
    source = numbers("f4", 300, 3)
    pq.write_table(pa.table({name: source[:, i] for i, name in enumerate("abc")}), tmp_path / "a.parquet")
    weir("scan", tmp_path / "a.parquet", "--to", "npy", "-o", tmp_path / "a.npy", "--quiet").done()
    assert np.array_equal(np.load(tmp_path / "a.npy"), source)
    assert np.load(tmp_path / "a.npy", mmap_mode="r").shape == (300, 3)


def test_parts_of_a_directory_hold_all_rows(tmp_path: Path) -> None:
    source = numbers("f8", 50_000, 4)
    np.save(tmp_path / "source.npy", source)
    weir(
        "scan", tmp_path / "source.npy", "--to", "npy", "-o", f"{tmp_path}/out/", "--part-size", "300KiB", "--batch-size", "999", "--quiet"
    ).done()
    parts = sorted((tmp_path / "out").iterdir())
    assert len(parts) > 3
    assert np.array_equal(np.concatenate([np.load(part) for part in parts]), source)
