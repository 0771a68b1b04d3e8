"""Prints the interpreter the tests run in: a virtual environment made on demand, named after its requirements, shared by all checkouts.

What wants large packages or other versions has an environment of its own, `requirements-NAME.txt`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)  # the wheels of numpy and pyarrow start here


def cache() -> Path:
    """Where weir keeps what is expensive to make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"


def python(name: str = "") -> Path:
    """The interpreter of an environment, which is installed first where it is missing."""
    requirements = Path(__file__).with_name(f"requirements-{name}.txt" if name else "requirements.txt")
    folder = cache() / f"venv-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    found = folder / "bin" / "python"
    if found.exists() and (folder / "complete").exists():
        return found
    if sys.version_info < OLDEST:
        raise SystemExit(f"tests: Python {OLDEST[0]}.{OLDEST[1]} or later is needed, this is {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {requirements.name} into {folder}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)], check=True)
    (folder / "complete").touch()
    return found


if __name__ == "__main__":
    print(python())
