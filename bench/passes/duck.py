"""DuckDB within a limit: `distinct` counted or written, and all rows in the order of a hash."""

from __future__ import annotations

import duckdb
from work import Work

TO = "(FORMAT parquet, COMPRESSION snappy)"
QUERIES = {
    "count": "SELECT count(*) FROM (SELECT DISTINCT text FROM read_parquet('{path}/*'))",
    "write": f"COPY (SELECT DISTINCT text FROM read_parquet('{{path}}/*')) TO '{{target}}/part.parquet' {TO}",
    "shuffle": f"COPY (SELECT * FROM read_parquet('{{path}}/*') ORDER BY hash(id + 7)) TO '{{target}}/part.parquet' {TO}",
}


def main() -> None:
    work = Work.from_args()
    what, limit = work.arguments
    db = duckdb.connect()
    db.execute(f"SET threads = {work.threads}; SET memory_limit = '{limit}'; SET temp_directory = '{work.target}/../scratch'")
    with work.clock():
        row = db.execute(QUERIES[what].format(path=work.path, target=work.target)).fetchone()
    assert row is not None
    work.tell(**({"distinct": row[0]} if what == "count" else {}))


main()
