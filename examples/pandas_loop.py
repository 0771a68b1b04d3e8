"""The mean of every column of numbers, batch by batch with pandas, of data that may be larger than memory.

    python examples/pandas_loop.py data/ | data.csv.gz | s3://bucket/prefix/
"""

from __future__ import annotations

import sys

import weir


def main() -> None:
    total, rows = 0, 0
    with weir.scan(sys.argv[1:], batch_size=50_000, memory="256MiB") as batches:
        for batch in batches:
            frame = batch.to_pandas()
            total = frame.sum(numeric_only=True) + total
            rows += len(frame)
    print((total / rows).to_string())


if __name__ == "__main__":
    main()
