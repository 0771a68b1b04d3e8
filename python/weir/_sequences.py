"""Sequences that look like lists of int and str, which are made when they are looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress
from operator import eq
from typing import Any, overload

import pyarrow as pa
import pyarrow.compute as pc

_BLOCK = 64 << 10  # rows whose numbers are made at a time
_HASHES = 32 << 10  # hashes whose texts are
_SHOWN = 1_000  # members that repr shows


def flags(mask: pa.BooleanArray) -> memoryview:
    """A byte for each member."""
    made = mask.cast(pa.uint8())
    return memoryview(made.buffers()[1])[made.offset : made.offset + len(made)]


class Indices(Sequence[int]):
    """Numbers of rows in ascending order, for which one bit a row is kept.

    A list, an array (numpy.asarray) and a loop have them as ints; in an Arrow array of bool, mask, they are the rows that are true.
    """

    __slots__ = ("_block", "_count", "_ends", "mask")

    def __init__(self, mask: pa.BooleanArray) -> None:
        self.mask = mask
        self._count: int = mask.true_count
        self._ends: list[int] = []  # how many there are up to the end of each block; empty: not counted yet
        self._block: tuple[int, list[int]] = (-1, [])  # the one that was last looked at

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        if isinstance(at, slice):
            return [self._at(i) for i in range(*at.indices(self._count))]
        try:
            return self._at(range(self._count)[at])
        except IndexError:
            raise IndexError("list index out of range") from None

    def _at(self, i: int) -> int:
        if not self._ends:
            self._ends = list(accumulate(block.true_count for block in self._blocks()))
        number = bisect_right(self._ends, i)
        if self._block[0] != number:
            self._block = number, list(self._numbers(number * _BLOCK))
        return self._block[1][i - self._ends[number]]  # counted from the block's end

    def _blocks(self) -> Iterator[pa.BooleanArray]:
        return (self.mask.slice(at, _BLOCK) for at in range(0, len(self.mask), _BLOCK))

    def _numbers(self, at: int) -> Iterator[int]:
        """The numbers in the block that begins with row at."""
        block = self.mask.slice(at, _BLOCK)
        return compress(range(at, at + len(block)), flags(block))

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(map(self._numbers, range(0, len(self.mask), _BLOCK)))

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and 0 <= row < len(self.mask) and bool(self.mask[row].as_py())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        found = pc.indices_nonzero(self.mask).to_numpy(zero_copy_only=False)
        return found.astype("int64" if dtype is None else dtype)

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        return pc.indices_nonzero(self.mask).cast(type or pa.int64())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Indices):
            return self._count == other._count and all(map(eq, self, other))
        return self._count == len(other) and list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Iterable[int]) -> list[int]:
        return [*self, *other]

    def __radd__(self, other: Iterable[int]) -> list[int]:
        return [*other, *self]

    def __repr__(self) -> str:
        return f"<{self._count} of {len(self.mask)} rows>" if self._count > _SHOWN else repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Indices, (pa.concat_arrays([self.mask]),)


class Hashes(Sequence[str]):
    """Hashes of rows as hexadecimal texts: 16 or 32 bytes each, not a hundred.

    They are given, one behind the other, or worked out by make, of the rows unseen, when one is looked at.
    """

    __slots__ = ("_count", "_make", "_raw", "unseen", "width")

    def __init__(self, raw: Any, width: int) -> None:
        self._raw = memoryview(raw).cast("B")
        self._make: Callable[[Any], memoryview] | None = None
        self._count = len(self._raw) // width
        self.width = width
        self.unseen: Callable[[], Any] | None = None

    @classmethod
    def of(cls, unseen: Callable[[], Any], count: int, width: int, make: Callable[[Any], memoryview]) -> Hashes:
        """Hashes of rows that nobody may ever look at."""
        made = cls(b"", width)
        made._count, made.unseen, made._make = count, unseen, make
        return made

    @property
    def raw(self) -> memoryview:
        """The bytes of all, one behind the other."""
        if self.unseen is not None and self._make is not None:
            self._raw = self._make(self.unseen())
            self.unseen = self._make = None
        return self._raw

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self._count))]
        i = range(self._count)[at] * self.width
        return self.raw[i : i + self.width].hex()

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(self._texts, range(0, len(self.raw), _HASHES * self.width)))

    def _texts(self, at: int) -> list[str]:
        return self.raw[at : at + _HASHES * self.width].hex("\n", self.width).split("\n")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Hashes):
            return self.width == other.width and self._count == other._count and self.raw == other.raw
        return self._count == len(other) and list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Iterable[str]) -> list[str]:
        return [*self, *other]

    def __radd__(self, other: Iterable[str]) -> list[str]:
        return [*other, *self]

    def __repr__(self) -> str:
        return f"<{self._count} hashes>" if self._count > 4 else repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hashes, (bytes(self.raw), self.width)
