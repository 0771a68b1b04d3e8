"""Where the program is that does the work, and the command that runs it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def binary() -> str:
    """The weir program: that of the package, else the one that WEIR_BIN names, else the first on PATH that is not our own script."""
    packed = Path(__file__).parent / "bin" / "weir"
    if packed.exists():
        return str(packed)
    named = os.environ.get("WEIR_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"WEIR_BIN is {named}, which is no program")
        return named
    script = os.path.realpath(sys.argv[0])
    for folder in os.get_exec_path():
        found = shutil.which("weir", path=folder)
        if found and os.path.realpath(found) != script:
            return found
    raise FileNotFoundError("no weir program in this package, in WEIR_BIN or on PATH: install the wheel of weir-data for this system")


def main() -> None:
    """The console script: this process becomes the program."""
    program = binary()
    os.execv(program, [program, *sys.argv[1:]])
