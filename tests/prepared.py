"""A dataset that `weir prepare` wrote: how it is made, what it says, and all that lies there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from binary import Result, weir

MEMORY = "128MiB"


def arguments(source: Path | str, out: Path | str, *rules: str) -> list[str]:
    """A preparation of a source; a --memory among the rules comes before the usual one."""
    memory = [] if "--memory" in rules else ["--memory", MEMORY]
    return ["prepare", str(source), "-o", f"{out}/", "--quiet", *memory, *rules]


def prepare(source: Path | str, out: Path | str, *rules: str, env: dict[str, str] | None = None) -> Result:
    """One preparation to its end."""
    return weir(*arguments(source, out, *rules), env=env)


def manifest(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "manifest.json").read_bytes())
    return read


def columns(out: Path) -> dict[str, dict[str, Any]]:
    """What the fit found, by column."""
    return {column["name"]: column for column in manifest(out)["params"]["columns"]}


def split(out: Path, name: str) -> pa.Table:
    """The rows of a split, in the order of its parts."""
    return pa.concat_tables([pq.read_table(part) for part in sorted((out / name).glob("*.parquet"))])


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder, hidden files and empty folders too: what is left over shows."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir():
            found[name + "/"] = ""
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
