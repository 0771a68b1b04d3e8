"""Batches on their way to a device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple


class Taken(NamedTuple):
    """A batch as the model is given it, and where the epoch is after it."""

    value: Any
    position: int
    rows: int
    repeated: int


Take = Callable[[], "Taken | None"]


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A batch with every tensor in it changed; what is no tensor stays."""
    if isinstance(value, tuple):
        return tuple(each(v, change) for v in value)
    if isinstance(value, dict):
        return {name: each(v, change) for name, v in value.items()}
    return change(value) if hasattr(value, "pin_memory") else value


def pinned(take: Take) -> Take:
    """Copies batches into memory that a GPU reads by itself. Without a GPU there is none, and batches stay as they are."""
    import torch  # noqa: PLC0415 - only where it is wanted

    if not torch.cuda.is_available():
        warnings.warn("pin_memory=True: there is no GPU here, batches stay where they are", stacklevel=4)
        return take

    def pin() -> Taken | None:
        taken = take()
        return taken and taken._replace(value=each(taken.value, lambda t: t.pin_memory()))

    return pin


def moved(take: Take, device: str) -> Take:
    """Copies batches to a device; to a GPU one ahead of the model, beside its work."""
    import torch  # noqa: PLC0415 - only where it is wanted

    to = torch.device(device)
    if to.type == "cuda":
        return Ahead(take, to)

    def move() -> Taken | None:
        taken = take()
        return taken and taken._replace(value=each(taken.value, lambda t: t.to(to)))

    return move


class Ahead:
    """Has the next batch copied to the GPU, on a stream of its own, while the model works on this one."""

    def __init__(self, take: Take, device: Any) -> None:
        import torch  # noqa: PLC0415 - only where it is wanted

        self._take = take
        self._device = device
        self._cuda = torch.cuda
        self._stream = torch.cuda.Stream(device)
        self._next: tuple[Taken | None, Any] | Exception | None = None

    def __call__(self) -> Taken | None:
        now = self._next if self._next is not None else self._copy()
        self._next = None
        if isinstance(now, Exception):
            raise now
        taken, done = now
        if taken is None:
            return None
        try:
            self._next = self._copy()
        except Exception as error:  # it belongs to the next batch, not to this one
            self._next = error
        current = self._cuda.current_stream(self._device)
        current.wait_event(done)
        each(taken.value, lambda t: t.record_stream(current))
        return taken

    def _copy(self) -> tuple[Taken | None, Any]:
        """Sets the next batch on its way; the event tells when it has arrived."""
        taken = self._take()
        if taken is None:
            return None, None
        with self._cuda.stream(self._stream):
            value = each(taken.value, lambda t: t.pin_memory().to(self._device, non_blocking=True))
            return taken._replace(value=value), self._stream.record_event()
