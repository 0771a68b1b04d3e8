"""How the files of a dataset are written, a module a format; the libraries a format belongs to write it where there are any.

`write(spec, tables, folder)` writes rows; `derive(spec, source, folder)` makes a dataset of the files of another.
"""

from __future__ import annotations

from pathlib import Path


def part(folder: Path, suffix: str, number: int = 0) -> Path:
    """The name of a file of a dataset."""
    return folder / f"part-{number:04d}.{suffix}"


def only(folder: Path) -> Path:
    """The one file of a dataset that has no more."""
    (found,) = folder.iterdir()
    return found
