"""MDS both ways with mosaicml-streaming itself, which runs in an environment of its own (see mds_real.py)."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import environment
from binary import table, weir
from compare import differences

REAL = Path(__file__).with_name("mds_real.py")
PATIENCE = 300  # seconds; importing torch is most of them
NUMBERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
ENCODINGS = [
    "bytes", "str", "int", "str_int", "str_float", "str_decimal", "json", "ndarray", "pil", "jpeg", "png", "list[pil]", "list[jpeg]",
    "list[png]", "jpeg_array", "jpegarray", *NUMBERS, *(f"ndarray:{n}" for n in NUMBERS), *(f"ndarray:{n}:2,3" for n in NUMBERS),
]  # fmt: skip
COMPRESSIONS = ["None", "br", "br:3", "bz2", "bz2:1", "gz", "gz:9", "snappy", "zstd", "zstd:9"]
HASHES = [
    "blake2b", "blake2s", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512",
    "xxh128", "xxh32", "xxh3_128", "xxh3_64", "xxh64",
]  # fmt: skip


def real(what: str, folder: Path) -> str:
    """One run of the real library."""
    try:
        python = environment.python("mds")
    except (subprocess.CalledProcessError, SystemExit) as why:
        pytest.skip(f"mosaicml-streaming cannot be installed here: {why}")
    run = [str(python), str(REAL), what, str(folder)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories of every kind, and their rows as weir should see them."""
    folder = tmp_path_factory.mktemp("mds")
    real("write", folder)
    return folder


def wanted(made: Path, name: str) -> pa.Table:
    return ipc.open_file(str(made / "want" / f"{name}.arrow")).read_all()


def check(made: Path, name: str) -> None:
    want = wanted(made, name)
    assert differences(table(made / "mds" / name, "--threads", "1"), want) == []
    assert differences(table(made / "mds" / name, "--threads", "4", "--batch-size", "7", "--memory", "64MiB"), want) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_is_read(made: Path, encoding: str) -> None:
    check(made, f"encoding-{encoding}")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_compression_is_read(made: Path, compression: str) -> None:
    check(made, f"packed-{compression}")


@pytest.mark.parametrize("name", HASHES)
def test_every_hash_is_checked(made: Path, tmp_path: Path, name: str) -> None:
    check(made, f"hashed-{name}")
    copied = tmp_path / "copy"
    copied.mkdir()
    for file in (made / "mds" / f"hashed-{name}").iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    shard = bytearray((copied / "shard.00000.mds").read_bytes())
    shard[-1] ^= 1
    (copied / "shard.00000.mds").write_bytes(shard)
    result = weir("scan", copied, "--quiet")
    assert result.code == 4, result.err
    assert "shard.00000.mds" in result.err and name in result.err


def test_all_that_the_library_has_is_covered(made: Path) -> None:
    found = {file.name for file in (made / "mds").iterdir()}
    listed = {f"encoding-{e}" for e in ENCODINGS} | {f"packed-{c}" for c in COMPRESSIONS} | {f"hashed-{h}" for h in HASHES}
    assert found == listed | {"splits", "pickled", "plain"}


def test_splits_are_read_one_after_another(made: Path) -> None:
    want = pa.concat_tables([wanted(made, "splits train"), wanted(made, "splits val")])
    assert differences(table(made / "mds" / "splits"), want) == []
    assert differences(table(made / "mds" / "splits" / "val"), wanted(made, "splits val")) == []


def test_pickles_are_refused_and_the_other_columns_read(made: Path) -> None:
    result = weir("scan", made / "mds" / "pickled", "--quiet")
    assert result.code == 2, result.err
    assert '"value"' in result.err
    assert table(made / "mds" / "pickled", "--columns", "id").to_pydict() == {"id": [1]}


def test_shards_of_plain_encodings_are_the_same_bytes(made: Path, tmp_path: Path) -> None:
    source = made / "mds" / "plain"
    args = ["--to", "mds", "--hashes", "sha1,xxh64", "--part-size", str(1 << 14), "--quiet"]
    weir("scan", source, *args, "-o", f"{tmp_path}/out/").done()
    names = sorted(file.name for file in source.iterdir())
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == names
    for name in names:
        if name == "index.json":
            assert json.loads((tmp_path / "out" / name).read_text()) == json.loads((source / name).read_text())
        else:
            assert (tmp_path / "out" / name).read_bytes() == (source / name).read_bytes()


def hard() -> pa.Table:
    """A column of every kind that weir writes as MDS."""
    count = 500
    return pa.table(
        {
            "id": pa.array(range(count)),
            "small": pa.array([i % 100 for i in range(count)], pa.uint8()),
            "half": pa.array([i / 2 for i in range(count)], pa.float16()),
            "real": pa.array([i / 3 for i in range(count)], pa.float64()),
            "flag": pa.array([i % 2 == 0 for i in range(count)]),
            "text": pa.array([f"Grüße {i} 🎏" * (i % 5) for i in range(count)]),
            "data": pa.array([bytes([i % 256]) * (i % 90) for i in range(count)], pa.binary()),
            "money": pa.array(range(count), pa.int64()).cast(pa.decimal128(25, 2)),
            "day": pa.array(range(count), pa.int32()).cast(pa.date32()),
            "tokens": pa.array([[i, i + 1][: 1 + i % 2] for i in range(count)], pa.list_(pa.int32())),
            "pair": pa.array([[i, i + 0.5] for i in range(count)], pa.list_(pa.float32(), 2)),
            "chat": pa.array([[{"role": "user", "n": None if i % 2 else i}] * (i % 3) for i in range(count)]),
        }
    )


def as_read(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the real library gives it back, in the JSON of mds_real.py."""
    changed = {
        "data": base64.b64encode(row["data"]).decode(),
        "money": str(row["money"]),
        "day": row["day"].isoformat(),
        "flag": int(row["flag"]),
    }
    return row | changed


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Directories that weir wrote, with every compression and with every hash, as StreamingDataset reads them."""
    folder = tmp_path_factory.mktemp("written")
    pq.write_table(hard(), folder / "source.parquet")
    for i, hash_name in enumerate(HASHES):
        codec = [c for c in COMPRESSIONS if c != "None"][i % 9]
        args = ["--to", "mds", "--hashes", hash_name, "--part-size", "16KiB", "--quiet", "--codec", codec.replace("None", "none")]
        weir("scan", folder / "source.parquet", *args, "-o", f"{folder}/mds/{hash_name}/").done()
    weir("scan", folder / "source.parquet", "--to", "mds", "--quiet", "-o", f"{folder}/mds/plain/").done()
    read: dict[str, list[dict[str, Any]]] = json.loads(real("read", folder / "mds"))
    return read


@pytest.mark.parametrize("name", [*HASHES, "plain"])
def test_what_weir_writes_is_read_by_streaming_with_its_hashes(written: dict[str, list[dict[str, Any]]], name: str) -> None:
    want = [as_read(row) for row in hard().to_pylist()]
    assert len(written[name]) == len(want)
    for got, expected in zip(written[name], want, strict=True):
        assert got == expected


def test_a_null_is_refused_with_its_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, None]}), tmp_path / "a.parquet")
    result = weir("scan", tmp_path / "a.parquet", "--to", "mds", "-o", f"{tmp_path}/out/", "--quiet")
    assert result.code == 1, result.err
    assert '"a"' in result.err and "null" in result.err
    assert not (tmp_path / "out" / "index.json").exists()
