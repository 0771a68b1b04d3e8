"""Rows of the synthetic datasets. A builder takes the first row, the number of rows and the share of nulls; same arguments, same rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa

SEED = 20261115
FLOATS = 32
WORDS = 4_000
ENDINGS = [" "] * 17 + [", ", ". ", ".\n"]
LONGEST = 16  # bytes of a word with its ending

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


def generator(kind: int, start: int) -> np.random.Generator:
    return np.random.default_rng([SEED, kind, start])


@cache
def vocabulary() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words built from syllables: padded bytes, length, and cumulative probability by Zipf's law."""
    rng = generator(0, 0)
    onsets = ["", "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "ch", "th", "pl", "qu"]
    vowels = ["a", "e", "e", "i", "o", "u", "ea", "io", "ou"]
    codas = ["", "", "n", "r", "s", "t", "l", "d", "nd", "ng"]
    seen: dict[str, None] = {}
    while len(seen) < WORDS:
        syllables = 1 + min(int(rng.integers(0, 4)), len(seen) // 60)
        word = "".join(str(rng.choice(onsets)) + str(rng.choice(vowels)) + str(rng.choice(codas)) for _ in range(syllables))
        if len(word) <= LONGEST - 2:
            seen.setdefault(word)
    padded = np.zeros((WORDS, LONGEST), dtype=np.uint8)
    lengths = np.zeros(WORDS, dtype=np.int64)
    for i, word in enumerate(seen):
        padded[i, : len(word)] = np.frombuffer(word.encode(), dtype=np.uint8)
        lengths[i] = len(word)
    weights = 1.0 / (np.arange(WORDS) + 2.7)
    return padded, lengths, np.cumsum(weights / weights.sum())


def prose(rng: np.random.Generator, sizes: np.ndarray) -> pa.StringArray:
    """Texts of about the given sizes in bytes, cut between words."""
    padded, lengths, cumulative = vocabulary()
    count = int(sizes.sum() / 5.0) + 64
    picks = np.searchsorted(cumulative, rng.random(count)).clip(max=WORDS - 1)
    table, widths = padded[picks], lengths[picks].copy()
    endings = rng.integers(0, len(ENDINGS), count)
    for i, ending in enumerate(ENDINGS):
        at = np.flatnonzero(endings == i)
        for byte in ending.encode():
            table[at, widths[at]] = byte
            widths[at] += 1
    ends = np.cumsum(widths)
    wanted = np.cumsum(sizes)
    if ends[-1] < wanted[-1]:
        raise ValueError("too few words drawn for the texts")
    offsets = np.concatenate([[0], ends[np.searchsorted(ends, wanted)]]).astype(np.int32)
    flat: Bytes = table[np.arange(LONGEST) < widths[:, None]][: offsets[-1]]
    return pa.StringArray.from_buffers(len(sizes), pa.py_buffer(offsets.tobytes()), pa.py_buffer(flat.tobytes()))


def ids(start: int, count: int) -> pa.Array:
    return pa.array(np.arange(start, start + count, dtype=np.int64))


def numeric(start: int, count: int, nulls: float) -> pa.Table:
    """An id, 32 columns of standard normal float64, and a label of ten classes."""
    rng = generator(1, start)
    columns: dict[str, pa.Array] = {"id": ids(start, count)}
    for i in range(FLOATS):
        values = rng.standard_normal(count)
        columns[f"f{i:02d}"] = pa.array(values, mask=rng.random(count) < nulls if nulls else None)
    columns["label"] = pa.array(rng.integers(0, 10, count), mask=rng.random(count) < nulls if nulls else None)
    return pa.table(columns)


def text(start: int, count: int, _: float) -> pa.Table:
    """An id and a text of 1 to 2 KB."""
    rng = generator(2, start)
    return pa.table({"id": ids(start, count), "text": prose(rng, rng.integers(1000, 2000, count))})


def chat(start: int, count: int, _: float) -> pa.Table:
    """Conversations: perhaps a system prompt, then one to four questions with answers."""
    rng = generator(3, start)
    system = rng.random(count) < 0.3
    lengths = 2 * rng.integers(1, 5, count) + system
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    total = int(offsets[-1])
    place = np.arange(total) - np.repeat(offsets[:-1], lengths)
    turn = place - np.repeat(system, lengths)
    role = np.where(turn < 0, 0, 1 + turn % 2)
    low, high = np.array([80, 40, 200])[role], np.array([240, 300, 900])[role]
    contents = prose(rng, rng.integers(low, high))
    roles = pa.DictionaryArray.from_arrays(role.astype(np.int8), ["system", "user", "assistant"]).dictionary_decode()
    messages = pa.StructArray.from_arrays([roles, contents], names=["role", "content"])
    return pa.table({"id": ids(start, count), "messages": pa.ListArray.from_arrays(offsets, messages)})


def dialogs(start: int, count: int, nulls: float) -> pa.Table:
    """Conversations with a text of 400 to 800 bytes beside them."""
    rng = generator(7, start)
    return chat(start, count, nulls).append_column("text", prose(rng, rng.integers(400, 800, count)))


def tokens(start: int, count: int, _: float) -> pa.Table:
    """Token lists of 64 to 960 ids out of 32,000."""
    rng = generator(4, start)
    lengths = rng.integers(64, 961, count)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = (32_000 ** rng.random(int(offsets[-1]))).astype(np.int32)
    return pa.table({"id": ids(start, count), "tokens": pa.ListArray.from_arrays(offsets, values)})


def features(start: int, count: int, _: float) -> pa.Table:
    """32 normal float64 of means and deviations of their own, a category of 20 words, and a label of ten classes."""
    shape = generator(5, 0)
    deviations = 10.0 ** shape.uniform(-3, 3, FLOATS)
    means = deviations * shape.uniform(-100, 100, FLOATS)
    rng = generator(6, start)
    columns = {f"f{i:02d}": pa.array(rng.normal(means[i], deviations[i], count)) for i in range(FLOATS)}
    words = [f"category-{i:02d}" for i in range(20)]
    columns["category"] = pa.DictionaryArray.from_arrays(rng.integers(0, len(words), count, np.int8), words).dictionary_decode()
    columns["label"] = pa.array(rng.integers(0, 10, count))
    return pa.table(columns)


BUILDERS: dict[str, Callable[[int, int, float], pa.Table]] = {
    "numeric": numeric,
    "text": text,
    "chat": chat,
    "dialogs": dialogs,
    "tokens": tokens,
    "features": features,
}
