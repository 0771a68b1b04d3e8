"""Trains a small network on what `weir prepare` wrote, and measures it on the validation split.

    weir prepare raw/ -o prepared/ --label y --scale 'f*=standard'
    python examples/train_mlp.py prepared/ --features 'f*' --label y
"""

from __future__ import annotations

import argparse

import torch
import weir
from torch import nn


def main() -> None:
    args = arguments()
    columns = {"features": args.features, "label": args.label, "memory": args.memory}
    train = weir.loader(args.path, split="train", batch_size=args.batch_size, shuffle=True, seed=7, drop_last=True, **columns)
    val = weir.loader(args.path, split="val", batch_size=4096, **columns)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(len(train.features), 64), nn.ReLU(), nn.Linear(64, args.classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for x, y in train:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            right = sum(int((model(x).argmax(1) == y).sum()) for x, y in val)
        print(f"epoch {epoch}: {right / val.rows:.1%} of {val.rows} right")
    print(train.report())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("--features", default="f*")
    parser.add_argument("--label", default="y")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--memory", default="256MiB")
    return parser.parse_args()


if __name__ == "__main__":
    main()
