"""Files compressed as a whole, by everyone's compressors: what is in them is read as if it lay there plain."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
from pathlib import Path

import cramjam
import pytest

import rows
from binary import digest, weir
from packers import PACKERS

CUT = ["--batch-size", "1000", "--threads", "4", "--memory", "64MiB"]
UNPACKERS = {
    "gzip": (".gz", gzip.decompress),
    "zstd": (".zst", lambda data: bytes(cramjam.zstd.decompress(data))),
    "zstd:9": (".zst", lambda data: bytes(cramjam.zstd.decompress(data))),
    "lz4": (".lz4", lambda data: bytes(cramjam.lz4.decompress(data))),
    "snappy": (".sz", lambda data: bytes(cramjam.snappy.decompress(data))),
    "brotli": (".br", lambda data: bytes(cramjam.brotli.decompress(data))),
    "bz2": (".bz2", bz2.decompress),
    "xz": (".xz", lzma.decompress),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same rows as JSON lines, CSV and tar, of 2 MB: several blocks of every compression."""
    folder = tmp_path_factory.mktemp("plain")
    source = rows.text(0, 1_500).to_pylist()
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in source))
    (folder / "a.csv").write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in source))
    with tarfile.open(folder / "a.tar", "w") as out:
        for row in source:
            member = tarfile.TarInfo(f"{row['id']:06d}.txt")
            body = row["text"].encode()
            member.size = len(body)
            out.addfile(member, io.BytesIO(body))
    return {path.suffix[1:]: path for path in folder.iterdir()}


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tar"])
@pytest.mark.parametrize("packer", PACKERS)
def test_every_compression_is_read(tmp_path: Path, plain: dict[str, Path], packer: str, kind: str) -> None:
    ending, pack = PACKERS[packer]
    path = tmp_path / f"a.{kind}{ending}"
    path.write_bytes(pack(plain[kind].read_bytes()))
    assert digest(path, *CUT) == digest(plain[kind], "--threads", "1")


@pytest.mark.parametrize("packer", [name for name in PACKERS if "brotli" not in name])  # which has no magic number
def test_the_content_says_how_it_is_compressed(tmp_path: Path, plain: dict[str, Path], packer: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PACKERS[packer][1](plain["jsonl"].read_bytes()))
    assert digest(path) == digest(plain["jsonl"])


@pytest.mark.parametrize("packer", PACKERS)
def test_a_cut_or_damaged_file_is_refused(tmp_path: Path, plain: dict[str, Path], packer: str) -> None:
    ending, pack = PACKERS[packer]
    whole = pack(plain["jsonl"].read_bytes())
    path = tmp_path / f"a.jsonl{ending}"
    for data in (whole[: len(whole) * 3 // 4], whole[:-3]):
        path.write_bytes(data)
        result = weir("scan", path, "--quiet")
        assert result.code == 4, f"{len(data)} of {len(whole)} bytes: exit {result.code}: {result.err}"
        assert str(path) in result.err


@pytest.mark.parametrize("kind", ["jsonl", "csv", "webdataset"])
@pytest.mark.parametrize("codec", UNPACKERS)
def test_what_weir_compresses_others_unpack(tmp_path: Path, plain: dict[str, Path], codec: str, kind: str) -> None:
    ending, unpack = UNPACKERS[codec]
    suffix = {"webdataset": "tar"}.get(kind, kind)
    args = ["scan", plain[suffix], "--to", kind, "--quiet"]
    result = weir(*args, "--codec", codec, "-o", tmp_path / f"a{ending}")
    if codec in ("bz2", "xz"):
        assert result.code == 2 or result.done()
        if result.code == 2:
            pytest.skip(f"weir does not write {codec}: {result.err.strip()}")
    result.done()
    weir(*args, "--codec", "none", "-o", tmp_path / "a").done()
    assert unpack((tmp_path / f"a{ending}").read_bytes()) == (tmp_path / "a").read_bytes()


def test_parts_are_named_after_their_compression(tmp_path: Path, plain: dict[str, Path]) -> None:
    for codec, ending in (("zstd", ".zst"), ("gzip", ".gz")):
        args = ["--to", "csv", "--codec", codec, "--part-size", "200KiB", "--quiet"]
        weir("scan", plain["jsonl"], *args, "-o", f"{tmp_path}/{codec}/").done()
        names = sorted(file.name for file in (tmp_path / codec).iterdir())
        assert len(names) > 1
        assert all(name.endswith(f".csv{ending}") for name in names)
        assert digest(tmp_path / codec) == digest(plain["jsonl"])
