"""Reads what a pass over a corpus wrote and prints what is in it: `check_corpus.py KIND FOLDER`, in the virtual environment."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from digest import Digest
from touch import Sums

IGNORED = -100  # the label of padding


def batches(folder: str, *columns: str) -> Iterator[pa.RecordBatch]:
    for path in sorted(Path(folder).rglob("*.parquet")):
        yield from pq.ParquetFile(path).iter_batches(columns=list(columns) or None)


def texts(folder: str) -> dict[str, float]:
    """Texts of one length: how many, and the digests of their beginnings."""
    digest = Digest()
    for batch in batches(folder, "text"):
        column = batch["text"]
        flat = np.frombuffer(column.buffers()[2], np.uint8)
        start, end = (column.offset and offset(column, 0)), offset(column, len(column))
        width = (end - start) // len(column)
        digest.add(np.ascontiguousarray(flat[start:end].reshape(-1, width)[:, :8]).view(np.uint64).ravel())
    return {"distinct": digest.count, "words": digest.words, "ordered": digest.ordered}


def offset(column: pa.Array, row: int) -> int:
    """Where the bytes of a text begin."""
    size = np.int64 if pa.types.is_large_string(column.type) else np.int32
    return int(np.frombuffer(column.buffers()[1], size)[column.offset + row])


def ids(folder: str) -> dict[str, float]:
    """Lists of ids: how many there are, and a digest of each list's length and ids."""
    digest, rows = Digest(), 0
    for batch in batches(folder, "input_ids"):
        column = batch["input_ids"]
        flat = column.flatten().to_numpy().astype(np.int64)
        lengths = pc.list_value_length(column).to_numpy().astype(np.int64)
        starts = np.cumsum(lengths) - lengths
        digest.add(np.insert(flat, starts, lengths))
        rows += len(column)
    return {"tokens": digest.count - rows, "ordered": digest.ordered}


def packed(folder: str) -> dict[str, float]:
    """Rows of ids and labels: how many, and of those with a label, how many and their sum."""
    rows = tokens = ints = 0
    for batch in batches(folder, "input_ids", "labels"):
        values, labels = (batch[name].flatten().to_numpy() for name in ("input_ids", "labels"))
        real = labels != IGNORED
        rows, tokens, ints = rows + batch.num_rows, tokens + int(real.sum()), ints + int(values[real].sum(dtype=np.int64))
    return {"rows": rows, "tokens": tokens, "ints": ints}


def numbers(folder: str) -> dict[str, float]:
    """Rows with an id: their sums, and whether every row has left its place but for chance."""
    sums, stayed = Sums(), 0
    for batch in batches(folder):
        here = np.arange(sums.rows, sums.rows + batch.num_rows)
        stayed += int((batch["id"].to_numpy() == here).sum())
        sums.add(batch)
    return {"rows": sums.rows, "ints": sums.ints, "floats": sums.floats, "shuffled": int(stayed < 100)}


KINDS = {"texts": texts, "ids": ids, "packed": packed, "numbers": numbers}

if __name__ == "__main__":
    print(json.dumps(KINDS[sys.argv[1]](sys.argv[2])))
