"""What every peer shares: its arguments, a clock that starts when its imports are done, and the line of JSON it prints."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from dataclasses import dataclass, field


def cpu_seconds() -> float:
    """User and system time of this process with all its threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@dataclass
class Job:
    """One scan. Make it after the imports: the clock starts here, so that the interpreter's start is not counted."""

    path: str
    kind: str
    threads: int
    wall: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=cpu_seconds)

    @classmethod
    def from_args(cls) -> Job:
        path, kind, threads = sys.argv[1:]
        return cls(path, kind, int(threads))

    def done(self, rows: int, ints: int, floats: float, text_bytes: int) -> None:
        """Prints what was found and what it cost, and leaves without teardown, which is no part of the job."""
        found = {"rows": rows, "ints": ints, "floats": floats, "text_bytes": text_bytes}
        cost = {"wall": time.perf_counter() - self.wall, "cpu": cpu_seconds() - self.cpu}
        print(json.dumps(found | cost), flush=True)
        os._exit(0)
