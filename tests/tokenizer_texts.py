# ruff: noqa: RUF001 - texts are meant to be confusing
"""Texts that are hard for tokenizers in every way that is known."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections.abc import Iterator

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
