"""What a path holds is found out: by content first, then by name; mixtures are refused with what was found."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import webdataset as wds
from PIL import Image
from pyarrow import feather, ipc

import s3
from binary import digest, inspect, table, weir
from packers import PACKERS

ROWS = [{"id": i, "text": f"text {i}"} for i in range(50)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
CELLS = "id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in ROWS)


def picture(kind: str, size: tuple[int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (200, 10, 10)).save(out, kind)
    return out.getvalue()


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of every format under its usual name."""
    folder = tmp_path_factory.mktemp("kinds")
    source = pa.Table.from_pylist(ROWS)
    pq.write_table(source, folder / "a.parquet")
    feather.write_feather(source, folder / "a.feather")
    with ipc.new_stream(folder / "a.arrows", source.schema) as out:
        out.write_table(source)
    (folder / "a.jsonl").write_text(LINES)
    (folder / "a.json").write_text(json.dumps(ROWS))
    (folder / "a.csv").write_text(CELLS)
    (folder / "a.tsv").write_text(CELLS.replace(",", "\t"))
    (folder / "a.txt").write_text("some words\nmore words, with commas\n")
    np.save(folder / "a.npy", np.arange(50))
    np.savez(folder / "a.npz", x=np.arange(50))
    (folder / "a.png").write_bytes(picture("png", (3, 4)))
    with wds.TarWriter(str(folder / "a.tar")) as archive:
        for row in ROWS:
            archive.write({"__key__": f"{row['id']:03d}", "txt": row["text"]})
    return {path.suffix[1:]: path for path in folder.iterdir()}


FORMATS = {
    "parquet": "parquet", "feather": "arrow", "arrows": "arrow", "jsonl": "jsonl", "json": "jsonl", "csv": "csv", "tsv": "csv",
    "txt": "text", "npy": "npy", "npz": "npy", "png": "images", "tar": "webdataset",
}  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_known(kinds: dict[str, Path], kind: str) -> None:
    assert inspect(kinds[kind])["format"] == FORMATS[kind]


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrows", "npy", "png", "tar"])
def test_content_beats_the_name(tmp_path: Path, kinds: dict[str, Path], kind: str) -> None:
    for name in ("data.csv", "data", "data.jsonl"):
        (tmp_path / name).write_bytes(kinds[kind].read_bytes())
        assert inspect(tmp_path / name)["format"] == FORMATS[kind]
        assert table(tmp_path / name).num_rows == table(kinds[kind]).num_rows


@pytest.mark.parametrize(("name", "packer"), [("a.csv.gz", "gzip"), ("a.jsonl.zst", "zstd"), ("a.csv.bz2", "bz2"), ("a.txt.xz", "xz")])
def test_names_with_two_endings(tmp_path: Path, kinds: dict[str, Path], name: str, packer: str) -> None:
    source = kinds[name.split(".")[1]]
    (tmp_path / name).write_bytes(PACKERS[packer][1](source.read_bytes()))
    assert inspect(tmp_path / name)["format"] == FORMATS[source.suffix[1:]]
    assert digest(tmp_path / name) == digest(source)


def test_a_mixture_is_refused_with_what_was_found(tmp_path: Path) -> None:
    for name, body in {"a.jsonl": LINES, "b.jsonl": LINES, "c.csv": CELLS}.items():
        (tmp_path / name).write_text(body)
    result = weir("scan", tmp_path, "--quiet")
    assert result.code == 4
    assert re.search(r"2 jsonl \(\S*a\.jsonl\), 1 csv \(\S*c\.csv\); .*--format", result.err), result.err
    assert table(tmp_path / "*.jsonl").num_rows == 100


def test_one_format_may_be_compressed_in_several_ways(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(LINES.encode()))
    (tmp_path / "c.jsonl.zst").write_bytes(PACKERS["zstd"][1](LINES.encode()))
    assert table(tmp_path).num_rows == 150


def test_format_overrides(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LINES)
    assert inspect(tmp_path / "a.csv", "--format", "jsonl")["format"] == "jsonl"
    assert table(tmp_path / "a.csv", "--format", "jsonl").to_pylist() == ROWS
    assert table(tmp_path / "a.csv", "--format", "text").num_rows == 50
    assert weir("scan", tmp_path / "a.csv", "--format", "xml").code == 2


def test_lines_of_text_and_whole_files(tmp_path: Path) -> None:
    for name, body in {"a.txt": "one\ntwo\r\n\nGrüße", "b.txt": "last\n"}.items():
        (tmp_path / name).write_bytes(body.encode())
    assert table(tmp_path).to_pydict() == {"text": ["one", "two", "", "Grüße", "last"]}
    assert table(tmp_path, "--whole-files").to_pydict() == {"text": ["one\ntwo\r\n\nGrüße", "last\n"]}


def test_an_empty_file_is_a_row_where_whole_files_are(tmp_path: Path) -> None:
    for name, body in {"a.txt": "a", "b.txt": "", "c.txt": "c"}.items():
        (tmp_path / name).write_text(body)
    assert table(tmp_path, "--whole-files").to_pydict() == {"text": ["a", "", "c"]}


def test_folders_of_images_are_rows_with_labels_and_sizes(tmp_path: Path) -> None:
    want = []
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for i, (kind, ending) in enumerate([("jpeg", "jpg"), ("png", "png"), ("gif", "gif"), ("webp", "webp"), ("bmp", "bmp")]):
            body = picture(kind, (3 + i, 5))
            (tmp_path / label / f"{i}.{ending}").write_bytes(body)
            want.append({"label": label, "bytes": body, "width": 3 + i, "height": 5})
    got = table(tmp_path, "--threads", "4", "--batch-size", "3")
    assert got.drop_columns(["path"]).to_pylist() == want
    assert [Path(path).name for path in got["path"].to_pylist()][:2] == ["0.jpg", "1.png"]


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory, kinds: dict[str, Path]) -> Iterator[s3.Service]:
    program = s3.program()
    if program is None:
        pytest.skip("the S3 service is built with Go, which is not here")
    with s3.service(program, tmp_path_factory.mktemp("s3"), "tests") as running:
        for kind, path in kinds.items():
            running.put(path, f"{kind}/{path.name}")
        yield running


@pytest.mark.parametrize("kind", FORMATS)
def test_s3_has_the_same_rows(remote: s3.Service, kinds: dict[str, Path], kind: str) -> None:
    columns = ["--columns", "bytes"] if kind == "png" else []
    assert digest(f"s3://tests/{kind}/", *columns, env=remote.env()) == digest(kinds[kind], *columns)


def test_what_is_written_to_s3_is_read_from_there(remote: s3.Service, kinds: dict[str, Path]) -> None:
    for to in ("parquet", "arrow", "jsonl", "csv", "mds", "webdataset"):
        weir("scan", kinds["parquet"], "--to", to, "-o", f"s3://tests/written/{to}/", "--quiet", env=remote.env()).done()
        rows = json.loads(weir("scan", f"s3://tests/written/{to}/", "--report", "-", env=remote.env()).done().out)["rows"]
        assert rows == 50, to
