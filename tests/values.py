"""Tables with a column of every type, for files that are written for the occasion."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

ROWS = 3_000


def sprinkled(values: list[Any], kind: pa.DataType, nulls: bool) -> pa.Array:
    """The values, every seventh and a long run of them null if asked for."""
    missing = np.zeros(len(values), dtype=bool)
    if nulls:
        missing[::7] = True
        missing[500:900] = True
    return pa.array([None if gone else value for value, gone in zip(values, missing, strict=True)], kind)


def flat(nulls: bool) -> pa.Table:
    """A column of every type that is neither nested nor a dictionary."""
    rng = np.random.default_rng(7)
    whole = [int(v) for v in rng.integers(-(2**31), 2**31, ROWS)]
    start = dt.datetime(2026, 11, 15, tzinfo=dt.timezone.utc)
    days = [start + dt.timedelta(days=v % 20_000, microseconds=v % 1_000_000) for v in whole]
    texts = [f"Grüße {v % 311} " + "x" * (abs(v) % 40) for v in whole]
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "bool": ([v % 3 == 0 for v in whole], pa.bool_()),
        "runs": ([i % 900 < 450 for i in range(ROWS)], pa.bool_()),
        "int8": ([v % 256 - 128 for v in whole], pa.int8()),
        "uint8": ([v % 256 for v in whole], pa.uint8()),
        "int16": ([v % 65_536 - 32_768 for v in whole], pa.int16()),
        "uint16": ([v % 65_536 for v in whole], pa.uint16()),
        "int32": (whole, pa.int32()),
        "uint32": ([v % 2**32 for v in whole], pa.uint32()),
        "int64": ([v * 2**31 for v in whole], pa.int64()),
        "uint64": ([v % 2**31 * 2**33 for v in whole], pa.uint64()),
        "few": ([v % 5 for v in whole], pa.int64()),
        "float16": ([np.float16(v % 1000 / 8) for v in whole], pa.float16()),
        "float32": ([v / 3 for v in whole], pa.float32()),
        "float64": ([float("nan") if v % 50 == 0 else v / 7 for v in whole], pa.float64()),
        "string": (texts, pa.string()),
        "large_string": (texts, pa.large_string()),
        "binary": ([t.encode()[::-1] for t in texts], pa.binary()),
        "fixed": ([v.to_bytes(8, "little", signed=True)[:5] for v in whole], pa.binary(5)),
        "decimal9": ([Decimal(v % 10**9).scaleb(-2) for v in whole], pa.decimal128(9, 2)),
        "decimal18": ([Decimal(v * 1000).scaleb(-3) for v in whole], pa.decimal128(18, 3)),
        "decimal38": ([Decimal(v * 10**20).scaleb(-5) for v in whole], pa.decimal128(38, 5)),
        "decimal70": ([Decimal(v * 10**50).scaleb(-5) for v in whole], pa.decimal256(70, 5)),
        "date": ([d.date() for d in days], pa.date32()),
        "time_ms": ([v % 86_400_000 for v in whole], pa.time32("ms")),
        "time_us": ([v % 86_400_000_000 for v in whole], pa.time64("us")),
        "time_ns": ([v % 86_400_000_000_000 for v in whole], pa.time64("ns")),
        "at_ms": (days, pa.timestamp("ms", "UTC")),
        "at_us": (days, pa.timestamp("us", "UTC")),
        "at_ns": ([v * 1_000_003 for v in whole], pa.timestamp("ns")),
        "local": ([d.replace(tzinfo=None) for d in days], pa.timestamp("us")),
        "zone": (days, pa.timestamp("us", "Europe/Berlin")),
        "span": ([v * 1000 for v in whole], pa.duration("us")),
        "none": ([None] * ROWS, pa.null()),
    }
    casts = {"at_ms", "time_ms", "time_us", "time_ns", "at_ns", "span"}
    made = {}
    for name, (values, kind) in columns.items():
        if name in casts and isinstance(values[0], int):
            number = pa.int32() if kind.bit_width == 32 else pa.int64()
            made[name] = sprinkled(values, number, nulls).view(kind)
        else:
            made[name] = sprinkled(values, kind, nulls)
    return pa.table(made)


def nested(nulls: bool) -> pa.Table:
    """Lists, structs and maps in each other, empty and missing at every level."""
    rng = np.random.default_rng(8)
    sizes = [int(n) for n in rng.integers(0, 5, ROWS)]

    def gone(i: int, every: int) -> bool:
        return nulls and i % every == 0

    tokens = [[None if gone(i + k, 11) else i * k for k in range(n)] for i, n in enumerate(sizes)]
    chat = [
        [{"role": f"r{k % 3}", "content": None if gone(i + k, 13) else f"text {i} " * k} for k in range(n)] for i, n in enumerate(sizes)
    ]
    deep = [[None if gone(k, 3) else [[k, i], [], [i]][: i % 4] for k in range(n)] for i, n in enumerate(sizes)]
    maps = [[(f"k{k}", None if gone(k, 2) else float(i)) for k in range(n)] for i, n in enumerate(sizes)]
    structs = [{"a": None if gone(i, 3) else i, "b": {"c": f"s{i % 9}", "d": [i % 100] * (i % 3)}} for i in range(ROWS)]
    nested_maps = [[(k, [("x", i)] * (k % 2)) for k in range(n)] for i, n in enumerate(sizes)]
    kinds: dict[str, tuple[list[Any], pa.DataType]] = {
        "tokens": (tokens, pa.list_(pa.int32())),
        "large": (tokens, pa.large_list(pa.int64())),
        "chat": (chat, pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        "deep": (deep, pa.list_(pa.list_(pa.list_(pa.int16())))),
        "map": (maps, pa.map_(pa.string(), pa.float64())),
        "maps": (nested_maps, pa.map_(pa.int32(), pa.map_(pa.string(), pa.int64()))),
        "struct": (structs, pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.int8()))]))])),
        "fixed_list": ([[i, i + 1, i + 2] for i in range(ROWS)], pa.list_(pa.float32(), 3)),
    }
    return pa.table({name: sprinkled(values, kind, nulls) for name, (values, kind) in kinds.items()})
