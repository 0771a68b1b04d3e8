"""From arguments as people write them to the configuration that the child reads."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

Path = str | os.PathLike[str]
Paths = Path | Sequence[Path]
Size = int | str
Names = str | Sequence[str]

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*")
_UNITS = {"": 1, "b": 1} | {
    unit + end: base ** (i + 1) for i, unit in enumerate("kmgt") for end, base in (("", 1024), ("i", 1024), ("ib", 1024), ("b", 1000))
}


class ReadOptions(TypedDict, total=False):
    """How files are read; all of it is found out from the files where it is not given."""

    format: str  # parquet, arrow, jsonl, csv, text, mds, tfrecord, webdataset, …
    schema: Path  # a file with the schema of text formats, as JSON
    sample: Size  # how much of a text format is looked at to find its schema
    field: str  # where in a JSON document the rows are
    delimiter: str  # of CSV
    no_header: bool  # CSV without names in its first line
    nulls: Sequence[str]  # texts of CSV that mean null
    whole_files: bool  # a text file is one row
    on_error: str  # "fail" or "skip", for records that cannot be read


def read_options(options: Mapping[str, Any], function: str) -> dict[str, Any]:
    """The child's form of read options."""
    unknown = options.keys() - ReadOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"{function}() has no argument {sorted(unknown)[0]!r}")
    given = {name: value for name, value in options.items() if value is not None}
    if "schema" in given:
        given["schema"] = os.fspath(given["schema"])
    if "sample" in given:
        given["sample"] = str(given["sample"])
    if "nulls" in given:
        given["nulls"] = names(given["nulls"])
    return given


def paths(given: Paths) -> list[str]:
    """One path or several, as texts."""
    several = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    return [os.fspath(p) for p in several]


def sources(given: Paths | Mapping[Path, float], split: str) -> list[dict[str, Any]]:
    """A dataset, or several with their weights."""
    if not isinstance(given, Mapping):
        return [{"paths": paths(given), "split": split}]
    if any(not weight > 0 for weight in given.values()):
        raise ValueError("the weight of a dataset is above 0; leave out what is not to be seen")
    return [{"paths": [os.fspath(path)], "split": split, "weight": float(weight)} for path, weight in given.items()]


def names(given: Names | None) -> list[str]:
    """One name or glob, or several."""
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def size(given: Size, what: str) -> int:
    """Bytes, from a number or a text such as 64MiB."""
    if isinstance(given, int):
        return given
    match = _SIZE.fullmatch(given.lower())
    if not match or match[2] not in _UNITS:
        raise ValueError(f"{what}={given!r} is no size; write a number of bytes, or 64MiB, or 1GB")
    return int(float(match[1]) * _UNITS[match[2]])


def without_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without what was not said."""
    return {name: value for name, value in config.items() if value not in (None, "", [], {})}
