"""What comes over the wire: batches in shared memory, seen where they lie, and the errors that come instead."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    import numpy as np

    from ._child import Child

BUG = "; this is a bug in weir, please report it"


class TransportError(RuntimeError):
    """The child cannot be understood, has died, or was closed."""


class ChildError(TransportError):
    """What the child says went wrong; kind is usage, memory, data, missing, store, interrupted or other."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, str(self))


class HeldError(TransportError):
    """The next batch finds no room because of those that are still in use here. Once some are dropped, next goes on."""


class End(NamedTuple):
    """An epoch has no more batches."""

    epoch: int
    position: int
    extra: Any


class Tensor(NamedTuple):
    """An array in a batch; part is "" or says which one of several a column has."""

    name: str
    part: str
    dtype: str
    shape: tuple[int, ...]
    offset: int


class Layout:
    """How to read the bytes of a batch."""

    __slots__ = ("extent", "schema", "tensors", "views")

    def __init__(self, kind: int, text: bytes) -> None:
        self.tensors: tuple[Tensor, ...] = ()
        self.schema: pa.Schema | None = None
        self.extent = 0
        self.views: list[tuple[str, Any, tuple[int, ...], int]] | None = None
        if kind == ord("m"):  # a record with tensors behind it
            end = 4 + int.from_bytes(text[:4], "little")
            self.schema = pa.ipc.read_schema(pa.py_buffer(text[end:]))
            text = text[4:end]
        elif kind == ord("s"):
            self.schema = pa.ipc.read_schema(pa.py_buffer(text))
            return
        self.tensors = tuple(Tensor(t["name"], t.get("part", ""), t["dtype"], tuple(t["shape"]), t["offset"]) for t in json.loads(text))

    def prepare(self) -> list[tuple[str, Any, tuple[int, ...], int]]:
        """What numpy needs to make a view of each tensor. It has no bfloat16, which is given as uint16."""
        import numpy as np  # noqa: PLC0415 - records do not need it

        views = []
        for t in self.tensors:
            dtype = np.dtype("uint16" if t.dtype == "bfloat16" else t.dtype)
            self.extent = max(self.extent, t.offset + dtype.itemsize * math.prod(t.shape))
            views.append((f"{t.name}.{t.part}" if t.part else t.name, dtype, t.shape, t.offset))
        self.views = views
        return views


class Batch:
    """A batch in shared memory. Arrays and buffers made from it keep it; when the last of them is gone, so is the batch.

    The memory may be written to. In a forked process it is still the parent's: copy what is needed there before forking.
    """

    __slots__ = ("__weakref__", "_layout", "_map", "address", "epoch", "extra", "nbytes", "position", "rows")

    def __init__(self, child: Child, head: tuple[int, ...], extra: Any) -> None:
        _, _, offset, self.nbytes, self.rows, layout, self.epoch, self.position = head  # position: that of the next batch
        self._map = child.map
        self.address = child.address + offset
        self._layout = child.layouts[layout]
        self.extra = extra

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False)}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What arrays returns, described; empty for a record."""
        return self._layout.tensors

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """The tensors as numpy arrays that lie in the batch's memory; bfloat16 comes as uint16."""
        import numpy as np  # noqa: PLC0415 - records do not need it

        layout = self._layout
        views = layout.views
        if views is None:
            views = layout.prepare()
        if layout.extent > self.nbytes:
            raise TransportError(f"a batch of {self.nbytes} bytes with tensors up to byte {layout.extent}{BUG}")
        base = np.asarray(self)
        return {name: np.ndarray(shape, dtype, base, offset) for name, dtype, shape, offset in views}

    def buffer(self) -> pa.Buffer:
        """All bytes, as a buffer that lies in the batch's memory."""
        return pa.foreign_buffer(self.address, self.nbytes, self)

    def record(self) -> pa.RecordBatch:
        """The record, whose arrays lie in the batch's memory."""
        if self._layout.schema is None:
            raise TransportError("the batch has tensors, not a record")
        return pa.ipc.read_record_batch(self.buffer(), self._layout.schema)
