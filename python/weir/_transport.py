"""Batches from a child process: it puts them into shared memory, here they are seen where they lie.

The other end, and the description of the protocol, is the Go package internal/feed/wire. Nothing here starts a thread, and nothing that
happens in a destructor touches the socket: a batch that is dropped is noted in a deque, and the note is sent with a later request.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import math
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    import numpy as np

VERSION = 1
_HEAD = struct.Struct("<IB")
_HELLO = struct.Struct("<IQ")
_LAYOUT = struct.Struct("<IB")
_BATCH = struct.Struct("<IQQQQIQQ")
_END = struct.Struct("<IQQ")
_FULL = struct.Struct("<IQQQQ")
_BEGIN = struct.Struct("<IBIIQQ")
_RELEASES = 4096  # ids in one ack frame; the child takes frames of up to 64 KiB
_LARGEST = 64 << 20  # bytes of a frame; a larger one is not one
_TEXT = 8192  # bytes of the child's standard error that an exception shows
_PATIENCE = 2.0  # seconds a child has to end by itself

_BUG = "; this is a bug in weir, please report it"

_log = logging.getLogger("weir")


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


class _Layout:
    """How to read the bytes of a batch."""

    __slots__ = ("extent", "schema", "tensors", "views")

    def __init__(self, kind: int, text: bytes) -> None:
        self.tensors: tuple[Tensor, ...] = ()
        self.schema: pa.Schema | None = None
        self.extent = 0
        self.views: list[tuple[str, Any, tuple[int, ...], int]] | None = None
        if kind == ord("s"):
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

    __slots__ = ("_layout", "_map", "_released", "address", "epoch", "extra", "id", "nbytes", "position", "rows")

    def __init__(self, child: _Child, head: tuple[int, ...], extra: Any) -> None:
        self._released = child.released
        _, self.id, offset, self.nbytes, self.rows, layout, self.epoch, self.position = head  # position: that of the next batch
        self._map = child.map
        self.address = child.address + offset
        self._layout = child.layouts[layout]
        self.extra = extra

    def __del__(self) -> None:
        # In any thread, at any moment, also while the interpreter ends or the deque is being emptied: an append is atomic.
        self._released.append(self.id)

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
            raise TransportError(f"a batch of {self.nbytes} bytes with tensors up to byte {layout.extent}{_BUG}")
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


@contextlib.contextmanager
def _without_interrupt() -> Iterator[None]:
    """A child started in here does not get Ctrl-C, from its first moment on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nameless() -> IO[bytes]:
    """A file for what the child writes to standard error: a pipe would need somebody who reads it."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):
            return open(os.memfd_create("weir-stderr"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


class _Child:
    """A child that runs, as the process that started it sees it: its socket, its frames, what it is owed."""

    def __init__(self, command: Sequence[str], config: bytes) -> None:
        self.pid = os.getpid()
        self.torn = False  # an exception came while state was half changed: frames may be lost
        self.ended = False
        self.released: deque[int] = deque()  # batches dropped here that the child has not heard of
        self.given = 0  # releases sent
        self.taken = 0  # batches
        self.acked = 0  # batches
        self.full: tuple[int, int, int, int] | None = None  # the child waits for room, by its full frame
        self.layouts: dict[int, _Layout] = {}
        self.description: Any = None
        self.map: pa.Buffer | None = None
        self.address = 0
        self.size = 0
        self.length = 0  # of the last batch
        self._buffer = bytearray(1 << 16)
        self._at = self._end = 0  # what lies between was received and not looked at
        self._errors = _nameless()
        self._socket, theirs = socket.socketpair()
        try:
            with theirs, _without_interrupt():
                fd = theirs.fileno()
                self._process = subprocess.Popen(
                    [*command, "--fd", str(fd)], stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors, pass_fds=(fd,)
                )
        except BaseException:
            self._socket.close()
            self._errors.close()
            raise
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self.waited = 0.0  # seconds
        self._start = _HEAD.pack(len(config) + 5, ord("S")) + struct.pack("<I", VERSION) + config

    def hello(self) -> None:
        """Sends the configuration and waits until the child has understood it."""
        self.send(self._start)
        self._start = b""
        while True:
            kind, at, end = self.frame(self._receive_rights)
            if kind == ord("H"):
                break
            self.other(kind, at, end)
        version, self.size = _HELLO.unpack_from(self._buffer, at)
        self.description = json.loads(self._buffer[at + _HELLO.size : end])
        if version != VERSION or self.map is None or self.size != self.map.size:
            raise TransportError(f"weir speaks protocol {version}, this package {VERSION}: install the same version of both")

    def _receive_rights(self, room: memoryview) -> int:
        """Receives bytes, and the arena if it comes with them."""
        data, fds, _, _ = socket.recv_fds(self._socket, len(room), 1, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
        for fd in fds:
            try:
                # Mapped for as long as any batch lives; the descriptor itself is not needed.
                whole = mmap.mmap(fd, 0, trackfd=False) if sys.version_info >= (3, 13) else mmap.mmap(fd, 0)
            finally:
                os.close(fd)
            self.map = pa.py_buffer(whole)
            self.address = self.map.address
        room[: len(data)] = data
        return len(data)

    def _receive(self, room: memoryview) -> int:
        return self._socket.recv_into(room)

    def frame(self, receive: Any = None) -> tuple[int, int, int]:
        """The next frame: its kind, and where in the buffer its payload lies until the next call."""
        while True:
            at, have = self._at, self._end - self._at
            size = 0
            if have >= 5:
                size, kind = _HEAD.unpack_from(self._buffer, at)
                if have >= size + 4:
                    self._at = at + size + 4
                    return kind, at + 5, self._at
                if size > _LARGEST:
                    raise TransportError("the child sends what is no frame" + _BUG)
            self._fill(size + 4, receive or self._receive)

    def _fill(self, need: int, receive: Any) -> None:
        """Waits for more bytes of a frame of which need bytes are to be had in one piece."""
        if self.full is not None:
            self._make_room()
        self.torn = False
        before = time.perf_counter()
        self._poll.poll()  # here Ctrl-C does no harm: nothing has been received
        self.waited += time.perf_counter() - before
        self.torn = True
        have = self._end - self._at
        if self._at and (have == 0 or self._at + need > len(self._buffer) or self._end == len(self._buffer)):
            self._buffer[:have] = self._buffer[self._at : self._end]
            self._at, self._end = 0, have
        if need > len(self._buffer):
            self._buffer.extend(bytes(need - len(self._buffer)))
        with memoryview(self._buffer) as whole, whole[self._end :] as room:
            try:
                n = receive(room)
            except OSError:  # reset by the child's end, or closed by a signal handler of this process
                n = 0
        if n == 0:
            raise self._death()
        self._end += n

    def _make_room(self) -> None:
        """The child waits for releases. Sends those that it has not heard of, or says who holds it up."""
        freed, batches, held, need = self.full or (0, 0, 0, 0)
        if freed == self.given and not self.released:
            gc.collect()  # batches may hang in cycles, as tracebacks make them
        if self.released:
            self.ack()
        elif freed == self.given:
            self.torn = False
            raise HeldError(
                f"you hold {batches} {'batch' if batches == 1 else 'batches'} ({_size(held)}) of a buffer of {_size(self.size)}, "
                f"and the next one needs {_size(need)}: drop them, copy them, or give the loader a larger buffer=…"
            )
        self.full = None  # if that was not enough, the child will say so

    def send(self, frames: bytes) -> None:
        """Sends frames. If the child is dead, reading will tell why."""
        with contextlib.suppress(ConnectionError):
            self._socket.sendall(frames)

    def ack(self) -> None:
        """Tells the child what was taken and what was dropped."""
        while True:
            ids: list[int] = []
            with contextlib.suppress(IndexError):
                while len(ids) < _RELEASES:
                    ids.append(self.released.popleft())
            n = len(ids)
            self.send(struct.pack(f"<IBQ{n}Q", 9 + 8 * n, ord("A"), self.taken, *ids))
            self.acked = self.taken
            self.given += n
            if n < _RELEASES:
                return

    def other(self, kind: int, at: int, end: int) -> None:
        """What any wait has to deal with besides what it waits for."""
        text = bytes(self._buffer[at:end])
        if kind == ord("M"):
            _log.log(text[0], "%s", text[1:].decode(errors="replace"))
        elif kind == ord("L"):
            number, sort = _LAYOUT.unpack_from(text)
            self.layouts[number] = _Layout(sort, text[_LAYOUT.size :])
        elif kind == ord("X"):
            n = text[0] + 1
            raise ChildError(text[1:n].decode(), text[n:].decode(errors="replace"))
        else:
            raise TransportError(f"a frame of kind {kind} from the child{_BUG}")

    def batch(self, at: int, end: int, run: int, extra: Any) -> Batch | None:
        """The batch of a frame; None if it belongs to another run."""
        head = _BATCH.unpack_from(self._buffer, at)
        of, id, offset, length = head[:4]
        if offset + length > self.size:
            raise TransportError("a batch beyond the shared memory" + _BUG)
        self.taken += 1
        if of != run:
            self.released.append(id)
            return None
        if end > at + _BATCH.size:
            extra = json.loads(self._buffer[at + _BATCH.size : end])
        self.full = None
        self.length = length
        return Batch(self, head, extra)

    def hear_full(self, at: int, run: int) -> None:
        of, *said = _FULL.unpack_from(self._buffer, at)
        if of == run:
            self.full = (said[0], said[1], said[2], said[3])

    def hear_end(self, at: int, end: int, run: int) -> End | None:
        of, epoch, position = _END.unpack_from(self._buffer, at)
        text = self._buffer[at + _END.size : end]
        return End(epoch, position, json.loads(text) if text else None) if of == run else None

    def text(self, at: int, end: int) -> Any:
        return json.loads(self._buffer[at:end])

    def _death(self) -> TransportError:
        """Why there is nothing to read any more."""
        if self.ended:
            return TransportError("the loader was closed")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        code = self._process.returncode
        if code is None:
            how = "closed its socket"
        elif code < 0:
            with contextlib.suppress(ValueError):
                code = signal.Signals(-code).name
            how = f"was killed by {code}" + (", as the system does when memory runs out" if code == "SIGKILL" else "")
        else:
            how = f"ended with exit code {code}"
        said = self._said()
        return TransportError(f"the weir process of this loader {how}" + (f"; it wrote:\n{said}" if said else ""))

    def _said(self) -> str:
        """The child's standard error; of a long one the beginning, where Go says what happened, and the end."""
        fd = self._errors.fileno()
        size = os.fstat(fd).st_size
        if size <= _TEXT:
            text = os.pread(fd, _TEXT, 0)
        else:
            text = os.pread(fd, _TEXT // 4, 0) + b"\n...\n" + os.pread(fd, _TEXT - _TEXT // 4, size - _TEXT + _TEXT // 4)
        return text.decode(errors="replace").strip()

    def hang_up(self) -> None:
        """Wakes whoever waits for the child, and asks it to end."""
        self.ended = True
        if self.pid == os.getpid():
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Ends the child and waits for that. In another process than its own it only lets go of it."""
        self.hang_up()
        if self.pid != os.getpid():
            self._process.returncode = 0  # not ours to wait for
        elif self._process.returncode is None:
            try:
                self._drain()
            finally:
                if self._process.poll() is None:
                    self._process.kill()
                self._process.wait()
        self._socket.close()
        self._errors.close()
        self.map = None

    def _drain(self) -> None:
        """Reads the socket to its end, which is the child's: after it, there is nothing to wait for."""
        until = time.monotonic() + _PATIENCE
        poll = select.poll()  # the other one may be in use by a thread
        poll.register(self._socket, select.POLLIN)
        with contextlib.suppress(OSError):
            while (left := until - time.monotonic()) > 0:
                if poll.poll(left * 1000) and not self._socket.recv(1 << 16):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._process.wait(left)
                    return


def _size(n: int) -> str:
    """Bytes for people."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n >= unit:
            return f"{n / unit:.1f}".removesuffix(".0") + " " + name
    return f"{n} B"


class Transport:
    """A child process of this process, started when it is first needed: a forked process that uses the same object has one of its own.

    command is the program and its arguments, to which --fd N is added; config is what it is to do, JSON. ahead is how many batches, that
    have not been asked for, the child makes.
    """

    def __init__(self, command: Sequence[str], config: Mapping[str, Any], *, ahead: int = 16) -> None:
        if ahead < 1:
            raise ValueError(f"ahead is {ahead}; it is at least 1")
        self._command = tuple(command)
        self._config = json.dumps(config).encode()
        self._ahead = ahead
        self._half = max(1, ahead // 2)
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._finalizer: Any = None
        self._run = 0
        self._began = False
        self._extra: Any = None
        self._items: deque[Batch | End] = deque()  # came while something else was waited for
        self._waited = 0.0
        _alive.add(self)

    @property
    def waited(self) -> float:
        """Seconds spent waiting for the child, in all."""
        return self._waited + (self._child.waited if self._child else 0.0)

    def describe(self) -> Any:
        """The child's description of what it has; starts the child if need be."""
        with self._lock:
            return self._open().description

    def begin(self, epoch: int, position: int) -> None:
        """Lets batches come from there on. Those of a run before that were not taken are dropped."""
        with self._lock:
            child = self._open()
            child.torn = True
            self._run += 1
            self._items.clear()
            self._extra = None
            child.full = None
            child.ack()
            child.send(_BEGIN.pack(_BEGIN.size - 4, ord("G"), self._run, self._ahead, epoch, position))
            self._began = True
            child.torn = False

    def next(self) -> Batch | End:
        """Waits for the next batch, or the end of the epoch."""
        with self._lock:
            child = self._child
            if child is None or child.torn or not self._began or child.pid != os.getpid():
                raise self._unready()
            if self._items:
                return self._items.popleft()
            child.torn = True
            try:
                item = self._take(child)
                due = child.taken - child.acked
                if due >= self._half or len(child.released) * child.length * 4 >= child.size:
                    child.ack()
            except TransportError as e:
                self._failed(child, e)
                raise
            child.torn = False
            return item

    def report(self) -> Any:
        """What the child says of its work so far."""
        with self._lock:
            child = self._open()
            child.torn = True
            try:
                child.send(_HEAD.pack(1, ord("Q")))
                while True:
                    kind, at, end = child.frame()
                    if kind == ord("R"):
                        break
                    item = self._item(child, kind, at, end)
                    if item is not None:
                        self._items.append(item)
                said = child.text(at, end)
            except TransportError as e:
                self._failed(child, e)
                raise
            child.torn = False
            return said

    def close(self) -> None:
        """Ends the child. Batches stay valid. Safe at any time, from any thread, twice; begin starts another child."""
        child = self._child
        if child is None:
            return
        child.hang_up()
        # Whoever waits for a batch is awake now and leaves. A signal handler that interrupted it cannot wait for that.
        locked = self._lock.acquire(timeout=_PATIENCE)
        try:
            self._let_go(child)
        finally:
            if locked:
                self._lock.release()

    def _take(self, child: _Child) -> Batch | End:
        while True:
            kind, at, end = child.frame()
            item = self._item(child, kind, at, end)
            if item is not None:
                return item

    def _item(self, child: _Child, kind: int, at: int, end: int) -> Batch | End | None:
        if kind == ord("B"):
            batch = child.batch(at, end, self._run, self._extra)
            if batch is not None:
                self._extra = batch.extra
            return batch
        if kind == ord("E"):
            return child.hear_end(at, end, self._run)
        if kind == ord("F"):
            child.hear_full(at, self._run)
        elif kind != ord("R"):  # a report that nobody waits for any more
            child.other(kind, at, end)
        return None

    def _open(self) -> _Child:
        """The running child of this process, a new one where there is none that can be used."""
        child = self._child
        if child is not None and (child.torn or child.pid != os.getpid()):
            self._let_go(child)
            child = None
        if child is None:
            child = _Child(self._command, self._config)
            self._finalizer = weakref.finalize(self, child.end)
            self._child = child
            child.torn = True
            try:
                child.hello()
            except BaseException:
                self._let_go(child)
                raise
            child.torn = False
        return child

    def _let_go(self, child: _Child) -> None:
        if self._child is child:
            self._child = None
            self._began = False
            self._items.clear()
            self._waited += child.waited
            self._finalizer.detach()
        child.end()

    def _failed(self, child: _Child, error: TransportError) -> None:
        """After an error the child is of no use, unless it only waits for room."""
        if not isinstance(error, HeldError):
            self._let_go(child)

    def _unready(self) -> TransportError:
        child = self._child
        if child is not None and child.pid != os.getpid():
            return TransportError(f"these batches belong to process {child.pid}, this is its fork {os.getpid()}: begin anew here")
        if child is not None and child.torn:
            return TransportError("an exception interrupted the loader while it received a batch: begin anew")
        return TransportError("the loader is closed: begin anew")

    def _forked(self) -> None:
        """In a forked process, before anything else happens: the child and the lock are the parent's."""
        self._lock = threading.Lock()
        if self._child is not None:
            self._let_go(self._child)


_alive: weakref.WeakSet[Transport] = weakref.WeakSet()


def _after_fork() -> None:
    for transport in list(_alive):
        transport._forked()


os.register_at_fork(after_in_child=_after_fork)
