"""What packing peers share: how much is packed into how much, what of it counts, and what of it is checked, outside the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.parquet as pq
from work import Work

LENGTH = 4096
PAD, IGNORED = 0, -100

Packed = dict[str, list[list[int]]]


def run(pack: Callable[[list[list[int]]], Packed], ignored: Iterable[int] = (IGNORED,)) -> None:
    """Packs lists of ids, all the way from Parquet to Parquet or alone; `ignored` are the labels of what is no token of a document."""
    work = Work.from_args()
    if work.arguments[0]:
        sequences = work.column("input_ids")
        with work.clock():
            packed = pack(sequences)
    else:
        with work.clock():
            packed = pack(work.column("input_ids"))
            columns = {name: pa.array(rows, pa.list_(pa.int32(), LENGTH)) for name, rows in packed.items()}
            pq.write_table(pa.table(columns), f"{work.target}/part.parquet")
    tokens = ints = 0
    for ids, labels in zip(packed["input_ids"], packed["labels"], strict=True):
        real = [each for each, label in zip(ids, labels, strict=True) if label not in ignored]
        tokens, ints = tokens + len(real), ints + sum(real)
    work.tell(tokens=tokens, ints=ints, rows=len(packed["input_ids"]))
