"""weir.loader as all programs here call it."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import weir
from matrix import BATCH, LABEL, SEED, MatrixLoop


def batches(loop: MatrixLoop) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """One epoch, every row of it."""
    shape = {"batch_size": BATCH, "features": "f*", "label": LABEL, "drop_last": False}
    return iter(weir.loader(loop.path, shuffle=loop.shuffled, seed=SEED, memory=loop.memory, threads=loop.threads, **shape))
