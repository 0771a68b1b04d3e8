"""The memory that deduplicate_indices takes beside the rows of the caller, with that of its process."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cgroup
from binary import BINARY, MIB

ROOT = Path(__file__).resolve().parent.parent
linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")

SCRIPT = """
import sys, weir
weir.deduplicate_indices(["a"])
rows = [f"{i * 7919 % 1000003 if i % 3 == 0 else i:032d}" for i in range(int(sys.argv[1]))]
print("ready", flush=True)
sys.stdin.readline()
keep, hashes = weir.deduplicate_indices(rows)
print("done", flush=True)
sys.stdin.readline()
"""


def family(pid: int) -> int:
    """Bytes of a process and its children, as far as they are not copies of it that will become another program."""
    total = cgroup.resident(pid)
    for task in Path(f"/proc/{pid}/task").glob("*"):
        for child in (task / "children").read_text().split():
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{child}/exe") != os.readlink(f"/proc/{pid}/exe"):
                    total += cgroup.resident(int(child))
    return total


def taken(rows: int) -> tuple[int, int]:
    """The most bytes that a call takes, and those that are left of it when it has returned."""
    env = os.environ | {"WEIR_BIN": os.environ.get("WEIR_BIN", str(BINARY)), "PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(rows)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdin is not None and run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        before = most = family(run.pid)
        run.stdin.write("\n")
        run.stdin.flush()
        os.set_blocking(run.stdout.fileno(), False)
        while not run.stdout.readline():
            assert run.poll() is None
            most = max(most, family(run.pid))
            time.sleep(0.003)
        after = family(run.pid)
        run.stdin.write("\n")
    return max(most, after) - before, after - before


@linux
def test_a_row_takes_less_than_16_bytes_and_less_than_9_afterwards() -> None:
    small, large = taken(500_000), taken(2_500_000)
    most, left = ((large[i] - small[i]) / 2_000_000 for i in range(2))
    assert most < 14, f"{most:.1f} bytes a row"  # 16 with what does not depend on the rows, at four million of them
    assert left < 9, f"{left:.1f} bytes a row"
    assert small[0] < 24 * MIB, f"{small[0] / MIB:.1f} MiB for 500,000 rows"
