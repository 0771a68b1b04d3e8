"""Rows of the datasets whose rows are samples: bytes with a few numbers and words beside them. Builders as in rows.py."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
from PIL import Image

from rows import generator, ids, prose

CLASSES = 10


def noise(rng: np.random.Generator, sizes: Iterable[int]) -> pa.Array:
    """Incompressible bytes, as those of images and sound are."""
    return pa.array([rng.bytes(size) for size in sizes], pa.binary())


def samples(start: int, count: int, _: float) -> pa.Table:
    """An id, a text of about 40 bytes and a number."""
    rng = generator(5, start)
    texts = prose(rng, rng.integers(20, 60, count))
    return pa.table({"id": ids(start, count), "text": texts, "x": pa.array(rng.random(count, dtype=np.float32))})


def blobs(start: int, count: int, _: float) -> pa.Table:
    """An id and about 50 KB."""
    rng = generator(6, start)
    return pa.table({"id": ids(start, count), "data": noise(rng, rng.integers(45_000, 55_000, count))})


def webdataset(start: int, count: int, _: float) -> pa.Table:
    """Samples of a tar: about 10 KB for an image, a class and a caption."""
    rng = generator(7, start)
    captions = prose(rng, rng.integers(40, 200, count)).to_pylist()
    return pa.table(
        {
            "__key__": pa.array([f"{i:08d}" for i in range(start, start + count)]),
            "cls": pa.array([b"%d" % label for label in rng.integers(0, CLASSES, count)], pa.binary()),
            "jpg": noise(rng, rng.integers(9_000, 11_000, count)),
            "json": pa.array([json.dumps({"caption": caption}).encode() for caption in captions], pa.binary()),
        }
    )


def examples(start: int, count: int, _: float) -> pa.Table:
    """An id, a label, eight numbers and a name; every twentieth has 10 KB too."""
    rng = generator(8, start)
    return pa.table(
        {
            "id": ids(start, count),
            "label": pa.array(rng.integers(0, CLASSES, count)),
            "name": prose(rng, rng.integers(20, 60, count)).cast(pa.binary()),
            "x": pa.array(list(rng.random((count, 8), dtype=np.float32)), pa.list_(pa.float32())),
            "blob": pa.array([rng.bytes(10_000) if i % 20 == 0 else None for i in range(start, start + count)], pa.binary()),
        }
    )


def picture(rng: np.random.Generator, width: int, height: int) -> bytes:
    """A JPEG of soft shapes with some grain."""
    shapes = Image.fromarray(rng.integers(0, 256, (9, 12, 3), dtype=np.uint8)).resize((width, height), Image.Resampling.BICUBIC)
    grain = rng.integers(0, 24, (height, width, 1), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(np.asarray(shapes) // 2 + grain).save(out, "JPEG", quality=85)
    return out.getvalue()


def images(start: int, count: int, _: float) -> pa.Table:
    """JPEGs of 320 to 800 pixels a side, with their path, width and height."""
    rng = generator(9, start)
    sides = rng.integers(320, 801, (count, 2), dtype=np.int32)
    return pa.table(
        {
            "path": pa.array([f"class-{i % CLASSES}/{i:08d}.jpg" for i in range(start, start + count)]),
            "image": pa.array([picture(rng, int(width), int(height)) for width, height in sides], pa.binary()),
            "width": pa.array(sides[:, 0]),
            "height": pa.array(sides[:, 1]),
        }
    )


BUILDERS: dict[str, Callable[[int, int, float], pa.Table]] = {
    "samples": samples,
    "blobs": blobs,
    "webdataset": webdataset,
    "examples": examples,
    "images": images,
}
