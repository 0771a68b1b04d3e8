"""Rows of the test datasets: the same arguments make the same rows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

SEED = 20261115
PROSE = 4 << 20  # bytes of running text that the texts are cut from


@cache
def running_text() -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Words of two to nine letters, the short ones more often."""
    rng = np.random.default_rng(SEED)
    words = ["".join(rng.choice(list("etaoinshrdlucmfwyp"), rng.integers(2, 10))) for _ in range(4000)]
    picks = (4000 ** rng.random(PROSE // 4)).astype(int)
    text = " ".join(words[i] for i in picks).encode()[:PROSE]
    return np.frombuffer(text, dtype=np.uint8)


def prose(rng: np.random.Generator, sizes: np.ndarray) -> pa.Array:
    """Texts of the given sizes in bytes."""
    source = running_text()
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    starts = rng.integers(0, PROSE - int(sizes.max()), len(sizes))
    data = np.concatenate([source[a : a + n] for a, n in zip(starts, sizes, strict=True)])
    return pa.StringArray.from_buffers(len(sizes), pa.py_buffer(offsets.tobytes()), pa.py_buffer(data.tobytes()))


def numeric(start: int, count: int, nulls: float = 0.0, floats: int = 32) -> pa.Table:
    """An id, standard normal float64, and a label of ten classes."""
    rng = np.random.default_rng([SEED, 1, start])

    def mask() -> np.ndarray | None:
        return rng.random(count) < nulls if nulls else None

    columns = {"id": pa.array(np.arange(start, start + count))}
    columns |= {f"f{i:02d}": pa.array(rng.standard_normal(count), mask=mask()) for i in range(floats)}
    columns["label"] = pa.array(rng.integers(0, 10, count), mask=mask())
    return pa.table(columns)


def text(start: int, count: int) -> pa.Table:
    """An id and a text of 1 to 2 KB."""
    rng = np.random.default_rng([SEED, 2, start])
    return pa.table({"id": pa.array(np.arange(start, start + count)), "text": prose(rng, rng.integers(1000, 2000, count))})


def mixed(start: int, count: int) -> pa.Table:
    """What a table of raw data has: an id, numbers with gaps, words of few and of many kinds, a text, a label."""
    rng = np.random.default_rng([SEED, 5, start])
    words = np.array([f"word {i}" for i in range(400)])
    columns = {"id": pa.array(np.arange(start, start + count))}
    columns |= {f"f{i:02d}": pa.array(rng.normal(i * 1e6, 1 + i, count), mask=rng.random(count) < 0.05) for i in range(16)}
    columns |= {"country": pa.array(words[rng.integers(0, 40, count)]), "city": pa.array(words[rng.integers(0, 400, count)])}
    columns |= {"text": prose(rng, rng.integers(100, 500, count)), "label": pa.array(rng.integers(0, 2, count))}
    return pa.table(columns)


def chat(start: int, count: int) -> pa.Table:
    """Conversations of no to eight messages, some of them missing."""
    rng = np.random.default_rng([SEED, 3, start])
    lengths = rng.integers(0, 9, count)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), mask=np.append(rng.random(count) < 0.01, False))
    total = int(lengths.sum())
    roles = pa.DictionaryArray.from_arrays(rng.integers(0, 3, total).astype(np.int8), ["system", "user", "assistant"]).dictionary_decode()
    messages = pa.StructArray.from_arrays([roles, prose(rng, rng.integers(40, 600, total))], names=["role", "content"])
    return pa.table({"id": pa.array(np.arange(start, start + count)), "messages": pa.ListArray.from_arrays(offsets, messages)})


def wide(columns: int, rows: int) -> pa.Table:
    """Columns of few different integers in long runs, which take little room in a file and all of it in memory."""
    row = np.arange(rows, dtype=np.int32)
    kinds = [pa.array((row // 997 + k) % 5) for k in range(5)]
    return pa.table({f"c{i:05d}": kinds[i % 5] for i in range(columns)})


def large_value(size: int, others: int) -> pa.Table:
    """One value of the given size in the middle of small ones."""
    rng = np.random.default_rng([SEED, 4])
    large = rng.integers(97, 113, size, dtype=np.uint8).tobytes()
    values = [b"small %d" % i for i in range(others)]
    values.insert(others // 2, large)
    return pa.table({"id": pa.array(range(others + 1)), "value": pa.array(values, pa.binary())})
