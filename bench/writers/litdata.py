"""Chunks by `optimize` of LitData, of the samples of a Parquet dataset, in order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from litdata import optimize

from datasets import Spec
from writers.matrix import samples


def every(folder: str, _: int) -> Iterator[dict[str, Any]]:
    """All samples, as the one piece of work of one worker."""
    yield from samples(Path(folder))


def derive(_: Spec, source: Path, folder: Path) -> None:
    optimize(partial(every, str(source)), inputs=[0], output_dir=str(folder), chunk_bytes="64MB", num_workers=1, verbose=False)
