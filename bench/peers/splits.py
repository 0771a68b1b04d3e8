"""What the peers that prepare a dataset share: the features, and which split a row is in."""

from __future__ import annotations

import numpy as np

FEATURES = [f"f{i:02d}" for i in range(32)]
SEED = 7
WEIGHTS = {"train": 8, "val": 1, "test": 1}
SPLITS = list(WEIGHTS)

Masks = dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]


def masks(rng: np.random.Generator, rows: int) -> Masks:
    """Which of the next rows are in which split; the same on every pass that starts with the same generator."""
    drawn = rng.integers(0, sum(WEIGHTS.values()), rows, dtype=np.uint8)
    return {"train": drawn < WEIGHTS["train"], "val": drawn == WEIGHTS["train"], "test": drawn > WEIGHTS["train"]}
