"""A file as `zstd` and `gzip` compress it by default: one zstd frame, one gzip member of level 6."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import IO

import pyarrow as pa

from datasets import Spec
from writers import only, part


def opened(path: Path, codec: str) -> IO[bytes] | pa.CompressedOutputStream:
    if codec == "gz":
        return gzip.GzipFile(path.name, "wb", compresslevel=6, fileobj=path.open("wb"), mtime=0)
    return pa.CompressedOutputStream(str(path), "zstd")


def derive(spec: Spec, source: Path, folder: Path) -> None:
    with only(source).open("rb") as plain, opened(part(folder, f"{spec.form}.{spec.codec}"), spec.codec) as out:
        shutil.copyfileobj(plain, out, 1 << 20)
