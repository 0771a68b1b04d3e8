"""weir.scan: Arrow batches of as many rows as it is told, every value touched; all of them or only the first."""

from __future__ import annotations

import weir
from loop import Loop

from touch import Sums


def main() -> None:
    loop = Loop.from_args()
    sums = Sums()
    size = {"batch_size": int(loop.arguments[0])} if loop.arguments else {}
    for batch in weir.scan(loop.path, memory=loop.memory, threads=loop.threads, **size):
        sums.add(batch)
        loop.took(batch.num_rows)
        if loop.mode == "first":
            break
    loop.ints, loop.floats, loop.text_bytes = sums.ints, sums.floats, sums.text_bytes
    loop.tell(loop.cost())


main()
