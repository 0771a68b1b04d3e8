"""Checks a prepared dataset: `python check_prepared.py FOLDER MANIFEST [WEIR]`; prints what is wrong with it and exits 1, or nothing.

FOLDER has a folder a split and the parameters of its maker, MANIFEST is that of the dataset it was made of, WEIR is the manifest.json
that weir wrote for the same dataset: splits are drawn by chance, so that parameters agree but for what chance explains.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peers.splits import FEATURES, WEIGHTS

ROUNDING = 1e-9  # of means and deviations that are exact but for rounding
CHANCE = 6.0  # deviations of a sample that are chance; one in 500 million is beyond

Params = dict[str, tuple[float, float]]  # mean and deviation of each feature


class Wrong(Exception):
    """What is wrong with a prepared dataset."""


@dataclass
class Split:
    """What is in the files of one split."""

    rows: int = 0
    ints: int = 0  # sum of all labels
    text_bytes: int = 0  # of all categories
    sums: np.ndarray = field(default_factory=lambda: np.zeros(len(FEATURES)))
    squares: np.ndarray = field(default_factory=lambda: np.zeros(len(FEATURES)))

    @classmethod
    def read(cls, folder: Path) -> Split:
        split = cls()
        for path in sorted(folder.glob("*.parquet")):
            with pq.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches():
                    for i, name in enumerate(FEATURES):
                        values = batch.column(name).to_numpy()  # raises where one is null
                        split.sums[i] += values.sum()
                        split.squares[i] += values @ values
                    split.rows += batch.num_rows
                    split.ints += pc.sum(batch.column("label")).as_py()
                    split.text_bytes += pc.sum(pc.binary_length(batch.column("category"))).as_py()
        return split

    def check_scaled(self, name: str, tolerance: float) -> None:
        """Means must be 0 and deviations 1."""
        means = self.sums / self.rows
        for feature, mean, square in zip(FEATURES, means, self.squares / self.rows, strict=True):
            deviation = math.sqrt(square - mean * mean)
            if not (abs(mean) <= tolerance and abs(deviation - 1) <= tolerance):
                raise Wrong(f"{name}: {feature} has the mean {mean:.3g} and the deviation {deviation:.9g}")


def check_whole(splits: dict[str, Split], known: dict[str, int]) -> None:
    """Every row must be in one of the splits, with its label and category."""
    for name in ("rows", "ints", "text_bytes"):
        found = sum(getattr(split, name) for split in splits.values())
        if found != known[name]:
            raise Wrong(f"{name} {found} instead of {known[name]}")


def check_splits(splits: dict[str, Split], rows: int) -> None:
    """80% must be train, standardised to the last digits; the others are as chance has them."""
    if list(splits) == ["all"]:
        return splits["all"].check_scaled("all", ROUNDING)
    if set(splits) != set(WEIGHTS):
        raise Wrong(f"the splits are {', '.join(splits)}")
    for name, split in splits.items():
        share = WEIGHTS[name] / sum(WEIGHTS.values())
        if abs(split.rows - share * rows) > CHANCE * math.sqrt(share * (1 - share) * rows):
            raise Wrong(f"{name} has {split.rows} of {rows} rows")
        split.check_scaled(name, ROUNDING if name == "train" else 1.2 * CHANCE / math.sqrt(split.rows))
    return None


def check_params(own: Params, other: Params, rows: int) -> None:
    """Two samples of 80% of the rows: the difference of their means deviates by sqrt(2 * 0.2 / 0.8 / rows) deviations."""
    tolerance = CHANCE * math.sqrt(0.5 / rows)
    for name in FEATURES:
        (mean, deviation), (other_mean, other_deviation) = own[name], other[name]
        if not (abs(mean - other_mean) <= tolerance * other_deviation and abs(deviation / other_deviation - 1) <= tolerance):
            weirs = f"those of weir are {other_mean:.9g} and {other_deviation:.9g}"
            raise Wrong(f"{name}: mean {mean:.9g} and deviation {deviation:.9g}, {weirs}")


def read_manifest(manifest: Path) -> Params:
    """The parameters in a manifest that weir wrote."""
    columns = json.loads(manifest.read_text())["params"]["columns"]
    return {each["name"]: (each["mean"], each["std"]) for each in columns if each["name"] in FEATURES}


def main() -> None:
    folder, manifest, *weir = map(Path, sys.argv[1:])
    splits = {path.name.removeprefix("split="): Split.read(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    known = json.loads(manifest.read_text())
    peers = folder / "params.json"
    params = json.loads(peers.read_text()) if peers.exists() else read_manifest(folder / "manifest.json")
    try:
        check_whole(splits, known)
        check_splits(splits, known["rows"])
        for each in weir:
            check_params(params, read_manifest(each), known["rows"])
    except Wrong as what:
        sys.exit(str(what))


if __name__ == "__main__":
    main()
