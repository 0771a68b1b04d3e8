"""Compresses whole files with the compressors that others use."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable

import cramjam
import pyarrow as pa


def members(pack: Callable[[bytes], bytes], data: bytes) -> bytes:
    """The data as several compressed streams behind each other, one of them empty."""
    third = len(data) // 3
    return pack(data[:third]) + pack(b"") + pack(data[third : 2 * third]) + pack(data[2 * third :])


def arrow(codec: str) -> Callable[[bytes], bytes]:
    """As pyarrow's compressed streams write it."""

    def pack(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as out:
            out.write(data)
        return bytes(sink.getvalue())

    return pack


def by(module: object) -> Callable[[bytes], bytes]:
    return lambda data: bytes(module.compress(data))  # type: ignore[attr-defined]


# What a kind of file is called, its ending, and who writes it.
PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (".gz", gzip.compress),
    "gzip members": (".gz", lambda data: members(gzip.compress, data)),
    "bz2": (".bz2", bz2.compress),
    "bz2 members": (".bz2", lambda data: members(bz2.compress, data)),
    "xz": (".xz", lambda data: lzma.compress(data, preset=1)),
    "xz members": (".xz", lambda data: members(lambda part: lzma.compress(part, preset=1), data)),
    "xz sha": (".xz", lambda data: lzma.compress(data, check=lzma.CHECK_SHA256, preset=1)),
    "zstd": (".zst", arrow("zstd")),
    "zstd frames": (".zst", lambda data: members(arrow("zstd"), data)),
    "zstd cramjam": (".zst", by(cramjam.zstd)),
    "lz4": (".lz4", arrow("lz4")),
    "lz4 cramjam": (".lz4", by(cramjam.lz4)),
    "lz4 frames": (".lz4", lambda data: members(arrow("lz4"), data)),
    "snappy": (".sz", by(cramjam.snappy)),
    "snappy named": (".snappy", by(cramjam.snappy)),
    "brotli": (".br", arrow("brotli")),
    "brotli cramjam": (".br", lambda data: bytes(cramjam.brotli.compress(data, level=4))),
}
