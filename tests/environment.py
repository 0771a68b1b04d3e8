"""Prints the interpreter the tests run in: a virtual environment made on demand, named after its requirements, shared by all checkouts.

What wants large packages or other versions has an environment of its own, `requirements-NAME.txt`. One may lie over another, whose
packages it then has too: torch is there once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)  # the wheels of numpy and pyarrow start here
OVER = {"torch": "mds", "keras": "tf"}  # an environment and the one it lies over


def cache() -> Path:
    """Where weir keeps what is expensive to make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"


def requirements(name: str) -> Path:
    return Path(__file__).with_name(f"requirements-{name}.txt" if name else "requirements.txt")


def python(name: str = "") -> Path:
    """The interpreter of an environment, which is installed first where it is missing."""
    layers = [name]
    while layers[-1] in OVER:
        layers.append(OVER[layers[-1]])
    digest = hashlib.sha256(b"".join(requirements(layer).read_bytes() for layer in layers)).hexdigest()[:12]
    folder = cache() / f"venv-{digest}"
    found = folder / "bin" / "python"
    if not (found.exists() and (folder / "complete").exists()):
        install(requirements(name), folder, packages(python(OVER[name])) if name in OVER else None)
    return found


def packages(interpreter: Path) -> Path:
    """Where the packages of an environment are."""
    return interpreter.parents[1] / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def install(wanted: Path, folder: Path, below: Path | None) -> None:
    """Makes an environment, over the packages of another if they are given."""
    if sys.version_info < OLDEST:
        raise SystemExit(f"tests: Python {OLDEST[0]}.{OLDEST[1]} or later is needed, this is {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {wanted.name} into {folder}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    interpreter = folder / "bin" / "python"
    if below:
        (packages(interpreter) / "over.pth").write_text(f"{below}\n")
    pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(wanted)]
    subprocess.run(pip, check=True)
    (folder / "complete").touch()


if __name__ == "__main__":
    print(python())
