"""A child process and the frames that go to and fro; internal/feed/wire, the Go package at the other end, describes them."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import pyarrow as pa

from ._batch import BUG, Batch, ChildError, End, HeldError, Layout, TransportError

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
PATIENCE = 2.0  # seconds a child has to end by itself
_UNTRACKED: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) else {}  # a mapping keeps no descriptor

_log = logging.getLogger("weir")


class Note(weakref.ref[Batch]):
    """Follows a batch, and puts itself among the released when that is gone.

    A destructor written in Python would do the same, but an interrupt that comes as it begins skips it, and the memory would be lost. Here
    no Python runs: the callback is the deque's own append, in whatever thread and moment the last view goes.
    """

    __slots__ = ("id",)
    id: int


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


class Child:
    """A child that runs, as the process that started it sees it: its socket, its frames, what it is owed."""

    def __init__(self, command: Sequence[str], config: bytes, ahead: int) -> None:
        self._half = max(1, ahead // 2)
        self.pid = os.getpid()
        self.torn = False  # an exception came while state was half changed: frames may be lost
        self.ended = False
        self.lent: dict[int, Note] = {}  # of batches that the child has not heard were dropped, by id
        self.released: deque[Note] = deque()  # of those that were
        self.given = 0  # releases sent
        self.taken = 0  # batches
        self.acked = 0  # batches
        self.full: tuple[int, int, int, int] | None = None  # the child waits for room, by its full frame
        self.layouts: dict[int, Layout] = {}
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
                whole = mmap.mmap(fd, 0, **_UNTRACKED)
            finally:
                os.close(fd)
            self.map = pa.py_buffer(whole)
            self.address = self.map.address
        room[: len(data)] = data
        return len(data)

    def _receive(self, room: memoryview) -> int:
        return self._socket.recv_into(room)

    def frame(self, receive: Callable[[memoryview], int] | None = None) -> tuple[int, int, int]:
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
                    raise TransportError("the child sends what is no frame" + BUG)
            self._fill(size + 4, receive or self._receive)

    def _fill(self, need: int, receive: Callable[[memoryview], int]) -> None:
        """Waits for more bytes of a frame of which need bytes are to be had in one piece."""
        if self.owes():
            self.ack()
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

    def make_room(self) -> None:
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

    def begin(self, run: int, ahead: int, epoch: int, position: int) -> None:
        """Asks for a run, with all that was dropped before it."""
        self.full = None
        self.ack()
        self.send(_BEGIN.pack(_BEGIN.size - 4, ord("G"), run, ahead, epoch, position))

    def ask(self) -> None:
        """Asks for a report."""
        self.send(_HEAD.pack(1, ord("Q")))

    def owes(self) -> bool:
        """Whether an ack is due: half of what the child may do ahead was taken, or, as it seems, a quarter of the memory dropped."""
        return self.taken - self.acked >= self._half or len(self.released) * self.length * 4 >= self.size

    def ack(self) -> None:
        """Tells the child what was taken and what was dropped."""
        while True:
            ids: list[int] = []
            with contextlib.suppress(IndexError):
                while len(ids) < _RELEASES:
                    ids.append(self.released.popleft().id)
            n = len(ids)
            self.send(struct.pack(f"<IBQ{n}Q", 9 + 8 * n, ord("A"), self.taken, *ids))
            self.acked = self.taken
            self.given += n
            for id in ids:
                del self.lent[id]
            if n < _RELEASES:
                return

    def other(self, kind: int, at: int, end: int) -> None:
        """What any wait has to deal with besides what it waits for."""
        text = bytes(self._buffer[at:end])
        if kind == ord("M"):
            _log.log(text[0], "%s", text[1:].decode(errors="replace"))
        elif kind == ord("L"):
            number, sort = _LAYOUT.unpack_from(text)
            self.layouts[number] = Layout(sort, text[_LAYOUT.size :])
        elif kind == ord("X"):
            n = text[0] + 1
            raise ChildError(text[1:n].decode(), text[n:].decode(errors="replace"))
        else:
            raise TransportError(f"a frame of kind {kind} from the child{BUG}")

    def batch(self, at: int, end: int, run: int, extra: Any) -> Batch | None:
        """The batch of a frame; None if it belongs to another run."""
        head = _BATCH.unpack_from(self._buffer, at)
        of, id, offset, length = head[:4]
        if offset + length > self.size:
            raise TransportError("a batch beyond the shared memory" + BUG)
        self.taken += 1
        if end > at + _BATCH.size:
            extra = json.loads(self._buffer[at + _BATCH.size : end])
        batch = Batch(self, head, extra)
        self.lent[id] = note = Note(batch, self.released.append)
        note.id = id
        if of != run:
            return None
        self.full = None
        self.length = length
        return batch

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
            self._process.wait(PATIENCE)
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
        until = time.monotonic() + PATIENCE
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
