"""TFRecord files of tf.train.Example, encoded by hand: a message with one map from names to lists of bytes, floats or integers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c
import pyarrow as pa

from datasets import Spec
from writers import part


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(value: Any) -> bytes:
    """A Feature: bytes_list is its field 1, float_list 2, int64_list 3, and in each the values are field 1, numbers packed."""
    if isinstance(value, bytes):
        return field(1, field(1, value))
    if isinstance(value, list):
        return field(2, field(1, struct.pack(f"<{len(value)}f", *value)))
    return field(3, field(1, varint(value)))


def example(row: dict[str, Any]) -> bytes:
    """An Example; a null is a feature that is not there."""
    present = ((name, value) for name, value in row.items() if value is not None)
    return field(1, b"".join(field(1, field(1, name.encode()) + field(2, feature(value))) for name, value in present))


def checksum(data: bytes) -> bytes:
    """CRC-32C, rotated and shifted as TFRecord has it, so that a checksum of checksums is sound too."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + checksum(length) + data + checksum(data)


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    with part(folder, spec.form).open("wb") as out:
        for table in tables:
            out.writelines(record(example(row)) for row in table.to_pylist())
