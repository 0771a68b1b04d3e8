"""Who waits on a GPU: a small MLP and a ResNet trained from Parquet, fed by weir.loader and by a DataLoader over pyarrow.

Run by itself, on a machine with one GPU, as in

    python3 bench/gpu.py --weir bin/weir --data /dev/shm/gpu --workers 0,8

It needs torch, pyarrow, numpy, this repository and a weir binary, and makes its datasets where --data says unless they are there. Every
model first trains on one batch that stays on the GPU: that is as fast as it gets. A feed's time runs from its first batch on. The GPU has
waited where nothing of a step was under way: from the end of a step to the beginning of the next, by events on its own stream, so that a
copy that the model has to wait for counts. A model of little work waits for Python too, which starts its kernels one by one: the line of
the batch that stays says how much of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import weir  # noqa: E402 - of this tree

FEATURES, CLASSES, SIDE = 32, 10, 96
NAMES = [f"f{i:02d}" for i in range(FEATURES)]
WARM = 10  # steps before the clock
Pair = tuple[torch.Tensor, torch.Tensor]


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        around = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        self.around = nn.Identity() if before == after and stride == 1 else around

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.around(x))


def resnet(wide: int = 1) -> nn.Module:
    """ResNet-18 for images in rows of floats, or one so many times as wide."""
    first, *widths = [64, *(wide * width for width in (64, 128, 256, 512))]
    blocks = [Block(a, b, 1 + (i > 0)) for i, (a, b) in enumerate(pairwise([first, *widths]))]
    second = [Block(b, b, 1) for b in widths]
    return nn.Sequential(
        nn.Unflatten(1, (3, SIDE, SIDE)),
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *chain.from_iterable(zip(blocks, second, strict=True)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(widths[-1], CLASSES),
    )


def mlp(width: int = 1024) -> nn.Module:
    return nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, CLASSES))


def numbers(rng: np.random.Generator, rows: int) -> pa.Table:
    """32 features in float64 and a label."""
    columns = {name: rng.standard_normal(rows) for name in NAMES}
    return pa.table(columns | {"label": rng.integers(0, CLASSES, rows)})


def pictures(rng: np.random.Generator, rows: int) -> pa.Table:
    """Images as float32 that have been decoded and scaled, and a label."""
    pixels = rng.standard_normal(rows * 3 * SIDE * SIDE, dtype=np.float32)
    images = pa.FixedSizeListArray.from_arrays(pa.array(pixels), 3 * SIDE * SIDE)
    return pa.table({"image": images, "label": rng.integers(0, CLASSES, rows)})


@dataclass(frozen=True)
class Task:
    """A model, its data, and how both ways make batches of it."""

    name: str
    model: Callable[[], nn.Module]
    build: Callable[[np.random.Generator, int], pa.Table]
    batch: int
    group: int  # rows in a row group; a file has one
    rows: int
    loader: dict[str, Any]  # what weir.loader is told
    columns: list[str]

    def make(self, root: Path) -> Path:
        """The dataset, made unless it is there."""
        folder = root / f"{self.build.__name__}-{self.rows}"
        if folder.exists():
            return folder
        partial = root / f".{folder.name}"
        partial.mkdir(parents=True, exist_ok=True)
        for number, start in enumerate(range(0, self.rows, self.group)):
            table = self.build(np.random.default_rng([7, start]), min(self.group, self.rows - start))
            pq.write_table(table, partial / f"part-{number:04d}.parquet", use_dictionary=False, row_group_size=self.group)
        return partial.rename(folder)


def tasks(args: argparse.Namespace) -> list[Task]:
    matrix = {"features": "f*", "label": "label"}
    images = {"features": "image", "label": "label"}
    small = Task("mlp", mlp, numbers, args.batch, 131_072, args.rows, matrix, [*NAMES, "label"])
    large = Task("resnet", resnet, pictures, args.images_batch, 1024, args.images, images, ["image", "label"])
    # Models with more work for every row, which the readers can keep up with.
    wide = [replace(small, name="mlp-wide", model=partial(mlp, 8192)), replace(large, name="resnet-wide", model=partial(resnet, 4))]
    return [task for task in (small, large, *wide) if task.name in args.models]


class Rows(IterableDataset[Pair]):
    """Parquet files by pyarrow, every k-th for each of k workers, in batches of the model; what does not fill one is left out."""

    def __init__(self, folder: Path, task: Task) -> None:
        self.files, self.task = sorted(folder.iterdir()), task

    def __iter__(self) -> Iterator[Pair]:
        worker = get_worker_info()
        for path in self.files[worker.id :: worker.num_workers] if worker else self.files:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                for rows in file.iter_batches(self.task.batch, columns=self.task.columns, use_threads=worker is None):
                    if rows.num_rows == self.task.batch:
                        yield self.pair(rows)

    def pair(self, rows: pa.RecordBatch) -> Pair:
        *features, label = rows.columns
        if len(features) == 1:
            matrix = features[0].flatten().to_numpy().reshape(rows.num_rows, -1).copy()
        else:
            matrix = np.empty((rows.num_rows, len(features)), np.float32)
            for i, column in enumerate(features):
                matrix[:, i] = column.to_numpy()
        return torch.from_numpy(matrix), torch.from_numpy(label.to_numpy().copy())


class Trainer:
    """A model that takes one step a batch, and a clock on the GPU's own stream, or the CPU's where there is none."""

    def __init__(self, task: Task, device: str) -> None:
        torch.manual_seed(7)
        self.cuda = device.startswith("cuda")
        pictured = task.build is pictures
        layout = torch.channels_last if pictured else torch.contiguous_format
        self.model = task.model().to(device, memory_format=layout)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        self.loss = nn.CrossEntropyLoss()
        self.mixed = torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=pictured and self.cuda)
        self.marks: list[Any] = []  # the beginning and the end of every step

    def mark(self) -> None:
        if not self.cuda:
            self.marks.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self.marks.append(event)

    def step(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.mark()
        self.optimizer.zero_grad(set_to_none=True)
        with self.mixed:
            self.loss(self.model(x), y).backward()
        self.optimizer.step()
        self.mark()

    def result(self) -> dict[str, float]:
        """Steps a second and the share of the time between steps, the first steps left out."""
        if self.cuda:
            torch.cuda.synchronize()
        marks, self.marks = self.marks[2 * WARM :], []

        def seconds(a: Any, b: Any) -> float:
            return a.elapsed_time(b) / 1000 if self.cuda else b - a

        total = seconds(marks[0], marks[-1])
        between = sum(seconds(a, b) for a, b in zip(marks[1::2], marks[2::2], strict=False))
        return {"steps_per_second": len(marks) / 2 / total, "waited_percent": 100 * between / total}


def epochs(batches: Any) -> Iterator[Any]:
    """One epoch after another."""
    while True:
        yield from batches


def by_weir(task: Task, folder: Path, args: argparse.Namespace) -> Iterator[Pair]:
    device = args.device if args.device.startswith("cuda") else None
    train = weir.loader(
        folder, batch_size=task.batch, shuffle=True, seed=7, drop_last=True, memory=args.memory, device=device, **task.loader
    )
    return epochs(train)


def by_dataloader(task: Task, folder: Path, args: argparse.Namespace, workers: int) -> Iterator[Pair]:
    keep = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    cuda = args.device.startswith("cuda")
    for x, y in epochs(DataLoader(Rows(folder, task), batch_size=None, num_workers=workers, pin_memory=cuda, **keep)):
        yield x.to(args.device, non_blocking=True), y.to(args.device, non_blocking=True)


def train(trainer: Trainer, batches: Iterator[Pair], args: argparse.Namespace) -> dict[str, float]:
    """Steps until there were enough of them, or the time is up."""
    began = time.perf_counter()
    x, y = next(batches)
    first = time.perf_counter()
    steps = 0
    while steps < args.steps + WARM and (steps <= WARM or time.perf_counter() < first + args.seconds):
        trainer.step(x, y)
        x, y = next(batches)
        steps += 1
    return {"first_batch_seconds": first - began, "steps": steps - WARM} | trainer.result()


def staying(task: Task, args: argparse.Namespace) -> Iterator[Pair]:
    """One batch, again and again, where the model is."""
    width = 3 * SIDE * SIDE if task.build is pictures else FEATURES
    pair = torch.randn(task.batch, width, device=args.device), torch.randint(0, CLASSES, (task.batch,), device=args.device)
    return epochs([pair])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", type=Path, default=HERE.parent / "bin" / "weir", help="the binary (default bin/weir)")
    parser.add_argument("--data", type=Path, default=Path("/dev/shm/weir-gpu"), help="where the datasets are made (default %(default)s)")
    every = "mlp,resnet,mlp-wide,resnet-wide"
    parser.add_argument("--models", type=lambda text: text.split(","), default=every.split(","), help=f"default {every}")
    parser.add_argument("--workers", type=lambda text: [int(n) for n in text.split(",")], default=[0, 8], help="of the DataLoader; 0,8")
    parser.add_argument("--device", default="cuda", help="cpu tries the script where there is no GPU")
    parser.add_argument("--memory", default="1GiB", help="weir's budget (default %(default)s)")
    parser.add_argument("--rows", type=int, default=4_000_000, help="of the MLP's dataset (default %(default)s, 1.1 GB)")
    parser.add_argument("--batch", type=int, default=1024, help="of the MLP (default %(default)s)")
    parser.add_argument("--images", type=int, default=16_384, help="of the ResNet's dataset (default %(default)s, 1.8 GB)")
    parser.add_argument("--images-batch", type=int, default=256, help="of the ResNet (default %(default)s)")
    parser.add_argument("--steps", type=int, default=4000, help="at most (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=15, help="at most, for each line of the result (default %(default)s)")
    return parser.parse_args()


def main() -> None:
    args = parse()
    os.environ["WEIR_BIN"] = str(args.weir.resolve())
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    where = torch.cuda.get_device_name() if args.device.startswith("cuda") else "CPU"
    print(f"{where}, {os.cpu_count()} cores, torch {torch.__version__}, pyarrow {pa.__version__}", flush=True)
    for task in tasks(args):
        folder = task.make(args.data)
        feeds: dict[str, Callable[[], Iterator[Pair]]] = {"a batch that stays": lambda task=task: staying(task, args)}
        feeds["weir.loader"] = lambda task=task, folder=folder: by_weir(task, folder, args)
        for workers in args.workers:
            feeds[f"DataLoader {workers} workers"] = lambda task=task, folder=folder, n=workers: by_dataloader(task, folder, args, n)
        for name, feed in feeds.items():
            batches = feed()
            found = train(Trainer(task, args.device), batches, args)
            batches.close()
            rows = found["steps_per_second"] * task.batch
            line = {"model": task.name, "fed_by": name, "batch": task.batch, "rows_per_second": round(rows)}
            print(json.dumps(line | {key: round(value, 3) for key, value in found.items()}), flush=True)


if __name__ == "__main__":
    main()
