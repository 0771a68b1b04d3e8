"""weir.streaming_dataset_reader: texts as Arrow batches, every value touched inside the clock, or as Python values, weighed after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import weir
from loop import Loop
from touch import Sums
from values import BATCH, weigh


def batches(loop: Loop, **options: Any) -> Iterator[Any]:
    kind = {"dataset_type": loop.mode, "batch_size": BATCH, "num_threads": loop.threads, "memory": loop.memory}
    for path in loop.files():
        yield from weir.streaming_dataset_reader(path, **kind, **options)


def main() -> None:
    loop = Loop.from_args()
    if "dicts" in loop.arguments:
        for batch in batches(loop):
            loop.took(len(batch["id"]))
        cost = loop.cost()
        for batch in batches(loop):
            weigh(loop, batch)
    else:
        sums = Sums()
        for batch in batches(loop, arrow=True):
            sums.add(batch)
            loop.took(batch.num_rows)
        cost = loop.cost()
        loop.ints, loop.text_bytes = sums.ints, sums.text_bytes
    loop.tell(cost)


main()
