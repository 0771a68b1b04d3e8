"""DuckDB: the cheapest query that needs every value (of those tried for each shape of data).

Lengths of strings are enough: DuckDB decodes and validates the text of a column it reads, whatever is asked of it.
"""

from __future__ import annotations

import duckdb

from peers.job import Job

NUMERIC = ", ".join(f"sum(f{i:02d})" for i in range(32))
QUERIES = {
    "numeric": f"SELECT count(*), sum(id), sum(label), 0, {NUMERIC} FROM data",
    "text": "SELECT count(*), sum(id), 0, sum(strlen(text)) FROM data",
    # Each column is read once: the two halves share none.
    "chat": "SELECT (SELECT (count(*), sum(id)) FROM data), "
    "(SELECT sum(strlen(m.role) + strlen(m.content)) FROM (SELECT unnest(messages) AS m FROM data))",
    # A line of JSON holds all columns, so that one pass is cheaper.
    "chat, one pass": "SELECT (count(*), sum(id)), "
    "sum(list_sum(list_transform(messages, lambda m: strlen(m.role) + strlen(m.content)))) FROM data",
    "tokens": "SELECT (SELECT (count(*), sum(id)) FROM data), (SELECT sum(t) FROM (SELECT unnest(tokens) AS t FROM data))",
}
SOURCES = {"parquet": "read_parquet", "jsonl": "read_json", "csv": "read_csv"}


def main() -> None:
    db = duckdb.connect()
    job = Job.from_args()
    db.execute(f"SET threads = {job.threads}")
    kind = "chat, one pass" if (job.kind, job.form) == ("chat", "jsonl") else job.kind
    query = QUERIES[kind].replace("FROM data", f"FROM {SOURCES[job.form]}('{job.path}/*')")
    row = db.execute(query).fetchone()
    assert row is not None
    if job.kind in ("chat", "tokens"):
        (rows, ids), inner = row
        ints, text = (ids, inner) if job.kind == "chat" else (ids + inner, 0)
        job.done(rows, int(ints), 0.0, int(text))
    rows, ids, labels, text, *floats = row
    job.done(rows, int(ids + labels), sum(floats), int(text))


main()
