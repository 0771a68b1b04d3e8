"""Texts to tokens and back, by a child process that has loaded a tokenizer.json."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ._call import Caller, Slot, listed, pieces
from ._errors import UsageError
from ._options import Path, Size


class Tokenizer:
    """A tokenizer.json, as the tokenizers library reads it: the same ids.

    It has one child process, started when it is first needed, that ends with the object or at close(). Threads take turns; a forked process
    has a child of its own; pickled, a tokenizer is the name of its file.

    >>> import weir
    >>> tok = weir.Tokenizer.from_file("tokenizer.json")  # doctest: +SKIP
    >>> tok.encode_batch(["Hello world", "Hi"])  # doctest: +SKIP
    [[9906, 1917], [13347]]
    """

    def __init__(self, path: Path, *, num_threads: int = 0, memory: Size | None = None) -> None:
        self._given = (os.fspath(path), num_threads, memory)
        self._lock = threading.Lock()
        self._caller: Caller | None = None
        self._finalizer: Any = None
        _alive.add(self)

    @classmethod
    def from_file(cls, path: Path, *, num_threads: int = 0, memory: Size | None = None) -> Tokenizer:
        """Loads a tokenizer.json. memory bounds the child process ("512MiB"; without it, what the container allows)."""
        made = cls(path, num_threads=num_threads, memory=memory)
        with made._lock:
            made._open()
        return made

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """The ids of one text."""
        return self.encode_batch([text], add_special_tokens)[0]

    def encode_batch(self, texts: Sequence[str], add_special_tokens: bool = True) -> list[list[int]]:
        """The ids of each text, with the tokens that the tokenizer puts around a text unless add_special_tokens is False."""
        out: list[list[int]] = []

        def take(rows: int, ends: memoryview, values: memoryview) -> None:
            ids = values.cast("i").tolist()
            at = ends.tolist()
            out.extend([ids[a:b] for a, b in pairwise(at)])

        self._each(listed(_texts(texts), pa.large_string(), "text"), {"do": "encode", "special": add_special_tokens}, take)
        return out

    def encode_arrow(self, texts: pa.Array | pa.ChunkedArray, add_special_tokens: bool = True) -> pa.ListArray:
        """The ids of a column of texts, as a column of lists of int32. A null stays one."""
        whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        if isinstance(whole, pa.ChunkedArray):
            whole = pa.concat_arrays(whole.chunks)
        whole = whole.cast(pa.large_string())
        kind = pa.large_list(pa.field("item", pa.int32()))
        parts: list[pa.Array] = []

        def take(rows: int, ends: memoryview, values: memoryview) -> None:
            ids = pa.Array.from_buffers(pa.int32(), len(values) // 4, [None, pa.py_buffer(bytes(values))])
            parts.append(pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(bytes(ends))], children=[ids]))

        self._each(pieces(pa.record_batch([whole], ["text"])), {"do": "encode", "special": add_special_tokens}, take)
        lists = pa.concat_arrays(parts) if parts else pa.array([], kind)
        if sum(len(part.values) for part in parts) >= 1 << 31:
            raise UsageError("more tokens than one Arrow list column can count: give the column in parts")
        lists = lists.cast(pa.list_(pa.int32()))
        return pc.if_else(whole.is_valid(), lists, pa.scalar(None, lists.type)) if whole.null_count else lists

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of ids."""
        return self.decode_batch([ids], skip_special_tokens)[0]

    def decode_batch(self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """The text of each sequence of ids."""
        out: list[str] = []

        def take(rows: int, ends: memoryview, values: memoryview) -> None:
            at = ends.tolist()
            out.extend([str(values[a:b], "utf-8", "replace") for a, b in pairwise(at)])

        self._each(listed(_several(sequences), pa.large_list(pa.uint32()), "ids"), {"do": "decode", "special": skip_special_tokens}, take)
        return out

    def token_to_id(self, token: str) -> int | None:
        """The id of a token as tokenizer.json writes it; None: there is none."""
        id: int = self._ask({"do": "id", "token": token})["id"]
        return None if id < 0 else id

    def get_vocab_size(self) -> int:
        """How many tokens there are, with the added ones."""
        return int(self._ask({"do": "size"})["rows"])

    def close(self) -> None:
        """Ends the child; another is started when it is needed."""
        with self._lock:
            self._let_go()

    def __enter__(self) -> Tokenizer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, self._given

    def __repr__(self) -> str:
        return f"Tokenizer({self._given[0]!r})"

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            return self._during(lambda caller: caller.ask(question))

    def _each(self, batches: Iterator[pa.RecordBatch], question: dict[str, Any], take: Any) -> None:
        with self._lock:
            self._during(lambda caller: _collect(caller.each(batches, question), take))

    def _during(self, work: Any) -> Any:
        """What work returns; a caller that an exception interrupted has ended."""
        try:
            return work(self._open())
        except BaseException:
            self._let_go()
            raise

    def _open(self) -> Caller:
        if self._caller is None:
            path, threads, memory = self._given
            given = {"work": "tokenizer", "paths": [path], "threads": threads, "memory": None if memory is None else str(memory)}
            self._caller = Caller(given)
            self._finalizer = weakref.finalize(self, self._caller.end)
        return self._caller

    def _let_go(self) -> None:
        caller, self._caller = self._caller, None
        if caller is not None:
            self._finalizer.detach()
            caller.end()

    def _forked(self) -> None:
        """In a forked process, before anything else happens: the child and the lock are the parent's."""
        self._lock = threading.Lock()
        self._let_go()


def _collect(answers: Iterable[tuple[dict[str, Any], Slot]], take: Any) -> None:
    for answer, slot in answers:
        rows, start, end = answer["rows"], answer["from"], answer["to"]
        if rows:
            with slot.result(end) as whole:
                take(rows, whole[: 8 * (rows + 1)].cast("q"), whole[start:end])


def _texts(given: Any) -> Sequence[str]:
    if isinstance(given, (str, bytes)):
        raise TypeError("encode_batch takes a list of texts; encode takes one")
    several = given if isinstance(given, (list, tuple)) else list(given)
    for i, text in enumerate(several):
        if not isinstance(text, str):
            raise TypeError(f"text {i} is {type(text).__name__}, not str")
    return several


def _several(given: Any) -> Sequence[Sequence[int]]:
    several = given if isinstance(given, (list, tuple)) else list(given)
    for i, ids in enumerate(several):
        if ids is None:
            raise TypeError(f"sequence {i} is None")
    return several


def _remake(path: str, threads: int, memory: Size | None) -> Tokenizer:
    return Tokenizer(path, num_threads=threads, memory=memory)


_alive: weakref.WeakSet[Tokenizer] = weakref.WeakSet()


def _after_fork() -> None:
    for tokenizer in list(_alive):
        tokenizer._forked()


os.register_at_fork(after_in_child=_after_fork)
