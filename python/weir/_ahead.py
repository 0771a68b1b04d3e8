"""Batches on their way to a device."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from ._output import Form
from ._transport import Batch, HeldError

Take = Callable[[], Batch | None]


class Taken(NamedTuple):
    """A batch as the model is given it, and where the epoch is after it."""

    value: Any
    position: int
    rows: int
    repeated: int


def taken(batch: Batch, value: Any) -> Taken:
    return Taken(value, batch.position, batch.rows, (batch.extra or {}).get("repeated", 0))


def plain(take: Take, form: Form) -> Callable[[], Taken | None]:
    """Batches where they lie."""

    def next_one() -> Taken | None:
        batch = take()
        return None if batch is None else taken(batch, form(batch, None))

    return next_one


def changed(take: Take, form: Form, change: Callable[[Any], Any]) -> Callable[[], Taken | None]:
    """Batches with every tensor changed; what is no tensor stays."""

    def each(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(each, value))
        if isinstance(value, dict):
            return {name: each(v) for name, v in value.items()}
        return change(value) if hasattr(value, "pin_memory") else value

    return plain(take, lambda batch, _: each(form(batch, None)))


def pinned(take: Take, form: Form) -> Callable[[], Taken | None]:
    """Batches copied into memory that a GPU reads by itself. Without a GPU there is none, and they stay where they are."""
    import torch  # noqa: PLC0415 - only where it is wanted

    if not torch.cuda.is_available():
        warnings.warn("pin_memory=True: there is no GPU here, batches stay where they are", stacklevel=4)
        return plain(take, form)
    return changed(take, form, lambda tensor: tensor.pin_memory())


class Gpu:
    """Copies batches to a GPU from the shared memory they lie in, on a stream of its own. That memory is pinned once for all of them.

    Nobody waits for a copy: the batch is held here until a later look finds that it is done.
    """

    def __init__(self, device: Any) -> None:
        import numpy  # noqa: PLC0415 - only where it is wanted
        import torch  # noqa: PLC0415

        self._torch = torch
        self._bytes = numpy.asarray
        wanted = torch.device(device)
        self._index = torch.cuda.current_device() if wanted.index is None else wanted.index
        self._device = torch.device("cuda", self._index)
        self._stream = torch.cuda.Stream(self._device)
        self._pinned: Callable[[], Any] = lambda: None  # a weak reference to the shared memory that is
        self._flying: deque[tuple[Any, Batch]] = deque()  # what is being copied, each with the event of its end
        self._events: list[Any] = []  # to be used again
        self._current = torch.cuda.current_stream(self._index)  # the model's

    def copy(self, batch: Batch) -> tuple[Any, Any]:
        """All bytes of a batch on the GPU, from the moment of the event on, which is good until the next look."""
        if self._pinned() is not batch._map:
            self._pin(batch._map)
        done = self._events.pop() if self._events else self._torch.cuda.Event()
        model, cuda = self._model(), self._torch.cuda
        cuda.set_stream(self._stream)  # `with cuda.stream` takes three times as long as the copy
        try:
            there = self._torch.from_numpy(self._bytes(batch)).to(self._device, non_blocking=True)
            done.record(self._stream)
        finally:
            cuda.set_stream(model)
        self._flying.append((done, batch))
        return there, done

    def _model(self) -> Any:
        """The stream that the model uses now. Asking for its number takes a tenth of the time that asking for itself takes."""
        if self._torch._C._cuda_getCurrentRawStream(self._index) != self._current.cuda_stream:
            self._current = self._torch.cuda.current_stream(self._index)
        return self._current

    def look(self, most: int) -> bool:
        """Lets go of batches that are copied, and waits until at most so many are not; False: there was nothing to let go of."""
        before = len(self._flying)
        while self._flying:
            done, _ = self._flying[0]
            if not done.query():
                if len(self._flying) <= most:
                    break
                done.synchronize()
            self._events.append(done)
            self._flying.popleft()
        return len(self._flying) < before

    def hand_over(self, there: Any, done: Any) -> None:
        """Lets the model's stream use a copy, without waiting for it here."""
        model = self._model()
        model.wait_event(done)
        there.record_stream(model)

    def _pin(self, memory: Any) -> None:
        """Where that is not to be had, copies wait for each other, and are the same."""
        runtime = self._torch.cuda.cudart()
        self._pinned = weakref.ref(memory)
        if int(runtime.cudaHostRegister(memory.address, memory.size, 0)) == 0:
            weakref.finalize(memory, _unpin, runtime, memory.address, self._stream).atexit = False
            return
        with contextlib.suppress(RuntimeError):
            self._torch.zeros(1, device=self._device)  # CUDA tells the next caller, whoever that is, of the error


def _unpin(runtime: Any, address: int, stream: Any) -> None:
    """The memory at an address goes away, if need be after the last copy from it."""
    with contextlib.suppress(RuntimeError):  # in a forked process there is no GPU
        stream.synchronize()
    runtime.cudaHostUnregister(address)


FLYING = 2  # copies at a time; more would take room from the batches that are made ahead
ROOMY = 5  # batches in the shared memory, from which on two may be on their way


class Ahead:
    """Has the next batch copied to the GPU while the model works on this one."""

    def __init__(self, take: Take, form: Form, gpu: Gpu) -> None:
        self._take, self._form, self._gpu = take, form, gpu
        self._next: tuple[Batch | None, Any, Any] | Exception | None = None

    def __call__(self) -> Taken | None:
        now = self._next if self._next is not None else self._copy()
        self._next = None
        if isinstance(now, Exception):
            raise now
        batch, there, done = now
        if batch is None:
            self._gpu.look(0)
            return None
        given = taken(batch, self._form(batch, there))
        self._gpu.hand_over(there, done)
        roomy = batch._map.size >= ROOMY * batch.nbytes
        del batch, now
        self._gpu.look(FLYING - 1 if roomy else 0)
        try:
            self._next = self._copy()
        except Exception as error:  # it belongs to the next batch, not to this one
            self._next = error
        return given

    def _copy(self) -> tuple[Batch | None, Any, Any]:
        try:
            batch = self._take()
        except HeldError:
            if not self._gpu.look(0):
                raise
            batch = self._take()
        return (None, None, None) if batch is None else (batch, *self._gpu.copy(batch))
