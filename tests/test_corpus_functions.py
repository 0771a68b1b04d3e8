"""The functions on rows and tokens in memory: against plain Python, and against fast-axolotl where that is installed."""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import random
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from binary import BINARY

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("WEIR_BIN", str(BINARY))

import weir  # noqa: E402
from weir import _corpus  # noqa: E402

MEMORY = "128MiB"


def sha(row: str | bytes) -> str:
    return hashlib.sha256(row if isinstance(row, bytes) else row.encode()).hexdigest()


def first_of_their_kind(rows: list[Any], known: set[str] | None = None) -> list[int]:
    seen = set(known or ())
    keep = []
    for i, row in enumerate(rows):
        key = sha(row)
        if key not in seen:
            seen.add(key)
            keep.append(i)
    return keep


def texts(rng: random.Random, count: int) -> list[str]:
    letters = "ab é中👍\0\n"
    return ["".join(rng.choices(letters, k=rng.choice([0, 1, 2, 3, 8, 200]))) for _ in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 2047, 2049, 70_001])
def test_deduplicate_indices_is_a_set_of_hashes(count: int) -> None:
    rows = texts(random.Random(count), count)
    keep, hashes = weir.deduplicate_indices(rows)
    assert keep == first_of_their_kind(rows)
    assert list(hashes) == [sha(rows[i]) for i in keep]
    assert len(hashes) == len(keep) and hashes[:3] == [sha(rows[i]) for i in keep[:3]]


@pytest.mark.parametrize("make", [
    list, tuple, iter, lambda r: [s.encode() for s in r], pa.array, lambda r: pa.array(r, pa.large_string()), 
    lambda r: pa.array(r, pa.string_view()), lambda r: pa.array(r).dictionary_encode(), 
    lambda r: pa.chunked_array([r[:100], [], r[100:]], pa.string()), lambda r: pa.array(["x", *r])[1:],
])  # fmt: skip
def test_rows_of_any_kind_have_the_same_hashes(make: Callable[[list[str]], Any]) -> None:
    rows = texts(random.Random(1), 5_000)
    keep, hashes = weir.deduplicate_indices(make(rows), memory=MEMORY)
    assert keep == first_of_their_kind(rows)
    assert hashes == [sha(rows[i]) for i in keep]


