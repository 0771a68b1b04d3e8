"""HF datasets: a dataset of texts opened and iterated row by row; streaming, or by load_dataset with an empty cache, as the first time."""

from __future__ import annotations

import importlib
import sys
import tempfile

from loop import Loop
from values import weigh

from datasets import disable_progress_bars, load_dataset


def main() -> None:
    disable_progress_bars()
    if "streaming" in sys.argv:
        importlib.import_module("torch")  # which it does itself, where there is one: imports come before the clock
    with tempfile.TemporaryDirectory() as cache:
        loop = Loop.from_args()
        builder = "json" if loop.mode == "jsonl" else loop.mode
        rows = load_dataset(builder, data_files=loop.files(), split="train", cache_dir=cache, streaming="streaming" in loop.arguments)
        for _ in rows:
            loop.took(1)
        cost = loop.cost()
        for row in rows:
            weigh(loop, row)
        loop.tell(cost)


main()
