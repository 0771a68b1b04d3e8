"""Whether processes are there."""

from __future__ import annotations

import time
from pathlib import Path

GONE = 5  # seconds; the promise is 2, and the machine may be busy


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process ends soon."""
    until = time.monotonic() + GONE
    while alive(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
