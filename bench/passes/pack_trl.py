"""TRL's pack_dataset: best fit, decreasing, over an Arrow table; rows are not filled up nor given labels, which its collator does later."""

from __future__ import annotations

from contextlib import nullcontext

import pyarrow.compute as pc
import pyarrow.parquet as pq
from packs import LENGTH
from trl import pack_dataset
from work import Work

from datasets import Dataset, disable_progress_bars


def main() -> None:
    work = Work.from_args()
    disable_progress_bars()
    whole = not work.arguments[0]
    with work.clock() if whole else nullcontext():
        documents = Dataset(pq.read_table(work.path))
    with work.clock():
        packed = pack_dataset(documents, seq_length=LENGTH, strategy="bfd")
    with work.clock() if whole else nullcontext():
        packed.to_parquet(f"{work.target}/part.parquet")
    ids = packed.with_format("arrow")[:]["input_ids"]
    lengths = pc.list_value_length(ids)
    assert pc.max(lengths).as_py() <= LENGTH
    work.tell(tokens=pc.sum(lengths).as_py(), ints=pc.sum(pc.list_flatten(ids)).as_py(), rows=len(ids))


main()
