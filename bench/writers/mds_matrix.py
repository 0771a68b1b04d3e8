"""MDS shards by MDSWriter of mosaicml-streaming, of the samples of a Parquet dataset."""

from __future__ import annotations

from pathlib import Path

from streaming import MDSWriter

from datasets import Spec
from rows import FLOATS
from writers.matrix import samples


def derive(_: Spec, source: Path, folder: Path) -> None:
    with MDSWriter(out=str(folder), columns={"x": f"ndarray:float32:{FLOATS}", "y": "int"}) as out:
        for sample in samples(source):
            out.write(sample)
