"""weir.loader: batches of x and y, all of them or only the first."""

from __future__ import annotations

import weir
from matrix import BATCH, LABEL, SEED, MatrixLoop


def main() -> None:
    loop = MatrixLoop.from_args()
    batches = weir.loader(
        loop.path,
        batch_size=BATCH,
        features="f*",
        label=LABEL,
        shuffle=loop.shuffled,
        seed=SEED,
        drop_last=False,
        memory=loop.memory,
        threads=loop.threads,
    )
    for x, y in batches:
        loop.add(x, y)
        if loop.mode == "first":
            break
    loop.tell(loop.cost())


main()
