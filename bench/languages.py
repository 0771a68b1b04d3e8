"""Texts to be tokenized: English, code, Chinese, and a row of each in turn. What is short is told again until there is enough."""

from __future__ import annotations

import json
import os
import re
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from rows import generator, prose

HERE = Path(__file__).resolve().parent
SPECIAL = re.compile(r"<\||</?(think|tool)")
PIECE = 2_000  # characters of code in a row, and a line more
CORPUS = (os.environ.get("WEIR_CORPUS"), HERE.parents[1] / "shared" / "corpus")  # where gsm8k may be
CHINESE = HERE.joinpath("chinese.txt").read_text(encoding="utf-8").split()  # frequent words, about the most frequent first
MARKS = [""] * 6 + ["\uff0c", "\u3002"] * 2 + ["\uff01", "\uff1f", "\u3001", "2026\u5e74", "\uff08\u4e00\uff09", "\n"]


def gsm8k() -> Iterator[str]:
    """Questions and answers, each a text, where they are at hand."""
    for folder in CORPUS:
        if folder and (path := Path(folder, "gsm8k", "train.jsonl")).exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                yield f"{row['question']}\n{row['answer']}"
            return


@cache
def english() -> list[str]:
    """gsm8k, or made-up prose."""
    rng = generator(30, 0)
    return list(gsm8k()) or prose(rng, rng.integers(300, 800, 10_000)).to_pylist()


def sources() -> Iterator[Path]:
    """Go and Python: weir's own, and Python's standard library."""
    own = HERE.parent
    for folder in ("cmd", "internal", "python", "tests", "bench"):
        yield from sorted(path for path in own.joinpath(folder).rglob("*") if path.suffix in (".go", ".py"))
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts:
            yield path


@cache
def code() -> list[str]:
    """Sources, cut between lines, without those that name a tokenizer's special tokens, which tiktoken is not asked to find."""
    pieces = []
    for path in sources():
        piece = ""
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
            piece += line
            if len(piece) > PIECE:
                pieces.append(piece)
                piece = ""
        pieces += [piece] * bool(piece)
    return [piece for piece in pieces if not SPECIAL.search(piece)]


@cache
def chinese() -> list[str]:
    """Frequent words at random, the first ones most often."""
    rng = generator(31, 0)
    weights = 1.0 / (np.arange(len(CHINESE)) + 8.0)
    texts = []
    for count in rng.integers(80, 240, 40_000):
        words = rng.choice(len(CHINESE), count, p=weights / weights.sum())
        marks = rng.integers(0, len(MARKS), count)
        texts.append("".join(CHINESE[word] + MARKS[mark] for word, mark in zip(words, marks, strict=True)))
    return texts


def told(texts: list[str], at: int) -> str:
    """One of the texts, which begin again at their end."""
    return texts[at % len(texts)]


def of(language: Callable[[], list[str]]) -> Callable[[int, int, float], pa.Table]:
    """A builder of rows in one language."""
    return lambda start, count, _: pa.table({"text": pa.array([told(language(), row) for row in range(start, start + count)])})


def in_turn(start: int, count: int, _: float) -> pa.Table:
    """A row of each language in turn."""
    languages = [english(), code(), chinese()]
    return pa.table({"text": pa.array([told(languages[row % 3], row // 3) for row in range(start, start + count)])})


BUILDERS: dict[str, Callable[[int, int, float], pa.Table]] = {
    "english": of(english),
    "code": of(code),
    "chinese": of(chinese),
    "mixed": in_turn,
}
