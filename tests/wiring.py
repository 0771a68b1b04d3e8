"""A child that makes up its batches, and the package's side of the wire to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from weir._transport import Batch, ChildError, End, HeldError, Transport, TransportError  # noqa: E402

__all__ = ["Batch", "ChildError", "End", "HeldError", "Transport", "TransportError"]

MIB = 1 << 20
CONFIG: dict[str, Any] = {"arena": MIB, "samples": 100, "rows": 10, "width": 3, "at": -1}


def build(folder: Path) -> str:
    """The child's program."""
    out = folder / "wiretest"
    subprocess.run(["go", "build", "-o", out, "./internal/feed/wire/wiretest"], cwd=ROOT, check=True, env=os.environ | {"CGO_ENABLED": "0"})
    return str(out)


def batches(t: Transport) -> Iterator[Batch]:
    """The batches up to the end of the epoch."""
    while not isinstance(item := t.next(), End):
        yield item


def samples(t: Transport) -> list[int]:
    return [int(y) for b in batches(t) for y in b.arrays()["y"]]
