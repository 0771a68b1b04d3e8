"""The loop of a model: a matrix of 32 features in float32 and a vector of labels, batch after batch."""

from __future__ import annotations

import torch
from loop import Loop

BATCH = 1024
FEATURES = [f"f{i:02d}" for i in range(32)]
LABEL = "label"
SEED = 7
BUFFER = 10_000  # rows, where a buffer is shuffled


class MatrixLoop(Loop):
    """Adds up what it is given, which stands for the model's step."""

    def add(self, x: torch.Tensor, y: torch.Tensor) -> None:
        if not self.rows and (x.dtype, x.shape[1:], x.is_contiguous()) != (torch.float32, (len(FEATURES),), True):
            raise SystemExit(f"x is {x.dtype} of {tuple(x.shape)}, contiguous: {x.is_contiguous()}")
        self.floats += torch.sum(x, dtype=torch.float64).item()
        self.ints += int(y.sum())
        self.took(len(x))

    @property
    def shuffled(self) -> bool:
        return self.mode == "shuffled"


def stacked(columns: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrix and the labels of a batch that comes as columns."""
    return torch.stack([columns[name] for name in FEATURES], dim=1), columns[LABEL]
