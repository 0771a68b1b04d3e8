"""The virtual environments the peers run in: made on demand, named after their requirements, shared by all checkouts.

Most peers share one; those whose packages are large or want other versions have one of their own, `requirements-NAME.txt`.
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


class Unavailable(Exception):
    """An environment that cannot be had here."""


def requirements(name: str = "") -> Path:
    return Path(__file__).with_name(f"requirements-{name}.txt" if name else "requirements.txt")


def versions(name: str = "") -> str:
    """What is in an environment, in words."""
    return ", ".join(line.replace("==", " ") for line in requirements(name).read_text().split())


def python(name: str = "") -> Path:
    """The interpreter of an environment, which is installed first where it is missing."""
    digest = hashlib.sha256(requirements(name).read_bytes()).hexdigest()[:12]
    folder = cache() / f"venv-{digest}"
    found = folder / "bin" / "python"
    if not (found.exists() and (folder / "complete").exists()) and (why := install(requirements(name), folder)):
        raise Unavailable(why)
    return found


@functools.cache  # what failed once is not tried again for every run
def install(wanted: Path, folder: Path) -> str:
    """Makes an environment; says why where that cannot be done."""
    if sys.version_info < OLDEST:
        return f"the peers need Python {OLDEST[0]}.{OLDEST[1]} or later, this is {sys.version.split()[0]}"
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {wanted.name} into {folder}", file=sys.stderr, flush=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(wanted)]
    for command in ([sys.executable, "-m", "venv", str(folder)], pip):
        if subprocess.run(command, check=False).returncode:
            return f"{wanted.name} cannot be installed here"
    (folder / "complete").touch()
    return ""
