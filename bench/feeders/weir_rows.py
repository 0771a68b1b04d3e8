"""weir.streaming_dataset_reader: texts in batches of Python lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import weir
from loop import Loop
from values import BATCH, weigh


def batches(loop: Loop) -> Iterator[dict[str, list[Any]]]:
    for path in loop.files():
        yield from weir.streaming_dataset_reader(path, loop.mode, BATCH, loop.threads, memory=loop.memory)


def main() -> None:
    loop = Loop.from_args()
    for batch in batches(loop):
        loop.took(len(batch["id"]))
    cost = loop.cost()
    for batch in batches(loop):
        weigh(loop, batch)
    loop.tell(cost)


main()
