"""The datasets of the benchmark: their names, where they live, and what is known about each.

Files are made by make_data.py; this module only describes them, so that the harness needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

# Part of every manifest: a dataset made by another version is made again.
VERSION = 1


@dataclass(frozen=True)
class Spec:
    """How one dataset is made: `rows` rows of `kind` in row groups of `group` rows (0: one single group)."""

    name: str
    kind: str
    rows: int
    group: int
    codec: str = "snappy"
    nulls: float = 0.0
    links: str = ""  # the dataset whose part this one links to
    copies: int = 0


@dataclass(frozen=True)
class Dataset:
    """A dataset on disk, with the sums every program has to find in it."""

    name: str
    path: Path
    rows: int
    arrow_bytes: int
    file_bytes: int
    ints: int  # sum of all integers at any depth
    floats: float  # sum of all floating point numbers
    text_bytes: int  # bytes of all strings at any depth


NUMERIC_ROWS, NUMERIC_GROUP = 2_000_000, 131_072
TEXT_ROWS, TEXT_ONE_ROWS, TEXT_GROUP = 332_800, 661_500, 32_768
CHAT_ROWS, TOKEN_ROWS, NESTED_GROUP = 138_600, 200_000, 16_384

SPECS: dict[str, Spec] = {
    s.name: s
    for s in [
        Spec("numeric", "numeric", NUMERIC_ROWS, NUMERIC_GROUP),
        Spec("numeric-none", "numeric", NUMERIC_ROWS, NUMERIC_GROUP, codec="none"),
        Spec("numeric-nulls", "numeric", NUMERIC_ROWS, NUMERIC_GROUP, nulls=0.05),
        Spec("numeric-one", "numeric", NUMERIC_ROWS, 0),
        Spec("text", "text", TEXT_ROWS, TEXT_GROUP, codec="zstd"),
        Spec("text-one", "text", TEXT_ONE_ROWS, 0, codec="zstd"),
        Spec("text-one-snappy", "text", TEXT_ONE_ROWS, 0),
        Spec("chat", "chat", CHAT_ROWS, NESTED_GROUP),
        Spec("tokens", "tokens", TOKEN_ROWS, NESTED_GROUP),
        Spec("duckdb-pages", "duckdb", TEXT_ROWS, 0),
        Spec("big-1", "links", 2 * NUMERIC_ROWS, NUMERIC_GROUP, links="numeric", copies=2),
        Spec("big-20", "links", 40 * NUMERIC_ROWS, NUMERIC_GROUP, links="numeric", copies=40),
    ]
}

# Rows of a quick dataset are this many times fewer; so are its row groups.
QUICK = 32


def quickened(spec: Spec) -> Spec:
    """The scaled-down twin of a spec, for a smoke test."""
    return Spec(spec.name, spec.kind, spec.rows // QUICK, spec.group // QUICK, spec.codec, spec.nulls, spec.links, spec.copies)


def cache() -> Path:
    """Where everything that is made once is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"


def root(quick: bool) -> Path:
    """The directory all datasets live in."""
    return cache() / ("bench-quick" if quick else "bench")


def load(name: str, quick: bool) -> Dataset | None:
    """The dataset of that name, or None where it has yet to be made."""
    manifest = root(quick) / f"{name}.json"
    if not manifest.exists():
        return None
    fields = json.loads(manifest.read_text())
    if fields.pop("version") != VERSION:
        return None
    return Dataset(name=name, path=root(quick) / name, **fields)
