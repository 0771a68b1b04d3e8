"""The datasets of the benchmark: their names, where they live, and what is known about each.

Files are made by make_data.py; this module only describes them, so that the harness needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

# Part of every manifest: a dataset made by another version is made again.
VERSION = 1


@dataclass(frozen=True)
class Spec:
    """How one dataset is made: `rows` rows of `kind` in `form`, in row groups, batches or files of `group` rows (0: one single group).

    One with a `source` is made of the files of that dataset, one without from its rows: by the module `maker` of writers/, or the one
    named after its form.
    """

    name: str
    kind: str  # what the rows are, and so which of a peer's queries fits
    rows: int
    group: int
    codec: str = "snappy"
    nulls: float = 0.0
    form: str = "parquet"
    maker: str = ""
    source: str = ""
    copies: int = 1
    twin: str = ""  # the Parquet dataset with exactly the same names, types and values
    part: str = ""  # the one part of the benchmark that reads it, where it is not the one of its form

    @property
    def environment(self) -> str:
        """The virtual environment whose libraries write it."""
        return {"mds": "mds", "litdata": "feed"}.get(self.form, "")


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
    text_bytes: int  # bytes of all strings and binaries at any depth
    facts: dict[str, int] = field(default_factory=dict, hash=False)  # what else is known of rows of its kind

    @property
    def spec(self) -> Spec:
        return SPECS[self.name]

    def files(self) -> Iterator[Path]:
        """Its files, those in folders of it too."""
        return (path for path in self.path.rglob("*") if path.is_file())


NUMERIC_ROWS, NUMERIC_GROUP = 2_000_000, 131_072
TEXT_ROWS, TEXT_ONE_ROWS, TEXT_GROUP = 332_800, 661_500, 32_768
CHAT_ROWS, TOKEN_ROWS, NESTED_GROUP = 138_600, 200_000, 16_384
PREPARE_GROUP = 122_880
CSV_ROWS, FEATHER_GROUP = 225_000, 65_536  # 64k rows in a batch, as write_feather makes them
DIALOG_ROWS = 50_000
REPEAT_GROUP = 125_000
LANGUAGES = {"english": 97_000, "code": 30_500, "chinese": 53_000, "mixed": 48_500}  # rows of 50 MB

SPECS: dict[str, Spec] = {
    s.name: s
    for s in [
        Spec("numeric", "numeric", NUMERIC_ROWS, NUMERIC_GROUP),
        Spec("numeric-none", "numeric", NUMERIC_ROWS, NUMERIC_GROUP, codec="none"),
        Spec("numeric-nulls", "numeric", NUMERIC_ROWS, NUMERIC_GROUP, nulls=0.05),
        Spec("numeric-one", "numeric", NUMERIC_ROWS, 0),
        Spec("numeric-small", "numeric", CSV_ROWS, NUMERIC_GROUP),
        Spec("text", "text", TEXT_ROWS, TEXT_GROUP, codec="zstd"),
        Spec("text-one", "text", TEXT_ONE_ROWS, 0, codec="zstd"),
        Spec("text-one-snappy", "text", TEXT_ONE_ROWS, 0),
        Spec("chat", "chat", CHAT_ROWS, NESTED_GROUP),
        Spec("tokens", "tokens", TOKEN_ROWS, NESTED_GROUP),
        Spec("duckdb-pages", "text", TEXT_ROWS, 0, maker="duckdb_pages", source="text"),
        Spec("big-1", "numeric", 2 * NUMERIC_ROWS, NUMERIC_GROUP, maker="links", source="numeric", copies=2),
        Spec("big-20", "numeric", 40 * NUMERIC_ROWS, NUMERIC_GROUP, maker="links", source="numeric", copies=40),
        Spec("jsonl", "chat", CHAT_ROWS, NESTED_GROUP, form="jsonl", codec="none", twin="chat"),
        Spec("jsonl-zst", "chat", CHAT_ROWS, 0, form="jsonl", codec="zst", maker="compressed", source="jsonl", twin="chat"),
        Spec("jsonl-gz", "chat", CHAT_ROWS, 0, form="jsonl", codec="gz", maker="compressed", source="jsonl", twin="chat"),
        Spec("jsonl-5gb", "chat", 18 * CHAT_ROWS, 0, form="jsonl", codec="none", maker="repeated", source="jsonl", copies=18),
        Spec("csv", "numeric", CSV_ROWS, NUMERIC_GROUP, form="csv", codec="none", twin="numeric-small"),
        Spec("csv-zst", "numeric", CSV_ROWS, 0, form="csv", codec="zst", maker="compressed", source="csv", twin="numeric-small"),
        Spec("csv-gz", "numeric", CSV_ROWS, 0, form="csv", codec="gz", maker="compressed", source="csv", twin="numeric-small"),
        Spec("arrow", "numeric", NUMERIC_ROWS, FEATHER_GROUP, form="arrow", codec="none", source="numeric", twin="numeric"),
        Spec("arrow-lz4", "numeric", NUMERIC_ROWS, FEATHER_GROUP, form="arrow", codec="lz4", source="numeric", twin="numeric"),
        Spec("mds-small", "samples", 500_000, 50_000, form="mds"),
        Spec("mds-large", "blobs", 10_000, 500, form="mds"),
        Spec("webdataset", "webdataset", 20_000, 5_000, form="webdataset"),
        Spec("tfrecord", "examples", 100_000, 20_000, form="tfrecord"),
        Spec("prepare-2m", "features", 2_000_000, PREPARE_GROUP, maker="parts"),
        Spec("prepare-8m", "features", 8_000_000, PREPARE_GROUP, maker="parts"),
        *(
            Spec(f"prepare-{size}gb", "features", 8_000_000 * copies, PREPARE_GROUP, maker="links", source="prepare-8m", copies=copies)
            for size, copies in ((10, 4), (15, 6), (30, 12), (60, 23))
        ),
        Spec("images", "images", 2_000, 250, form="images"),
        Spec("thousand-parts", "numeric", 1_000_000, 1_000, maker="files", part="feed"),
        Spec("matrix-mds", "numeric", CSV_ROWS, 0, form="mds", maker="mds_matrix", source="numeric-small", part="feed"),
        Spec("matrix-litdata", "numeric", CSV_ROWS, 0, form="litdata", source="numeric-small", part="feed"),
        Spec("dialogs", "dialogs", DIALOG_ROWS, NESTED_GROUP, part="feed"),
        Spec("dialogs-jsonl", "dialogs", DIALOG_ROWS, NESTED_GROUP, form="jsonl", codec="none", part="feed"),
        Spec("repeats", "repeats", 20_000_000, REPEAT_GROUP, maker="quarters", part="corpus"),
        Spec("repeats-4m", "repeats", 4_000_000, REPEAT_GROUP, part="corpus"),
        Spec("short-texts", "short-texts", 1_000_000, NUMERIC_GROUP, part="corpus"),
        Spec("short-texts-10m", "short-texts", 10_000_000, NUMERIC_GROUP, part="corpus"),
        Spec("short-texts-small", "short-texts", 20_000, NUMERIC_GROUP, part="corpus"),
        *(Spec(name, name, rows, TEXT_GROUP, part="corpus") for name, rows in LANGUAGES.items()),
        Spec("documents", "documents", 210_000, NESTED_GROUP, part="corpus"),
        Spec("documents-small", "documents", 21_000, NESTED_GROUP, part="corpus"),
    ]
}

# Rows of a quick dataset are this many times fewer; so are its row groups.
QUICK = 32


def quickened(spec: Spec) -> Spec:
    """The scaled-down twin of a spec, for a smoke test."""
    return replace(spec, rows=spec.rows // QUICK, group=spec.group // QUICK)


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
