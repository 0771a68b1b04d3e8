"""Makes the datasets of the benchmark once: `python make_data.py [--quick] [NAME ...]`, in the virtual environment of their spec.

Every dataset is a directory built a few rows at a time from a fixed seed, or from the files of another, and a manifest beside it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import corpus_rows
import languages
from datasets import SPECS, VERSION, Spec, load, quickened, root
from rows import BUILDERS
from samples import BUILDERS as SAMPLE_BUILDERS
from touch import Sums

ALL_BUILDERS = BUILDERS | SAMPLE_BUILDERS | corpus_rows.BUILDERS | languages.BUILDERS


def pieces(spec: Spec, sums: Sums) -> Iterator[pa.Table]:
    """The rows of a dataset, a row group (or 64k rows of the single one) at a time, added to the sums as they pass."""
    build = ALL_BUILDERS[spec.kind]
    step = spec.group or 65_536
    for start in range(0, spec.rows, step):
        table = build(start, min(step, spec.rows - start), spec.nulls)
        sums.add(table)
        sums.arrow_bytes += table.nbytes
        yield table


def fill(spec: Spec, folder: Path, quick: bool) -> Sums:
    """Writes the files of a dataset and says what is in them."""
    writer = importlib.import_module(f"writers.{spec.maker or spec.form}")
    if not spec.source:
        sums = Sums()
        writer.write(spec, pieces(spec, sums), folder)
        return sums
    make(spec.source, quick)
    known = load(spec.source, quick)
    assert known is not None
    writer.derive(spec, known.path, folder)
    return Sums(*(each * spec.copies for each in (known.rows, known.ints, known.floats, known.text_bytes, known.arrow_bytes)))


def make(name: str, quick: bool) -> None:
    """Makes one dataset under a temporary name and renames it, so that a broken run leaves nothing half made."""
    if load(name, quick):
        return
    spec = quickened(SPECS[name]) if quick else SPECS[name]
    base = root(quick)
    folder, partial = base / name, base / f".{name}.partial"
    for stale in (folder, partial):
        shutil.rmtree(stale, ignore_errors=True)
    partial.mkdir(parents=True)
    print(f"making {folder}", file=sys.stderr, flush=True)
    sums = fill(spec, partial, quick)
    partial.rename(folder)
    manifest = {
        "version": VERSION,
        "rows": sums.rows,
        "arrow_bytes": sums.arrow_bytes,
        "file_bytes": sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()),
        "ints": sums.ints,
        "floats": sums.floats,
        "text_bytes": sums.text_bytes,
    }
    if spec.kind in corpus_rows.FACTS:
        manifest["facts"] = corpus_rows.FACTS[spec.kind](spec)
    (base / f"{name}.json").write_text(json.dumps(manifest, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SPECS), metavar="NAME", help=", ".join(SPECS))
    parser.add_argument("--quick", action="store_true", help="scaled-down datasets, for a smoke test")
    args = parser.parse_args()
    for name in args.names:
        if name not in SPECS:
            parser.error(f"unknown dataset {name!r}; known: {', '.join(SPECS)}")
        make(name, args.quick)


if __name__ == "__main__":
    main()
