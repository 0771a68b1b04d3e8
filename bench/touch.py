"""Touches every value of Arrow data: the work that the pyarrow peers do with each batch, and how manifests get their sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass
class Sums:
    """What a scan found; equal for every program that read every value."""

    rows: int = 0
    ints: int = 0
    floats: float = 0.0
    text_bytes: int = 0
    arrow_bytes: int = 0  # known to who makes the rows
    mix: int = 0  # sum of the bytes of all texts as 64-bit words: they were read, not only their offsets

    def add(self, data: pa.RecordBatch | pa.Table) -> None:
        self.rows += data.num_rows
        for column in data.columns:
            for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                self.add_array(chunk)

    def add_array(self, array: pa.Array) -> None:
        kind = array.type
        if pa.types.is_integer(kind):
            self.ints += pc.sum(array).as_py() or 0
        elif pa.types.is_floating(kind):
            self.floats += pc.sum(array).as_py() or 0.0
        elif pa.types.is_string(kind) or pa.types.is_binary(kind):
            self.add_text(array)
        elif pa.types.is_list(kind):
            self.add_array(array.flatten())
        elif pa.types.is_struct(kind):
            for child in array.flatten():
                self.add_array(child)
        else:
            raise TypeError(f"no sum for {kind}")

    def add_text(self, array: pa.Array) -> None:
        _, offsets, data = array.buffers()
        if data is None or not len(array):
            return
        ends = np.frombuffer(offsets, dtype=np.int32)
        low, high = int(ends[array.offset]), int(ends[array.offset + len(array)])
        self.text_bytes += high - low
        words = np.frombuffer(data, dtype=np.uint8)[low : low + (high - low) // 8 * 8].view(np.uint64)
        self.mix = (self.mix + int(words.sum(dtype=np.uint64))) & (2**64 - 1)
