"""Runs in the environment of mosaicml-streaming: writes MDS of every kind with its MDSWriter, or reads directories with StreamingDataset.

mds_real.py write FOLDER      # directories below FOLDER/mds, their rows as weir should see them in FOLDER/want/NAME.arrow
mds_real.py read FOLDER       # prints the rows of every directory in FOLDER as JSON, their hashes checked
"""

from __future__ import annotations

import base64
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image
from pyarrow import ipc
from streaming import MDSWriter, StreamingDataset
from streaming.base.hashing import get_hashes

ROWS = 40
SHARD = 1 << 12
COMPRESSIONS = ["br", "br:3", "bz2", "bz2:1", "gz", "gz:9", "snappy", "zstd", "zstd:9"]
NUMBERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
PIXELS = pa.struct([("width", pa.uint32()), ("height", pa.uint32()), ("mode", pa.string()), ("data", pa.binary())])
ANYTHING = pa.struct([("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.binary())])
Case = tuple[Callable[[int], Any], pa.DataType, Callable[[Any], Any]]


def filled(kind: pa.DataType) -> pa.DataType:
    """The type without nulls inside, which MDS has not."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, filled(f.type), nullable=False) for f in kind])
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        item = pa.field("item", filled(kind.value_type), nullable=False)
        return pa.list_(item, kind.list_size) if pa.types.is_fixed_size_list(kind) else pa.list_(item)
    return kind


def image(i: int, mode: str = "RGB") -> Image.Image:
    return Image.fromarray(np.random.default_rng(i).integers(0, 256, (5 + i % 4, 7, 3), np.uint8)).convert(mode)


def encoded(i: int, kind: str) -> Image.Image:
    """An image as it is opened from a file, whose bytes the encodings keep."""
    out = io.BytesIO()
    image(i).save(out, kind)
    return Image.open(io.BytesIO(out.getvalue()))


def raw(picture: Image.Image) -> dict[str, Any]:
    return {"width": picture.width, "height": picture.height, "mode": picture.mode, "data": picture.tobytes()}


def stored(encoding: str) -> Callable[[Any], bytes]:
    """What is stored for images: the bytes the writer itself makes of them."""
    from streaming.base.format.mds.encodings import mds_encode  # noqa: PLC0415

    return lambda value: mds_encode(encoding, value)


def typed(kind: str, *shape: int) -> Callable[[int], np.ndarray]:
    return lambda i: np.arange(i, i + int(np.prod(shape)), dtype=kind).reshape(shape)


def growing(kind: str) -> Callable[[int], np.ndarray]:
    return lambda i: np.arange(2 * (1 + i % 5), dtype=kind).reshape(2, -1)


def of_shape(array: np.ndarray) -> dict[str, Any]:
    return {"shape": list(array.shape), "data": array.ravel().tolist()}


def of_anything(array: np.ndarray) -> dict[str, Any]:
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": array.tobytes()}


def cases() -> Iterator[tuple[str, Case]]:
    """Every encoding: a value a row, what weir reads it as, and the value weir should give."""
    yield "bytes", (lambda i: b"\x00\xff" * i, pa.binary(), bytes)
    yield "str", (lambda i: "Grüße 🎏" * (i % 4), pa.string(), str)
    yield "int", (lambda i: (-1) ** i * i**11, pa.int64(), int)
    for kind in NUMBERS:
        yield kind, (lambda i, kind=kind: np.dtype(kind).type(i * 3 % 120), pa.type_for_alias(kind), lambda v: v.item())
        yield f"ndarray:{kind}", (growing(kind), of_type(kind), of_shape)
        yield f"ndarray:{kind}:2,3", (typed(kind, 2, 3), pa.list_(pa.type_for_alias(kind), 6), lambda v: v.ravel().tolist())
    yield "ndarray", (growing("int16"), ANYTHING, of_anything)
    yield "str_int", (lambda i: 10**30 + i, pa.string(), str)
    yield "str_float", (lambda i: i / 7, pa.string(), str)
    yield "str_decimal", (lambda i: Decimal(i) / 8, pa.string(), str)
    yield "json", (lambda i: {"a": [i, None, "ü"], "b": {}}, pa.string(), json.dumps)
    yield "pil", (lambda i: image(i, ["RGB", "L"][i % 2]), PIXELS, raw)
    yield "list[pil]", (lambda i: [image(i + k) for k in range(i % 3)], pa.list_(PIXELS), lambda v: list(map(raw, v)))
    for kind in ("jpeg", "png"):
        yield kind, (lambda i, kind=kind: encoded(i, kind), pa.binary(), stored(kind))
    for name in ("jpeg_array", "jpegarray"):
        yield name, (lambda i: [stored("jpeg")(encoded(i + k, "jpeg")) for k in range(1 + i % 3)], pa.list_(pa.binary()), list)
    for name, kind in (("list[jpeg]", "jpeg"), ("list[png]", "png")):
        values = lambda i, kind=kind: [encoded(i + k, kind) for k in range(1 + i % 3)]  # noqa: E731
        yield name, (values, pa.list_(pa.binary()), lambda v, kind=kind: list(map(stored(kind), v)))


def of_type(kind: str) -> pa.DataType:
    return pa.struct([("shape", pa.list_(pa.int64())), ("data", pa.list_(pa.type_for_alias(kind)))])


def write(folder: Path, name: str, columns: dict[str, str], rows: list[dict[str, Any]], want: pa.Table, **how: Any) -> None:
    with MDSWriter(out=str(folder / "mds" / name), columns=columns, progress_bar=False, **how) as out:
        for row in rows:
            out.write(row)
    (folder / "want").mkdir(exist_ok=True)
    with ipc.new_file(folder / "want" / f"{name.replace('/', ' ')}.arrow", want.schema) as file:
        file.write_table(want)


def write_all(folder: Path) -> None:
    """Every encoding alone, then every compression and every hash with some columns, then splits and what must be refused."""
    for encoding, (value, kind, seen) in cases():
        values = [value(i) for i in range(ROWS)]
        want = pa.table({"id": pa.array(range(ROWS)), "value": pa.array([seen(v) for v in values], filled(kind))})
        rows = [{"id": i, "value": v} for i, v in enumerate(values)]
        write(folder, f"encoding-{encoding}", {"id": "int", "value": encoding}, rows, want, size_limit=SHARD)
    plain = {"bytes": "bytes", "float32": "float32", "int": "int", "str": "str", "tokens": "ndarray:uint16"}
    rows = []
    for i in range(300):
        tokens = np.arange(i + 1, dtype=np.uint16)
        rows.append({"int": i, "str": f"text {i} " * 20, "float32": np.float32(i / 3), "bytes": bytes(i), "tokens": tokens})
    kinds = {"bytes": pa.binary(), "float32": pa.float32(), "int": pa.int64(), "str": pa.string(), "tokens": of_type("uint16")}
    columns = {key: [of_shape(row[key]) if key == "tokens" else row[key] for row in rows] for key in kinds}
    want = pa.table({key: pa.array(columns[key], filled(kind)) for key, kind in kinds.items()})
    for compression in [None, *COMPRESSIONS]:
        write(folder, f"packed-{compression}", plain, rows, want, compression=compression, hashes=["sha1", "xxh64"], size_limit=1 << 14)
    for name in sorted(get_hashes()):
        write(folder, f"hashed-{name}", plain, rows[:50], want[:50], hashes=[name])
    for split in ("train", "val"):
        write(folder, f"splits/{split}", plain, rows[:20], want[:20])
    fewer = {key: encoding for key, encoding in plain.items() if key != "tokens"}
    without = [{key: row[key] for key in fewer} for row in rows]
    write(folder, "plain", fewer, without, want.select(list(fewer)), hashes=["sha1", "xxh64"], size_limit=1 << 14)
    write(folder, "pickled", {"id": "int", "value": "pkl"}, [{"id": 1, "value": {1}}], pa.table({"id": [1]}))


def shown(value: Any) -> Any:
    """A value as JSON has it; bytes are base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value) if isinstance(value, Decimal) else value


def read_all(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of every directory, each fetched as if from afar, so that hashes are checked."""
    found = {}
    for directory in sorted(folder.iterdir()):
        hashes = json.loads((directory / "index.json").read_text())["shards"][0]["hashes"]
        with tempfile.TemporaryDirectory() as local:
            data = StreamingDataset(remote=str(directory), local=local, batch_size=1, validate_hash=hashes[0] if hashes else None)
            found[directory.name] = [{key: shown(value) for key, value in data[i].items()} for i in range(len(data))]
    return found


if __name__ == "__main__":
    what, where = sys.argv[1], Path(sys.argv[2])
    if what == "write":
        write_all(where)
    else:
        print(json.dumps(read_all(where)))
