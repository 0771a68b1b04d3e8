"""Writes TFRecord files of tf.train.Example messages, encoded by hand."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import google_crc32c


def varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*out, n])


def field(number: int, body: bytes) -> bytes:
    """A field of a message that has a length."""
    return varint(number << 3 | 2) + varint(len(body)) + body


def feature(values: list[Any], packed: bool = True) -> bytes:
    """A Feature: bytes_list, float_list or int64_list by the values' type."""
    if values and isinstance(values[0], bytes):
        return field(1, b"".join(field(1, value) for value in values))
    if values and isinstance(values[0], float):
        body = b"".join(struct.pack("<f", value) for value in values)
        return field(2, field(1, body) if packed else b"".join(varint(1 << 3 | 5) + body[i : i + 4] for i in range(0, len(body), 4)))
    numbers = [varint(value) for value in values]
    return field(3, field(1, b"".join(numbers)) if packed else b"".join(varint(1 << 3) + number for number in numbers))


def example(row: dict[str, list[Any]], packed: bool = True) -> bytes:
    entries = (field(1, field(1, name.encode()) + field(2, feature(values, packed))) for name, values in row.items())
    return field(1, b"".join(entries))


def masked(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    return length + masked(length) + body + masked(body)


def records(rows: Iterable[dict[str, list[Any]]], packed: bool = True) -> bytes:
    return b"".join(record(example(row, packed)) for row in rows)
