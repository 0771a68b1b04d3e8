"""Datasets for loaders, in which every row knows its number, and what loaders make of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from binary import BINARY

PACKAGE = Path(__file__).resolve().parent.parent / "python"
sys.path.insert(0, str(PACKAGE))
os.environ["WEIR_BIN"] = str(BINARY)

import weir  # noqa: E402

MEMORY = "96MiB"


def dataset(folder: Path, rows: int, *, files: int = 3, group: int = 7, features: int = 24) -> Path:
    """Parquet files of small row groups: id, f0 …, and y, which follow from the id."""
    folder.mkdir(parents=True)
    for number, ids in enumerate(np.array_split(np.arange(rows), files)):
        columns = {"id": ids} | {f"f{i}": (ids * 10 + i).astype(np.float32) for i in range(features)} | {"y": ids % 5}
        pq.write_table(pa.table(columns), folder / f"part-{number}.parquet", row_group_size=group)
    return folder


def load(path: Any, **options: Any) -> weir.Loader:
    """A loader of matrices whose first column is the id; its window holds some row groups."""
    return weir.loader(path, **{"memory": MEMORY, "features": ["id", "f*"], "label": "y", "output": "numpy", "window": 4096, **options})


def ids(batch: Any) -> list[int]:
    """The rows of a batch, which must be whole."""
    x, y = (np.asarray(part) for part in batch)
    number = x[:, 0].astype(np.int64)
    assert x.dtype == np.float32 and x.flags.c_contiguous
    assert (x[:, 1:] == (number[:, None] * 10 + np.arange(x.shape[1] - 1)).astype(np.float32)).all()
    assert (y == number % 5).all()
    return number.tolist()


def epoch(loader: Iterable[Any]) -> list[list[int]]:
    """The rows of each batch of an iteration."""
    return [ids(batch) for batch in loader]


def flat(batches: Iterable[list[int]]) -> list[int]:
    return [i for batch in batches for i in batch]


def child(loader: weir.Loader) -> int:
    """The process behind a loader."""
    return loader._transport._child._process.pid


def children(pid: int | None = None) -> list[int]:
    """The processes that a process has started and that run."""
    own = pid or os.getpid()
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == own and state != "Z":
            found.append(int(stat.parent.name))
    return found
