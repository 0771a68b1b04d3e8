"""What can go wrong, as exceptions that existing code already catches."""

from __future__ import annotations

from . import _transport


class Error(RuntimeError):
    """Anything that weir cannot do; the text says where and why. The others here are kinds of it."""


class UsageError(Error, ValueError):
    """An argument that cannot be: a column that is not there, a value that is none."""


class MemoryTooSmallError(Error, MemoryError):
    """The memory given does not suffice; the text says what would."""


class MissingError(Error, FileNotFoundError):
    """No file, directory or object of that name."""


class DataError(Error):
    """Data that is damaged, truncated, or not what it says it is."""


class HeldError(Error):
    """Too many batches are held for another to be made. Once some are dropped, the iteration goes on."""


_KINDS: dict[str, type[Error]] = {
    "usage": UsageError,
    "memory": MemoryTooSmallError,
    "missing": MissingError,
    "data": DataError,
}


def translate(error: _transport.TransportError) -> Error:
    """The public exception for one of the transport's."""
    if isinstance(error, _transport.HeldError):
        return HeldError(str(error))
    if isinstance(error, _transport.ChildError):
        return _KINDS.get(error.kind, Error)(str(error))
    return Error(str(error))
