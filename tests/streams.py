"""Files larger than any memory given to read them, made fast by writing one block of rows again and again."""

from __future__ import annotations

import io
import itertools
import json
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path

import rows

BLOCK = 4_000  # rows of a block, about 6 MB
CELL = 40_000_000  # bytes of the one large cell
MEMBER = 200_000_000  # bytes of the one large member
ARRAY, LINES, TABLE = 780, 160, 480  # blocks: about 5, 1 and 3 GB
LINE = 4 << 30  # bytes of the one line of the bomb


def block() -> list[dict[str, object]]:
    return rows.text(0, BLOCK).to_pylist()


def save(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb", buffering=0) as out:
        for piece in pieces:
            out.write(piece)


def array(path: Path) -> None:
    """One JSON array of ARRAY * BLOCK objects."""
    body = ",\n".join(map(json.dumps, block())).encode()
    save(path, itertools.chain([b"[\n", body], itertools.repeat(b",\n" + body, ARRAY - 1), [b"\n]\n"]))


def lines(path: Path) -> None:
    body = "".join(json.dumps(row) + "\n" for row in block()).encode()
    save(path, itertools.repeat(body, LINES))


def cells(path: Path) -> None:
    """CSV with one cell of CELL bytes in its middle, quoted, with line feeds and quotes inside."""
    body = "".join(f"{row['id']},{row['text']}\n" for row in block()).encode()
    large = b'-1,"' + (b'a line, and ""quotes""\n' * (CELL // 23)) + b'"\n'
    half = itertools.repeat(body, TABLE // 2)
    save(path, itertools.chain([b"id,text\n"], half, [large], itertools.repeat(body, TABLE // 2)))


def archive(path: Path) -> None:
    """A tar of small samples with one large member among them."""
    with tarfile.open(path, "w") as out:
        for i, row in enumerate(block()):
            body = b"x" * MEMBER if i == BLOCK // 2 else str(row["text"]).encode()
            member = tarfile.TarInfo(f"{i:06d}.bin")
            member.size = len(body)
            out.addfile(member, io.BytesIO(body))


def bomb(path: Path) -> None:
    """A frame of zstd in which four bytes stand for 128 KiB each: one JSON string of LINE bytes."""
    most = 128 << 10

    def header(kind: int, size: int, last: bool = False) -> bytes:
        return (size << 3 | kind << 1 | last).to_bytes(3, "little")

    front, back = b'{"a": 1, "text": "', b'"}\n'
    frame = b"\x28\xb5\x2f\xfd" + bytes([0, 7 << 3])  # no length, a window of 128 KiB
    frame += header(0, len(front)) + front
    frame += (header(1, most) + b"x") * (LINE // most)
    path.write_bytes(frame + header(0, len(back), last=True) + back)


MAKERS: dict[str, Callable[[Path], None]] = {
    "array.json": array,
    "lines.jsonl": lines,
    "cells.csv": cells,
    "archive.tar": archive,
    "bomb.jsonl.zst": bomb,
}
