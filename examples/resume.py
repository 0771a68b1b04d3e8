"""Trains with a checkpoint every few batches. Kill it whenever you like and start it again: it goes on behind the last checkpoint, and the
model becomes the one of a training that was never stopped.

    python examples/resume.py prepared/ --checkpoint model.pt
"""

from __future__ import annotations

import argparse
import os

import torch
import weir
from torch import nn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("--checkpoint", default="model.pt")
    parser.add_argument("--every", type=int, default=10, help="batches")
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    train = weir.loader(args.path, split="train", batch_size=64, shuffle=True, seed=7, features="f*", label="y", memory="256MiB")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(len(train.features), 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters())
    parts = {"model": model, "optimizer": optimizer, "data": train}
    first = 0
    if os.path.exists(args.checkpoint):
        saved = torch.load(args.checkpoint)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        first = saved["data"]["epoch"]
        print(f"goes on at sample {saved['data']['position']} of epoch {first}")

    def save() -> None:
        torch.save({name: part.state_dict() for name, part in parts.items()}, args.checkpoint + ".part")
        os.replace(args.checkpoint + ".part", args.checkpoint)

    for _ in range(first, args.epochs):
        for number, (x, y) in enumerate(train, 1):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if number % args.every == 0:
                save()
        save()
    print("done")


if __name__ == "__main__":
    main()
