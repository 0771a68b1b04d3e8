"""Polars: a lazy scan on the streaming engine, a query that needs every value.

Lengths of strings are enough: Polars decodes and validates the text of a column it reads, whatever is asked of it.
POLARS_MAX_THREADS comes from the harness, since it has to be set before the import.
"""

from __future__ import annotations

import polars as pl
import polars.selectors as cs

from peers.job import Job

messages = pl.col("messages").list
ROWS = pl.len().alias("rows")
QUERIES = {
    "numeric": [ROWS, cs.numeric().sum()],
    "text": [ROWS, pl.col("id").sum(), pl.col("text").str.len_bytes().sum()],
    "chat": [
        ROWS,
        pl.col("id").sum(),
        messages.explode().struct.field("role").str.len_bytes().sum(),
        messages.explode().struct.field("content").str.len_bytes().sum(),
    ],
    "tokens": [ROWS, pl.col("id").sum(), pl.col("tokens").list.explode().cast(pl.Int64).sum()],
}
SCANS = {"parquet": pl.scan_parquet, "jsonl": pl.scan_ndjson, "csv": pl.scan_csv, "arrow": pl.scan_ipc}


def main() -> None:
    job = Job.from_args()
    frame = SCANS[job.form](f"{job.path}/*").select(QUERIES[job.kind]).collect(engine="streaming")
    found = frame.row(0, named=True)
    rows = found.pop("rows")
    text = sum(v for k, v in found.items() if k in ("text", "role", "content"))
    ints = sum(v for k, v in found.items() if k in ("id", "label", "tokens"))
    floats = sum(v for k, v in found.items() if k.startswith("f"))
    job.done(rows, ints, floats, text)


main()
