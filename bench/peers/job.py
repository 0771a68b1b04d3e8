"""What every peer shares: its arguments, a clock that starts when its imports are done, and the line of JSON it prints."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

GROUP = 131_072  # rows in a row group that is written


def cpu_seconds() -> float:
    """User and system time of this process with all its threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@dataclass
class Job:
    """One scan. Make it after the imports: the clock starts here, so that the interpreter's start is not counted."""

    path: str
    kind: str
    form: str
    threads: int
    target: str = ""  # the folder to write the rows to, if they are to be written
    codec: str = ""
    wall: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=cpu_seconds)

    @classmethod
    def from_args(cls) -> Job:
        path, kind, form, threads, *target = sys.argv[1:]
        return cls(path, kind, form, int(threads), *target)

    def files(self, pattern: str = "*") -> list[str]:
        """The files of the dataset, in order."""
        return sorted(str(part) for part in Path(self.path).rglob(pattern) if part.is_file())

    def done(self, rows: int = 0, ints: int = 0, floats: float = 0.0, text_bytes: int = 0) -> None:
        """Prints what was found and what it cost, and leaves without teardown, which is no part of the job."""
        self.tell(rows, ints, floats, text_bytes)
        os._exit(0)

    def prepared(self, params: dict[str, tuple[float, float]]) -> None:
        """Prints what it cost, leaves means and deviations beside what was written, for a check outside the clock, and leaves."""
        self.tell(0, 0, 0.0, 0)
        Path(self.target, "params.json").write_text(json.dumps(params))
        os._exit(0)

    def tell(self, rows: int, ints: int, floats: float, text_bytes: int) -> None:
        """Prints what was found and what it cost until here, for a peer that must tidy up after itself."""
        found = {"rows": rows, "ints": ints, "floats": floats, "text_bytes": text_bytes}
        cost = {"wall": time.perf_counter() - self.wall, "cpu": cpu_seconds() - self.cpu}
        print(json.dumps(found | cost), flush=True)
