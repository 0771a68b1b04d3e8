"""weir.loader's memory, sampled every millisecond: of this process above `import torch`, and of its child. Not for the clock."""

from __future__ import annotations

import importlib
import json
import os
import threading
from contextlib import suppress
from pathlib import Path

from loop import descendants
from matrix import MatrixLoop

INTERVAL = 0.001  # seconds


def resident(pid: int, *kinds: str) -> int:
    """Bytes that a process has in memory; shared ones count in full."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(kinds))


class Sampler(threading.Thread):
    """The largest samples. What is shared with the child is the child's, which has to hold it within its budget."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.own = self.child = 0

    def run(self) -> None:
        while not self.done.wait(INTERVAL):
            self.own = max(self.own, resident(os.getpid(), "RssAnon"))
            for pid in descendants(os.getpid()):
                with suppress(OSError):
                    if Path(f"/proc/{pid}/exe").readlink() != Path(os.environ["WEIR_BIN"]):
                        continue  # not yet: it is still a copy of this process
                    self.child = max(self.child, resident(pid, "RssAnon", "RssShmem"))


def main() -> None:
    bare = resident(os.getpid(), "RssAnon")
    weir_batches = importlib.import_module("weir_batches")
    loop = MatrixLoop.from_args()
    sampler = Sampler()
    sampler.start()
    for x, y in weir_batches.batches(loop):
        loop.add(x, y)
    sampler.done.set()
    sampler.join()
    print(json.dumps({"rows": loop.rows, "python": sampler.own - bare, "child": sampler.child}), flush=True)


main()
