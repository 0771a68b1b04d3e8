"""Says where two tables differ, value by value; how Arrow holds the values is not a difference."""

from __future__ import annotations

import pyarrow as pa

SHORTER = {pa.large_string(): pa.string(), pa.string_view(): pa.string(), pa.large_binary(): pa.binary(), pa.binary_view(): pa.binary()}
LISTS = [pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view]


def plain(kind: pa.DataType) -> pa.DataType:
    """The type without what is a choice of the reader: dictionary, 64-bit offsets, views, the names of a map's fields.

    A list of fixed size is a plain list in Parquet; that it had one is a note of Arrow's beside the schema, which weir does not follow.
    """
    if pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if kind in SHORTER:
        return SHORTER[kind]
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, plain(f.type), f.nullable) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(plain(kind.key_type), plain(kind.item_type))
    if any(is_list(kind) for is_list in LISTS):
        return pa.list_(pa.field("element", plain(kind.value_type), kind.value_field.nullable))
    return kind


def same_values(got: pa.ChunkedArray, want: pa.ChunkedArray) -> bool:
    """Whether the values are equal; NaN is equal to NaN, and 0.0 is not -0.0."""
    if got.type == want.type and got.equals(want):
        return True
    try:
        return repr(got.to_pylist()) == repr(want.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):  # a time that Python cannot hold
        return bool(got.cast(want.type).equals(want))


def differences(got: pa.Table, want: pa.Table) -> list[str]:
    """One line for each column that differs."""
    if got.column_names != want.column_names:
        return [f"columns {got.column_names}, expected {want.column_names}"]
    if got.num_rows != want.num_rows:
        return [f"{got.num_rows} rows, expected {want.num_rows}"]
    found = []
    for name, a, b in zip(want.column_names, got.columns, want.columns, strict=True):
        if plain(a.type) != plain(b.type):
            found.append(f"{name}: type {a.type}, expected {b.type}")
        if not same_values(a, b):
            found.append(f"{name}: {first_difference(a, b)}")
    return found


def first_difference(got: pa.ChunkedArray, want: pa.ChunkedArray) -> str:
    try:
        for row, (a, b) in enumerate(zip(got.to_pylist(), want.to_pylist(), strict=True)):
            if repr(a) != repr(b):
                return f"row {row}: {a!r:.80}, expected {b!r:.80}"
    except (ValueError, OverflowError, pa.ArrowException):
        pass
    return "values differ"
