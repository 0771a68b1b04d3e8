"""A digest of numbers that can be taken a few at a time."""

from __future__ import annotations

import numpy as np


class Digest:
    """Sums of numbers modulo 2^64: one that does not depend on their order, and one that does."""

    def __init__(self) -> None:
        self.words = self.ordered = self.count = 0

    def add(self, values: np.ndarray) -> None:
        values = values.astype(np.uint64)
        place = np.arange(self.count + 1, self.count + 1 + len(values), dtype=np.uint64)
        self.words = (self.words + int(values.sum(dtype=np.uint64))) % 2**64
        self.ordered = (self.ordered + int((values * place).sum(dtype=np.uint64))) % 2**64
        self.count += len(values)
