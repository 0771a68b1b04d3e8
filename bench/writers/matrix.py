"""Rows of numbers as samples: x, 32 features in float32, and y, the label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from rows import FLOATS
from writers import only

STEP = 8192  # rows that are held


def samples(source: Path) -> Iterator[dict[str, Any]]:
    """The samples of a Parquet dataset, in order."""
    with pq.ParquetFile(only(source)) as file:
        for rows in file.iter_batches(STEP):
            x = np.stack([rows.column(f"f{i:02d}").to_numpy() for i in range(FLOATS)], axis=1).astype(np.float32)
            for features, label in zip(x, rows.column("label").to_pylist(), strict=True):
                yield {"x": features, "y": label}
