"""Records that cannot be read, schemas that are fixed, and rows that are the same however they are read."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import rows
from binary import digest, table, weir
from packers import PACKERS

# A good record, a bad one, and the byte of it that is named.
BAD = {
    "jsonl": ('{"a": %d, "b": "x"}\n', '{"a": oops}\n', 6),
    "csv": ("%d,x\n", "1,2,3\n", 0),
}


def bad_file(folder: Path, kind: str, count: int = 5_000, every: int = 1_000) -> tuple[Path, list[int]]:
    """A file with a bad record in front of every thousandth good one, and the bytes where they are bad."""
    good, bad, at = BAD[kind]
    out = ["a,b\n"] if kind == "csv" else []
    places: list[int] = []
    for i in range(count):
        if i % every == every - 1:
            places.append(sum(map(len, out)) + at)
            out.append(bad)
        out.append(good % i)
    path = folder / f"a.{kind}"
    path.write_text("".join(out))
    return path, places


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_bad_record_ends_the_reading_with_its_place(tmp_path: Path, kind: str, threads: str) -> None:
    path, places = bad_file(tmp_path, kind)
    result = weir("scan", path, "--sample", "1KiB", "--quiet", "--threads", threads)
    assert result.code == 4, result.err
    line = 1_000 if kind == "jsonl" else 1_001
    assert f"{path}: line {line}, byte {places[0]}" in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("threads", ["1", "4"])
def test_bad_records_are_skipped_and_counted(tmp_path: Path, kind: str, threads: str) -> None:
    path, places = bad_file(tmp_path, kind)
    args = [path, "--sample", "1KiB", "--on-error", "skip", "--threads", threads]
    result = weir("scan", *args, "--report", "-").done()
    report = json.loads(result.out)
    assert (report["rows"], report["skipped"]) == (5_000, 5)
    assert f"byte {places[0]}" in result.err
    assert table(*args)["a"].to_pylist() == list(range(5_000))


def test_files_that_are_no_images_are_skipped_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for i in range(4):
        (tmp_path / "images" / f"{i}.png").write_bytes(b"not a picture")
    result = weir("scan", tmp_path / "images", "--quiet")
    assert result.code == 4 and "0.png" in result.err
    report = json.loads(weir("scan", tmp_path / "images", "--on-error", "skip", "--report", "-").done().out)
    assert (report["rows"], report["skipped"]) == (0, 4)


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_schema_that_inspect_prints_fixes_the_types(tmp_path: Path, kind: str) -> None:
    source = tmp_path / f"source.{kind}"
    pq.write_table(rows.chat(0, 500) if kind == "jsonl" else rows.numeric(0, 500, 0.1, floats=2), tmp_path / "a.parquet")
    weir("scan", tmp_path / "a.parquet", "--to", kind, "-o", source, "--quiet").done()
    schema = tmp_path / "schema.json"
    schema.write_bytes(weir("inspect", source, "--json").done().out)
    want = table(source)
    assert table(source, "--schema", schema).equals(want)
    edited = json.loads(schema.read_text())["schema"]
    assert (edited["columns"][0]["name"], edited["columns"][0]["type"]) == ("id", "int64")
    edited["columns"][0]["type"] = "float64"
    schema.write_text(json.dumps(edited))
    assert table(source, "--schema", schema)["id"].to_pylist() == [float(i) for i in want["id"].to_pylist()]


def test_a_value_that_does_not_fit_the_schema_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps({"columns": [{"name": "a", "type": "int64"}, {"name": "b", "type": "float64"}]}))
    for kind, (good, _, _) in BAD.items():
        path = tmp_path / f"a.{kind}"
        path.write_text(("a,b\n" if kind == "csv" else "") + good % 1)
        result = weir("scan", path, "--schema", tmp_path / "schema.json", "--quiet")
        assert result.code == 4, result.err
        assert f"{path}: line" in result.err and '"b"' in result.err and "float64" in result.err


def test_keys_beside_the_schema(tmp_path: Path) -> None:
    """Picked columns are read from rows with any other keys, in any order."""
    (tmp_path / "schema.json").write_text(json.dumps({"columns": [{"name": "b", "type": "int64"}, {"name": "a", "type": "string"}]}))
    path = tmp_path / "a.jsonl"
    path.write_text('{"z": [1], "a": "x", "b": 1}\n{"b": 2, "c": {"a": "no"}, "a": "y"}\n{"a": "z"}\n')
    result = weir("scan", path, "--schema", tmp_path / "schema.json", "--to", "jsonl", "--quiet")
    if result.code == 0:
        assert [json.loads(line) for line in result.out.splitlines()] == [{"b": 1, "a": "x"}, {"b": 2, "a": "y"}, {"b": None, "a": "z"}]
    else:
        assert result.code == 4 and '"z"' in result.err, result.err
    assert table(path, "--columns", "b,a").to_pylist() == [{"b": 1, "a": "x"}, {"b": 2, "a": "y"}, {"b": None, "a": "z"}]


def as_tar(path: Path) -> None:
    with tarfile.open(path, "w") as out:
        for row in rows.text(0, 6_000).to_pylist():
            body = row["text"].encode()
            member = tarfile.TarInfo(f"{row['id']:06d}.txt")
            member.size = len(body)
            out.addfile(member, io.BytesIO(body))


def by_weir(*args: str) -> Callable[[Path], None]:
    """Texts and conversations as weir writes them."""

    def make(path: Path) -> None:
        source = path.parent / f"{path.name}.parquet"
        pq.write_table(rows.text(0, 6_000), source)
        weir("scan", source, *args, "-o", path if path.suffix else f"{path}/", "--quiet").done()
        source.unlink()

    return make


def packed(kind: str, packer: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        plain = path.parent / f"plain.{kind}"
        by_weir("--to", kind)(plain)
        path.write_bytes(PACKERS[packer][1](plain.read_bytes()))
        plain.unlink()

    return make


SOURCES: dict[str, Callable[[Path], None]] = {
    "a.jsonl": by_weir("--to", "jsonl"),
    "a.csv": by_weir("--to", "csv"),
    "a.arrow": by_weir("--to", "arrow", "--codec", "zstd"),
    "a.jsonl.zst": packed("jsonl", "zstd frames"),
    "a.jsonl.gz": packed("jsonl", "gzip members"),
    "a.csv.gz": packed("csv", "gzip"),
    "a.tar": as_tar,
    "mds": by_weir("--to", "mds", "--part-size", "1MiB"),
    "mds-zstd": by_weir("--to", "mds", "--part-size", "1MiB", "--codec", "zstd"),
    "parts": by_weir("--to", "jsonl", "--part-size", "1MiB"),
}


@pytest.fixture(scope="module", params=SOURCES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("same") / request.param
    SOURCES[request.param](path)
    return path


def test_threads_memory_and_batches_change_nothing(made: Path) -> None:
    want = digest(made, "--threads", "1", "--memory", "1GiB")
    assert json.loads(weir("scan", made, "--report", "-").done().out)["rows"] == 6_000
    for threads in ("1", "2", "4"):
        for memory in ("32MiB", "64MiB", "256MiB"):
            assert digest(made, "--threads", threads, "--memory", memory) == want, f"{threads} threads, {memory}"
        for batch in ("1", "7", "1000"):
            assert digest(made, "--threads", threads, "--batch-size", batch) == want, f"{threads} threads, batches of {batch}"
