"""Prints the interpreter the tests run in: a virtual environment made on demand, named after its requirements, shared by all checkouts."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
OLDEST = (3, 11)  # the wheels of numpy and pyarrow start here


def cache() -> Path:
    """Where weir keeps what is expensive to make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"


def python() -> Path:
    """The interpreter of the environment, which is installed first where it is missing."""
    folder = cache() / f"venv-{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]}"
    found = folder / "bin" / "python"
    if found.exists() and (folder / "complete").exists():
        return found
    if sys.version_info < OLDEST:
        raise SystemExit(f"tests: Python {OLDEST[0]}.{OLDEST[1]} or later is needed, this is {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing the test environment into {folder}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)], check=True)
    (folder / "complete").touch()
    return found


if __name__ == "__main__":
    print(python())
