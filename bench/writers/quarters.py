"""Parquet in four files of as many row groups, with pyarrow's defaults but for codec and row group."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from datasets import Spec
from writers import part
from writers.parts import write_file

FILES = 4


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    groups = -(-spec.rows // (spec.group * FILES))
    for number, first in enumerate(tables):
        write_file(part(folder, spec.form, number), chain([first], islice(tables, groups - 1)), spec.codec)
