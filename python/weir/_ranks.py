"""Who this process is among those that train together, and among the workers of a DataLoader."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Place(NamedTuple):
    """A rank of a world, and a worker of that rank."""

    rank: int = 0
    world: int = 1
    worker: int = 0
    workers: int = 1


def place(rank: int | None, world: int | None) -> Place:
    """This process's place: as said, else as torch.distributed knows it, else by RANK and WORLD_SIZE, else alone."""
    if (rank is None) != (world is None):
        raise ValueError("rank and world_size are given together")
    if rank is None or world is None:
        rank, world = _distributed() or _environment()
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} of a world of {world}: ranks go from 0 to {world - 1}")
    worker, workers = in_worker() or (0, 1)
    return Place(rank, world, worker, workers)


def in_worker() -> tuple[int, int] | None:
    """Number and count of a DataLoader's workers, in one of them."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data else None
    return (info.id, info.num_workers) if info else None


def _distributed() -> tuple[int, int] | None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def _environment() -> tuple[int, int]:
    world = os.environ.get("WORLD_SIZE")
    rank = os.environ.get("RANK")
    if world is None:
        return 0, 1
    if rank is None:
        raise ValueError("WORLD_SIZE is set and RANK is not: set both, or give rank= and world_size=")
    return int(rank), int(world)
