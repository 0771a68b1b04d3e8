"""weir.loader: batches of x and y, all of them or only the first."""

from __future__ import annotations

from matrix import MatrixLoop
from weir_batches import batches


def main() -> None:
    loop = MatrixLoop.from_args()
    for x, y in batches(loop):
        loop.add(x, y)
        if loop.mode == "first":
            break
    loop.tell(loop.cost())


main()
