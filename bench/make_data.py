"""Makes the datasets of the benchmark once: `python make_data.py [--quick] [NAME ...]`, in the venv of requirements.txt.

Every dataset is a directory with one Parquet file, built a row group at a time from a fixed seed, and a manifest beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from datasets import SPECS, VERSION, Spec, load, quickened, root
from rows import BUILDERS
from touch import Sums


def pieces(spec: Spec) -> Iterator[pa.Table]:
    """The rows of a dataset, a row group (or 64k rows of the single one) at a time."""
    step = spec.group or 65_536
    for start in range(0, spec.rows, step):
        yield BUILDERS[spec.kind](start, min(step, spec.rows - start), spec.nulls)


def write_parts(spec: Spec, folder: Path) -> tuple[Sums, int]:
    """Writes one file with pyarrow's defaults but for codec and row group."""
    sums, size = Sums(), 0
    held: list[pa.Table] = []
    writer: pq.ParquetWriter | None = None
    for table in pieces(spec):
        sums.add(table)
        size += table.nbytes
        writer = writer or pq.ParquetWriter(folder / "part-0000.parquet", table.schema, compression=spec.codec)
        if spec.group:
            writer.write_table(table, row_group_size=spec.group)
        else:
            held.append(table)
    assert writer is not None
    if held:
        writer.write_table(pa.concat_tables(held), row_group_size=spec.rows)
    writer.close()
    return sums, size


def write_duckdb(spec: Spec, folder: Path, source: Path) -> None:
    """Writes the rows of `source` as DuckDB does with large row groups: a chunk of text is a few pages of tens of megabytes."""
    out = folder / "part-0000.parquet"
    with duckdb.connect() as db:
        db.execute("SET preserve_insertion_order = true")
        db.execute("SET threads = 1")
        db.execute(
            f"COPY (SELECT * FROM read_parquet('{source}/*.parquet')) TO '{out}' "
            f"(FORMAT parquet, COMPRESSION {spec.codec}, ROW_GROUP_SIZE {max(spec.rows, 122_880)})"
        )


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
    if spec.kind in BUILDERS:
        sums, size = write_parts(spec, partial)
    else:
        origin = "text" if spec.kind == "duckdb" else spec.links
        make(origin, quick)
        known = load(origin, quick)
        assert known is not None
        copies = max(spec.copies, 1)
        sums = Sums(known.rows * copies, known.ints * copies, known.floats * copies, known.text_bytes * copies)
        size = known.arrow_bytes * copies
        if spec.kind == "duckdb":
            write_duckdb(spec, partial, known.path)
        else:
            for i in range(copies):
                os.link(known.path / "part-0000.parquet", partial / f"part-{i:04d}.parquet")
    partial.rename(folder)
    manifest = {
        "version": VERSION,
        "rows": sums.rows,
        "arrow_bytes": size,
        "file_bytes": sum(f.stat().st_size for f in folder.iterdir()),
        "ints": sums.ints,
        "floats": sums.floats,
        "text_bytes": sums.text_bytes,
    }
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
