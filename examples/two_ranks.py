"""Trains on several processes together. Each gets its share of every step; all get the same number of batches, so none waits for good.

    torchrun --nproc-per-node 2 examples/two_ranks.py prepared/
"""

from __future__ import annotations

import sys

import torch
import weir
from torch import distributed, nn


def main() -> None:
    distributed.init_process_group("gloo")
    rank, world = distributed.get_rank(), distributed.get_world_size()
    train = weir.loader(sys.argv[1], split="train", batch_size=64, shuffle=True, seed=7, features="f*", label="y", memory="256MiB")

    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(len(train.features), 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        seen = torch.zeros(1, dtype=torch.int64)
        for x, y in train:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            seen += len(x) - train.repeated
        distributed.all_reduce(seen)
        if rank == 0:
            print(f"epoch {epoch}: {int(seen)} of {train.rows} samples, {len(train)} batches on each of {world} ranks")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