def test_existing_hashes_of_any_origin_are_left_out() -> None:
    rng = random.Random(2)
    old, new = texts(rng, 3_000), texts(rng, 3_000)
    want = first_of_their_kind(new, set(map(sha, old)))
    _, hashes = weir.deduplicate_indices(old)
    for existing in (hashes, list(hashes), set(hashes), weir.parallel_hash_rows(old), pickle.loads(pickle.dumps(hashes)), hashes + hashes):
        assert weir.deduplicate_indices(new, existing)[0] == want
    assert weir.deduplicate_indices(new, [])[0] == first_of_their_kind(new)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each child that is started is to work out SHA-256."""
    found: list[bool] = []

    class Spy(_corpus.Caller):
        def __init__(self, work: Any) -> None:
            found.append(bool(work.get("sha")))
            super().__init__(work)

    monkeypatch.setattr(_corpus, "Caller", Spy)
    return found


@pytest.mark.parametrize("look", [
    lambda h: h[0], lambda h: h[-1:], list, lambda h: h == [""] * len(h), pickle.dumps, lambda h: "x" in h, lambda h: h + ["x"],  # noqa: RUF005
])  # fmt: skip
def test_sha_is_asked_for_when_a_hash_is_looked_at_and_once(asked: list[bool], look: Callable[[Any], Any]) -> None:
    rows = [text.replace("\0", "") for text in texts(random.Random(20), 4_000)]  # texts with zeros are sent twice
    keep, hashes = weir.deduplicate_indices(rows)
    assert len(hashes) == len(keep) and hashes != [] and repr(hashes) == f"<{len(keep)} hashes>"
    assert asked == [False]
    rows.reverse()  # they are of the rows as they were
    look(hashes)
    assert asked == [False, True]
    assert hashes == [sha(rows[-1 - i]) for i in keep]
    assert asked == [False, True]


@pytest.mark.parametrize("make", [list, lambda r: [s.encode() for s in r], pa.array, lambda r: pa.array(r, pa.string_view())])
def test_chained_calls_leave_out_the_same_rows_however_they_know_them(asked: list[bool], make: Callable[[list[str]], Any]) -> None:
    rng = random.Random(21)
    parts = [[text.replace("\0", "") for text in texts(rng, 2_000)] for _ in range(3)]
    want = first_of_their_kind(parts[1], set(map(sha, parts[0])))
    _, first = weir.deduplicate_indices(make(parts[0]))
    keep, second = weir.deduplicate_indices(make(parts[1]), first)
    assert keep == want and asked == [False, False]
    assert weir.deduplicate_indices(make(parts[1]), second)[0] == first_of_their_kind(parts[1], {sha(parts[1][i]) for i in keep})
    assert asked == [False, False, False]
    assert second == [sha(parts[1][i]) for i in keep]  # looked at, they are known by SHA-256
    assert weir.deduplicate_indices(make(parts[1]), second)[0] == first_of_their_kind(parts[1], set(second))
    assert asked == [False, False, False, True, True]
    known = list(first)
    keep, by_sha = weir.deduplicate_indices(make(parts[1]), known)
    assert keep == want and by_sha == second and asked[-1]
    known += by_sha
    assert weir.deduplicate_indices(parts[2], known)[0] == first_of_their_kind(parts[2], set(known))
    assert weir.deduplicate_indices(parts[1], by_sha)[0] == weir.deduplicate_indices(parts[1], second)[0]


def test_hashes_hold_the_rows_that_were_kept_until_they_are_looked_at() -> None:
    class Text(str):
        __slots__ = ("__weakref__",)

    rows = [Text(i % 3) for i in range(9)]
    alive = [weakref.ref(row) for row in rows]
    _, hashes = weir.deduplicate_indices(rows)
    del rows
    gc.collect()
    assert [i for i, row in enumerate(alive) if row() is not None] == [0, 1, 2]
    assert hashes[0] == sha("0")
    gc.collect()
    assert all(row() is None for row in alive)
    assert list(hashes) == [sha("0"), sha("1"), sha("2")]


@pytest.mark.parametrize("count", [1, 63, 70_001, 200_003])
def test_indices_are_as_a_list_of_int(count: int) -> None:
    rows = [f"{i * i % (count // 2 + 1)}" for i in range(count)]
    keep, _ = weir.deduplicate_indices(rows)
    want = first_of_their_kind(rows)
    assert list(keep) == want == [keep[i] for i in range(len(keep))] and keep == want and want == keep and sum(keep) == sum(want)
    assert len(keep) == len(want) and keep[-1] == want[-1] and keep[::7] == want[::7] and keep[-3:] == want[-3:]
    assert all(i in keep for i in want[:50]) and (count == 1 or sum(i in keep for i in range(count)) == len(want))
    assert -1 not in keep and count not in keep and "0" not in keep
    assert numpy.asarray(keep).dtype == numpy.int64 and numpy.asarray(keep).tolist() == want and pa.array(keep).to_pylist() == want
    assert pickle.loads(pickle.dumps(keep)) == keep and keep + [1] == [*want, 1] and [1] + keep == [1, *want]  # noqa: RUF005
    with pytest.raises(IndexError):
        keep[len(want)]


def test_keys_of_one_kind_are_not_taken_for_another() -> None:
    _, plain = weir.deduplicate_indices(["a"])
    _, normal = weir.deduplicate_indices(["a"], normalize=True)
    with pytest.raises(weir.UsageError, match="have 64 digits, those of these rows 32"):
        weir.deduplicate_indices(["a"], plain, normalize=True)
    with pytest.raises(weir.UsageError, match="have 32 digits, those of these rows 64"):
        weir.deduplicate_indices(["a"], normal)


@pytest.mark.parametrize("odd", ["\0", "a\0", b"x", None, b"\xff\0"])
def test_a_row_that_cannot_be_joined_with_others_changes_nothing(odd: Any) -> None:
    for at in (0, 1, 1_023, 1_024, 4_999):
        rows: list[Any] = [f"{i % 700}" for i in range(5_000)]
        rows[at] = odd
        keep, hashes = weir.deduplicate_indices(rows)
        assert keep == [i for i in range(5_000) if rows.index(rows[i]) == i]
        assert hashes == ["0" * 64 if rows[i] is None else sha(rows[i]) for i in keep]


def test_rows_of_very_different_lengths() -> None:
    rows = ["a" * n for n in [0, 1, 5_000] * 700 + [300_000] * 30 + [0, 1, 2] * 70_000 + [3_000_000, 2, 3_000_001]]
    assert weir.deduplicate_indices(rows, memory="48MiB")[0] == weir.deduplicate_indices(pa.array(rows))[0] == first_of_their_kind(rows)


def test_columns_are_compared_as_by_says(tmp_path: Path) -> None:
    rng = random.Random(3)
    table = pa.table(
        {"a": [rng.choice(["x", "", None]) for _ in range(9_000)], "b": [rng.randrange(40) for _ in range(9_000)], "c": range(9_000)}
    )
    pq.write_table(table.slice(0, 5_000), tmp_path / "1.parquet", row_group_size=700)
    pq.write_table(table.slice(5_000), tmp_path / "2.parquet")
    pairs = list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    want = [i for i, pair in enumerate(pairs) if pairs.index(pair) == i]
    keep, hashes = weir.deduplicate_indices(table, by=["a", "b"])
    assert keep == want and len(hashes[0]) == 32
    assert weir.deduplicate_indices(tmp_path, by=["a", "b"], memory=MEMORY) == (want, hashes)
    assert weir.deduplicate_indices(str(tmp_path / "2.parquet"), hashes, by=["a", "b"]) == ([], [])
    assert weir.deduplicate_indices(table)[0] == list(range(9_000))


def test_normalized_texts_are_the_same() -> None:
    assert weir.deduplicate_indices(["A  b", "a b ", "e\u0301", "É", "c"], normalize=True)[0] == [0, 2, 4]


def test_a_null_is_a_value_of_its_own() -> None:
    assert weir.deduplicate_indices(pa.array([None, "", None, ""])) == ([0, 1], ["0" * 64, sha("")])


def test_little_memory_gives_the_same_answer() -> None:
    rng = random.Random(4)
    rows = [f"{rng.randrange(400_000)}" for _ in range(600_000)]
    assert weir.deduplicate_indices(rows, memory="48MiB")[0] == weir.deduplicate_indices(rows)[0] == first_of_their_kind(rows)


def test_a_row_larger_than_a_piece() -> None:
    rows = ["a" * 9_000_000, "b", "a" * 9_000_000, "b"]
    assert weir.deduplicate_indices(rows)[0] == [0, 1]
    with pytest.raises(weir.MemoryTooSmallError, match="try memory="):
        weir.deduplicate_indices(["a" * 60_000_000], memory="64MiB")


def test_hash_rows_is_hashlib() -> None:
    rows = texts(random.Random(5), 3_000)
    assert weir.parallel_hash_rows(rows, 2) == [sha(row) for row in rows]
    assert weir.parallel_hash_rows([b"\xff", b""]) == [sha(b"\xff"), sha(b"")]
    assert weir.parallel_hash_rows([]) == []


def packed(items: list[list[list[int]]], length: int, pads: tuple[int, ...]) -> list[list[list[int]]]:
    """Sequences of three columns each in rows, one value after the other."""
    rows: list[list[list[int]]] = []
    for item in items:
        if not rows or len(rows[-1][0]) + len(item[0]) > length:
            rows.append([[], [], []])
        for column, values in zip(rows[-1], item, strict=True):
            for value in values:
                column.append(value)
    return [[[(row[c] + [pads[c]] * length)[:length] for row in rows if row[0]] for c in range(3)]][0]


def test_pack_sequences_is_a_plain_loop() -> None:
    rng = random.Random(6)
    for _ in range(300):
        length = rng.randint(1, 20)
        sequences = [[rng.randrange(100) for _ in range(rng.randint(0, 25))] for _ in range(rng.randint(0, 12))]
        items = []
        for s in sequences:
            ids = [*s[: length - 1], 999]
            more = len(ids) < length
            items.append([ids + [0] * more, ids + [-100] * more, [1] * len(ids) + [0] * more])
        got = weir.pack_sequences(sequences, length, 0, 999)
        assert [got["input_ids"], got["labels"], got["attention_mask"]] == packed(items, length, (0, -100, 0))
        assert all(len(row) == length for rows in got.values() for row in rows)


def test_concatenate_and_pack_is_a_plain_loop() -> None:
    rng = random.Random(7)
    for _ in range(300):
        length = rng.randint(1, 20)
        items = [
            [[rng.randrange(100) for _ in range(n)] for _ in range(3)] for n in (rng.randint(0, 25) for _ in range(rng.randint(0, 12)))
        ]
        got = weir.concatenate_and_pack([i[0] for i in items], [i[1] for i in items], [i[2] for i in items], length, 7)
        assert [got["input_ids"], got["labels"], got["attention_mask"]] == packed(
            [[c[:length] for c in i] for i in items], length, (7, -100, 0)
        )
    with pytest.raises(weir.UsageError, match="sequence 1 has 1 tokens, 2 labels"):
        weir.concatenate_and_pack([[1], [1]], [[1], [1, 2]], [[1], [1]], 4, 0)
    with pytest.raises(ValueError, match="at least 1"):
        weir.pack_sequences([[1]], 0, 0, 1)


def test_pad_sequences() -> None:
    assert weir.pad_sequences([[1, 2, 3], [4], []]) == [[1, 2, 3], [4, 0, 0], [0, 0, 0]]
    assert weir.pad_sequences([[1, 2, 3], [4]], 2, 9, "left") == [[1, 2], [9, 4]]
    assert weir.pad_sequences([[1, 2, 3], [4]], 5, 9, "right", 4) == [[1, 2, 3, 9, 9, 9, 9, 9], [4, 9, 9, 9, 9, 9, 9, 9]]
    assert weir.pad_sequences([]) == []
    with pytest.raises(ValueError, match="padding_side"):
        weir.pad_sequences([[1]], padding_side="middle")


def test_the_same_as_fast_axolotl_where_that_is_right() -> None:
    theirs = pytest.importorskip("fast_axolotl", reason="fast-axolotl, with which results are compared, is not installed")
    rng = random.Random(8)
    rows = texts(rng, 5_000)
    assert weir.deduplicate_indices(rows) == theirs.deduplicate_indices(rows)
    known = theirs.parallel_hash_rows(rows[:99])
    assert weir.deduplicate_indices(rows, known) == theirs.deduplicate_indices(rows, known)
    for _ in range(200):
        length = rng.randint(4, 40)
        sequences = [[rng.randrange(100) for _ in range(rng.randint(0, length - 2))] for _ in range(rng.randint(0, 12))]
        ones = [[1] * len(s) for s in sequences]
        assert weir.pack_sequences(sequences, length, 0, 99, -1) == theirs.pack_sequences(sequences, length, 0, 99, -1)
        assert weir.concatenate_and_pack(sequences, sequences, ones, length, 0) == theirs.concatenate_and_pack(
            sequences, sequences, ones, length, 0
        )
        padding = (rng.choice([None, 10]), 5, rng.choice(["left", "right"]), rng.choice([None, 8]))
        assert weir.pad_sequences(sequences, *padding) == theirs.pad_sequences(sequences, *padding)
    for name in ("a.parquet", "a.jsonl.zst", "a.csv.gz", "a.json", "a.txt", "a.feather", "a.arrow", "a.PARQUET", "a.ndjson", "a.tsv"):
        assert weir.detect_format(name) == theirs.detect_format(name)


def test_formats_are_found_in_the_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "named.csv")
    assert weir.detect_format(tmp_path / "named.csv") == ("parquet", None)
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    subprocess.run(["gzip", "-k", str(tmp_path / "rows.jsonl")], check=True)
    assert weir.detect_format(tmp_path / "rows.jsonl") == ("jsonl", None)
    assert weir.detect_format(tmp_path / "rows.jsonl.gz") == ("jsonl", "gzip")
    with pytest.raises(FileNotFoundError, match="does not tell"):
        weir.detect_format(tmp_path / "none.of.them")


def test_mistakes_are_exceptions_that_say_so(tmp_path: Path) -> None:
    with pytest.raises(weir.MissingError):
        weir.deduplicate_indices(tmp_path / "none.parquet")
    with pytest.raises(weir.UsageError, match="by names columns"):
        weir.deduplicate_indices(["a"], by="text")
    with pytest.raises(weir.UsageError, match="text"):
        weir.deduplicate_indices(pa.table({"x": [1]}), by="text")
    with pytest.raises(weir.UsageError, match="have 32 digits, those of these rows 64"):
        weir.deduplicate_indices(["a"], ["0" * 32])
    with pytest.raises(weir.UsageError, match="hexadecimal"):
        weir.deduplicate_indices(["a"], ["x" * 64])
    with pytest.raises(weir.UsageError, match="num_threads"):
        weir.deduplicate_indices(["a"], num_threads=-1)
    with pytest.raises(weir.MemoryTooSmallError, match="try memory="):
        weir.deduplicate_indices(["a"], memory="24MiB")
    for bad in ([1], ["a", 2], [["a"]]):
        with pytest.raises((TypeError, ValueError)):
            weir.deduplicate_indices(bad)
