"""The virtual environments the peers run in: made on demand, named after their requirements, shared by all checkouts.

Most peers share one; those whose packages are large or want other versions have one of their own, `requirements-NAME.txt`. An
environment may lie over another, whose packages it then has too but for those of which it has other versions: torch is there once.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from datasets import cache

OLDEST = (3, 11)  # the peers' wheels start here
OVER = {"corpus": "", "feed": "mds", "hf50": "feed", "trl": "feed"}  # an environment and the one it lies over


class Unavailable(Exception):
    """An environment that cannot be had here."""


def requirements(name: str = "") -> Path:
    return Path(__file__).with_name(f"requirements-{name}.txt" if name else "requirements.txt")


def layers(name: str) -> list[str]:
    """An environment and those it lies over."""
    return [name, *(layers(OVER[name]) if name in OVER else [])]


def versions(name: str = "") -> str:
    """What is in an environment, in words."""
    return ", ".join(line.replace("==", " ") for layer in layers(name) for line in requirements(layer).read_text().split())


def python(name: str = "") -> Path:
    """The interpreter of an environment, which is installed first where it is missing."""
    below = tuple(packages(python(layer)) for layer in layers(name)[1:])
    digest = hashlib.sha256(b"".join(requirements(layer).read_bytes() for layer in layers(name))).hexdigest()[:12]
    folder = cache() / f"venv-{digest}"
    found = folder / "bin" / "python"
    if not (found.exists() and (folder / "complete").exists()) and (why := install(requirements(name), folder, below)):
        raise Unavailable(why)
    return found


def packages(interpreter: Path) -> Path:
    """Where the packages of an environment are."""
    return interpreter.parents[1] / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


@functools.cache  # what failed once is not tried again for every run
def install(wanted: Path, folder: Path, below: tuple[Path, ...]) -> str:
    """Makes an environment over the packages of others; says why where that cannot be done."""
    if sys.version_info < OLDEST:
        return f"the peers need Python {OLDEST[0]}.{OLDEST[1]} or later, this is {sys.version.split()[0]}"
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {wanted.name} into {folder}", file=sys.stderr, flush=True)
    interpreter = folder / "bin" / "python"
    if subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode:
        return "no virtual environment can be made here"
    (packages(interpreter) / "over.pth").write_text("".join(f"{each}\n" for each in below))
    pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(wanted)]
    if subprocess.run(pip, check=False).returncode:
        return f"{wanted.name} cannot be installed here"
    (folder / "complete").touch()
    return ""
