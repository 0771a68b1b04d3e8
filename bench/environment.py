"""The virtual environment the peers run in: made on demand, named after its requirements, shared by all checkouts."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from datasets import cache

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
OLDEST = (3, 11)  # the peers' wheels start here


def python() -> Path:
    """The interpreter of the environment, which is installed first where it is missing."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    folder = cache() / f"venv-{digest}"
    found = folder / "bin" / "python"
    if found.exists() and (folder / "complete").exists():
        return found
    if sys.version_info < OLDEST:
        raise SystemExit(f"bench: the peers need Python {OLDEST[0]}.{OLDEST[1]} or later, this is {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing the peers into {folder}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)]
    subprocess.run(install, check=True)
    (folder / "complete").touch()
    return found
