"""WebDataset archives both ways with the webdataset library, and the project's own samples against tarfile."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import webdataset as wds

from binary import digest, table, weir

COUNT = 200
CUT = ["--batch-size", "7", "--threads", "4", "--memory", "64MiB"]


def samples() -> Iterator[dict[str, Any]]:
    for i in range(COUNT):
        sample: dict[str, Any] = {"__key__": f"dir/sample{i:05d}", "cls": i % 10, "json": {"id": i, "text": f"Grüße {i}"}}
        sample |= {"jpg": bytes([0xFF, 0xD8, i % 256]) * (i * 7), "left.txt": f"text {i}\n", "npy": np.arange(i, dtype=np.float32)}
        if i % 3:
            del sample["left.txt"]
        yield sample


def raw(path: Path) -> list[dict[str, Any]]:
    """The samples as the library gives them when it decodes nothing."""
    return [
        {key: value for key, value in sample.items() if key == "__key__" or not key.startswith("__")}
        for sample in wds.WebDataset(str(path), shardshuffle=False, handler=wds.reraise_exception)
    ]


def read(*args: str | Path) -> list[dict[str, Any]]:
    """What weir gives, texts as bytes and members that are not there left out, as the library does."""
    rows = table(*args).to_pylist()
    texts = [{key: value.encode() if isinstance(value, str) and key != "__key__" else value for key, value in row.items()} for row in rows]
    return [{key: value for key, value in row.items() if value is not None} for row in texts]


@pytest.mark.parametrize("cut", [[], CUT], ids=["plain", "cut"])
@pytest.mark.parametrize("name", ["a.tar", "a.tgz", "a.tar.gz"])
def test_what_tarwriter_writes_is_read(tmp_path: Path, name: str, cut: list[str]) -> None:
    with wds.TarWriter(str(tmp_path / name)) as out:
        for sample in samples():
            out.write(sample)
    got = read(tmp_path / name, *cut)
    assert got == raw(tmp_path / name)
    assert [json.loads(row["json"]) for row in got] == [sample["json"] for sample in samples()]


def test_shards_are_read_in_order(tmp_path: Path) -> None:
    with wds.ShardWriter(str(tmp_path / "shard-%04d.tar"), maxcount=30, verbose=0) as out:
        for sample in samples():
            out.write(sample)
    shards = sorted(tmp_path.iterdir())
    assert len(shards) == 7
    assert read(tmp_path) == [sample for shard in shards for sample in raw(shard)]


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["ustar", "gnu", "pax"])
def test_every_kind_of_tar_and_long_names(tmp_path: Path, kind: int) -> None:
    length = 60 if kind == tarfile.USTAR_FORMAT else 300
    with tarfile.open(tmp_path / "a.tar", "w", format=kind) as out:
        for i in range(20):
            for ending in ("txt", "bin"):
                member = tarfile.TarInfo(f"folder/{'n' * length}{i:03d}.{ending}")
                body = f"{i} {ending}".encode() * i
                member.size = len(body)
                out.addfile(member, io.BytesIO(body))
    got = table(tmp_path / "a.tar")
    assert got["__key__"].to_pylist() == [f"folder/{'n' * length}{i:03d}" for i in range(20)]
    assert got["txt"].to_pylist() == [f"{i} txt" * i for i in range(20)]
    assert got["bin"].to_pylist() == [f"{i} bin".encode() * i for i in range(20)]


def test_directories_links_and_dotless_names_are_passed_over(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as out:
        for name, kind in (("d", tarfile.DIRTYPE), ("link.txt", tarfile.SYMTYPE), ("README", tarfile.REGTYPE), ("a.txt", tarfile.REGTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "a.txt"
            out.addfile(member, io.BytesIO(b""))
    assert table(tmp_path / "a.tar").to_pydict() == {"__key__": ["a"], "txt": [""]}


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
def test_what_weir_writes_is_read_by_webdataset(tmp_path: Path, codec: str) -> None:
    with wds.TarWriter(str(tmp_path / "source.tar")) as out:
        for sample in samples():
            out.write(sample)
    ending = {"none": "", "gzip": ".gz", "zstd": ".zst"}[codec]
    made = tmp_path / f"made.tar{ending}"
    weir("scan", tmp_path / "source.tar", "--to", "webdataset", "--codec", codec, "-o", made, "--quiet").done()
    assert digest(made) == digest(tmp_path / "source.tar")
    if codec != "zstd":  # the library does not open it
        assert raw(made) == raw(tmp_path / "source.tar")


def test_rows_of_a_table_become_samples(tmp_path: Path) -> None:
    source = pa.table({"txt": ["a", None, "c"], "n.json": [[1, 2], [], None], "cls": pa.array([1, 2, 3], pa.int32())})
    pq.write_table(source, tmp_path / "a.parquet")
    weir("scan", tmp_path / "a.parquet", "--to", "webdataset", "-o", tmp_path / "a.tar", "--quiet").done()
    want = [{"txt": b"a", "n.json": b"[1,2]", "cls": b"1"}, {"n.json": b"[]", "cls": b"2"}, {"txt": b"c", "cls": b"3"}]
    assert [{k: v for k, v in row.items() if k != "__key__"} for row in raw(tmp_path / "a.tar")] == want
    with tarfile.open(tmp_path / "a.tar") as archive:
        assert len({name.split(".")[0] for name in archive.getnames()}) == 3


def test_parts_of_a_directory_hold_all_samples(tmp_path: Path) -> None:
    with wds.TarWriter(str(tmp_path / "source.tar")) as out:
        for sample in samples():
            out.write(sample)
    args = ["--to", "webdataset", "--part-size", "200KiB", "--batch-size", "10", "--quiet"]
    weir("scan", tmp_path / "source.tar", *args, "-o", f"{tmp_path}/out/").done()
    parts = sorted((tmp_path / "out").iterdir())
    assert len(parts) > 2
    assert [sample for part in parts for sample in raw(part)] == raw(tmp_path / "source.tar")


@pytest.mark.parametrize(("name", "count"), [("mpdata.tar", 100), ("tendata.tar", 100), ("sample.tgz", 90)])
def test_samples_of_the_project_are_read_as_tarfile_reads_them(corpus: Path, name: str, count: int) -> None:
    want: dict[str, dict[str, bytes]] = {}
    with tarfile.open(corpus.parent / "webdataset" / name) as archive:
        for member in archive:
            if (body := archive.extractfile(member)) is not None:
                key, _, ending = member.name.partition(".")
                want.setdefault(key, {})[ending] = body.read()
    assert len(want) == count
    for cut in ([], CUT):
        got = read(corpus.parent / "webdataset" / name, *cut)
        assert [(row.pop("__key__"), row) for row in got] == list(want.items())
