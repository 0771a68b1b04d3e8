"""What every pass over a corpus shares: its arguments, a clock, and the line of JSON it prints.

Programs here are scripts, not modules, so that nothing hides the library `datasets`; bench/ and bench/feeders/ come last on the path.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parents[1]
sys.path += [str(BENCH), str(BENCH / "feeders")]

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from loop import cpu_seconds  # noqa: E402

SETTLING = 0.1  # seconds, in which several samples of memory are taken


@dataclass
class Work:
    """One pass: what it reads, the folder it may write to, and what it costs inside `clock`."""

    path: str
    threads: int
    target: str
    arguments: list[str]
    wall: float = 0.0
    cpu: float = 0.0
    began: float = 0.0  # when the clock first ran, by perf_counter

    @classmethod
    def from_args(cls) -> Work:
        path, threads, target, *arguments = sys.argv[1:]
        return cls(path, int(threads), target, arguments)

    def column(self, name: str) -> list[Any]:
        """A column as Python values, a few rows at a time, so that the memory of reading is not added to that of the values."""
        values: list[Any] = []
        for path in sorted(Path(self.path).iterdir()):
            for batch in pq.ParquetFile(path).iter_batches(columns=[name]):
                values += batch[name].to_pylist()
        return values

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Counts wall and CPU seconds, those of child processes too. What was there before is seen by who samples memory."""
        if not self.began:
            pa.default_memory_pool().release_unused()
            time.sleep(SETTLING)
            self.began = time.perf_counter()
        wall, cpu = time.perf_counter(), cpu_seconds()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += cpu_seconds() - cpu

    def tell(self, **answer: int) -> None:
        """Prints what was found and what it cost."""
        print(json.dumps({"wall": self.wall, "cpu": self.cpu, "began": self.began, "answer": answer}), flush=True)
