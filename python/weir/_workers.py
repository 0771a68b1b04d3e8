"""What the workers of a DataLoader must agree on: the epoch.

A worker is a process that has the loader as it was when the worker began, and a DataLoader starts its workers anew for every epoch. So the
loader counts the epochs in memory that all its copies share, one cell for each worker of each number of workers: all workers of a number
begin every epoch once.
"""

from __future__ import annotations

from typing import Any

MOST = 64  # workers; each has a child process of its own, two are many


class Epochs:
    """The epoch that each worker begins next."""

    def __init__(self, cells: Any = None) -> None:
        if cells is None:
            import torch  # noqa: PLC0415 - only where it is wanted

            cells = torch.zeros(1 + MOST * (MOST + 1) // 2, dtype=torch.int64).share_memory_()
        self.cells = cells  # the first says whether workers have begun something

    def __reduce__(self) -> tuple[Any, ...]:
        return Epochs, (self.cells,)

    def get(self, worker: int, workers: int) -> int:
        return int(self.cells[_cell(worker, workers)])

    def put(self, worker: int, workers: int, epoch: int) -> None:
        self.cells[_cell(worker, workers)] = epoch

    def begin(self, worker: int, workers: int, epoch: int) -> None:
        """A worker begins an epoch."""
        self.put(worker, workers, epoch + 1)
        self.cells[0] = 1

    def set(self, epoch: int) -> None:
        """For all workers, from outside of them."""
        self.cells[:] = epoch
        self.cells[0] = 0

    def busy(self) -> bool:
        """Whether workers have begun an epoch since set."""
        return bool(self.cells[0])


def _cell(worker: int, workers: int) -> int:
    if workers > MOST:
        raise ValueError(f"num_workers={workers}: a loader is divided among {MOST} workers at most, and needs none")
    return 1 + workers * (workers - 1) // 2 + worker
