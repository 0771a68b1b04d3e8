"""Rows for the passes over a corpus: texts that repeat, texts that nearly repeat, and lists of tokens; and what is known of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from datasets import Spec
from digest import Digest
from rows import generator, prose

WIDTH = 65  # bytes of a text that repeats
NEW = 0.5507  # the share of rows with a text of their own: 69% of all texts are then different
PLANTED = 10  # every tenth short text is nearly another
LONGEST = 4_000  # tokens of a document: fast-axolotl panics at one that fills a row of 4,096 but for one
DIGITS = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), np.uint8).reshape(256, 2)


def draws(start: int, count: int) -> np.ndarray:
    """Which text each row has: one of its own, or that of any row before it, which need not have had it."""
    rng = generator(20, start)
    rows = np.arange(start, start + count)
    earlier = (rng.random(count) * rows).astype(np.int64)
    return np.where(rng.random(count) < NEW, rows, earlier)


def mixed(values: np.ndarray) -> np.ndarray:
    """Numbers scattered over 64 bits."""
    values = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


def hexadecimal(which: np.ndarray) -> np.ndarray:
    """The texts of those numbers, 65 bytes each: hexadecimal digits in which no codec finds a repetition."""
    words = (WIDTH + 15) // 16
    noise = mixed(which[:, None] * words + np.arange(words)).view(np.uint8)
    return DIGITS[noise].reshape(len(which), -1)[:, :WIDTH]


def repeats(start: int, count: int, _: float) -> pa.Table:
    """A text of 65 bytes, which about every third row has in common with one before it."""
    offsets = np.arange(0, (count + 1) * WIDTH, WIDTH, dtype=np.int32)
    flat = np.ascontiguousarray(hexadecimal(draws(start, count)))
    return pa.table({"text": pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(flat))})


def first_rows(spec: Spec) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows that are the first with their text, and which text that is, in order."""
    seen = np.zeros(spec.rows, dtype=bool)
    for start in range(0, spec.rows, spec.group):
        which = draws(start, min(spec.group, spec.rows - start))
        different, at = np.unique(which, return_index=True)
        new = ~seen[different]
        seen[different] = True
        at = np.sort(at[new])
        yield start + at, which[at]


def repeats_facts(spec: Spec) -> dict[str, int]:
    """How many texts differ, the sum of the first rows that have them, and the digests of these texts in any and in this order."""
    distinct = kept = 0
    digest = Digest()
    for rows, which in first_rows(spec):
        distinct += len(rows)
        kept += int(rows.sum())
        digest.add(np.ascontiguousarray(hexadecimal(which)[:, :8]).view(np.uint64).ravel())
    return {"distinct": distinct, "kept": kept, "words": digest.words, "ordered": digest.ordered}


def short_texts(start: int, count: int, _: float) -> pa.Table:
    """A text of 100 to 200 bytes; every tenth is one of the others and a word more."""
    rng = generator(21, start)
    texts = prose(rng, rng.integers(100, 200, count)).to_pylist()
    for row in range(PLANTED - 1, count, PLANTED):
        texts[row] = f"{texts[row - 4]} again"
    return pa.table({"text": pa.array(texts)})


def short_facts(spec: Spec) -> dict[str, int]:
    """How many of the texts are nearly another."""
    return {"planted": sum(min(spec.group, spec.rows - start) // PLANTED for start in range(0, spec.rows, spec.group))}


def lengths(start: int, count: int) -> np.ndarray:
    """Tokens of documents, 500 of them in the mean, log-normal."""
    return generator(22, start).lognormal(np.log(500) - 0.32, 0.8, count).astype(np.int64).clip(1, LONGEST)


def documents(start: int, count: int, _: float) -> pa.Table:
    """Lists of token ids out of 32,000."""
    offsets = np.concatenate([[0], np.cumsum(lengths(start, count))]).astype(np.int32)
    values = (32_000 ** generator(23, start).random(int(offsets[-1]))).astype(np.int32)
    return pa.table({"input_ids": pa.ListArray.from_arrays(offsets, values)})


def document_facts(spec: Spec) -> dict[str, int]:
    """How many tokens there are."""
    return {"tokens": sum(int(lengths(start, min(spec.group, spec.rows - start)).sum()) for start in range(0, spec.rows, spec.group))}


BUILDERS: dict[str, Callable[[int, int, float], pa.Table]] = {"repeats": repeats, "short-texts": short_texts, "documents": documents}
FACTS: dict[str, Callable[[Spec], dict[str, int]]] = {
    "repeats": repeats_facts,
    "short-texts": short_facts,
    "documents": document_facts,
}
