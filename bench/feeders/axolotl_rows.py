"""fast-axolotl: a file of texts in batches of Python lists. Structs in lists of Parquet come as text, which is not weighed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fast_axolotl import streaming_dataset_reader
from loop import Loop
from values import BATCH, weigh


def batches(loop: Loop) -> Iterator[dict[str, list[Any]]]:
    for path in loop.files():
        yield from streaming_dataset_reader(path, loop.mode, BATCH, loop.threads)


def main() -> None:
    loop = Loop.from_args()
    for batch in batches(loop):
        loop.took(len(batch["id"]))
    cost = loop.cost()
    for batch in batches(loop):
        weigh(loop, batch)
    loop.tell(cost)


main()
