"""What a tokenizer's peers share: texts a thousand at a time, and the digest of the ids, outside the clock."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from work import Work

from digest import Digest

BATCH = 1_000


def encode(work: Work, batch: Callable[[list[str]], list[list[int]]]) -> None:
    """Gives all texts to `batch` and tells what came of them."""
    texts = work.column("text")
    digest = Digest()
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        with work.clock():
            ids = batch(part)
        for row in ids:
            digest.add(np.asarray([len(row), *row]))
    work.tell(tokens=digest.count - len(texts), ordered=digest.ordered)
