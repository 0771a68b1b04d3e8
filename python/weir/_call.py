"""A child process that answers questions; internal/call, the Go package at the other end, describes them."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, NamedTuple

import pyarrow as pa

from ._batch import BUG, ChildError
from ._binary import binary
from ._child import _nameless, _without_interrupt
from ._errors import Error, translate
from ._options import without_defaults

VERSION = 1
SLOTS = 2  # the child works on one while the other is filled
PIECE = 4 << 20  # bytes of rows that are sent at a time, unless one row has more
_GRAIN = 1 << 20  # slots grow by so much, so that they seldom do
_TEXTS, _CHUNK = 1024, 64 << 10  # texts that are joined, and bytes of them: they stay in the cache, and their memory is not fetched anew
_MOST = 64 << 10  # texts that are sent at a time
_STEP = 2048  # rows of a list, which Arrow looks at twice: the second time they are in the processor's cache


class Joined(NamedTuple):
    """Texts, some in each part, with a zero between one and the next."""

    parts: list[bytes]
    num_rows: int


class ZerosError(Error):
    """There are zeros in texts that were joined: they are sent as batches instead."""


class Slot:
    """Memory that this process writes and the child reads, and the child's output for it."""

    def __init__(self) -> None:
        self.file, self.output = _nameless(), _nameless()
        self._room: pa.Buffer | None = None

    def put(self, batch: pa.RecordBatch | Joined) -> int:
        """Writes rows, as an Arrow IPC stream if they are a batch; returns its bytes."""
        if isinstance(batch, Joined):
            return self.put_bytes(*batch.parts, end=b"\0")
        measure = pa.MockOutputStream()
        _stream(measure, batch)
        size: int = measure.size()
        _stream(pa.FixedSizeBufferWriter(self._grow(size)), batch)
        return size

    def put_bytes(self, *parts: bytes | memoryview, end: bytes = b"") -> int:
        """Writes bytes, each part with the end behind it; returns how many."""
        size = sum(map(len, parts)) + len(parts) * len(end)
        sink = pa.FixedSizeBufferWriter(self._grow(size))
        for part in parts:
            sink.write(part)
            sink.write(end)
        return size

    def result(self, size: int) -> memoryview:
        """What the child wrote, where it lies."""
        return memoryview(mmap.mmap(self.output.fileno(), size, prot=mmap.PROT_READ)) if size else memoryview(b"")

    def _grow(self, size: int) -> pa.Buffer:
        if self._room is None or self._room.size < size:
            fd = self.file.fileno()
            room = -(-size // _GRAIN) * _GRAIN
            os.ftruncate(fd, room)
            self._room = pa.py_buffer(mmap.mmap(fd, room))
        return self._room

    def close(self) -> None:
        self.file.close()
        self.output.close()
        self._room = None


def _stream(sink: Any, batch: pa.RecordBatch) -> None:
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


class Caller:
    """A child of this process. After an exception in any method it is of no use any more, and ended."""

    def __init__(self, work: Mapping[str, Any]) -> None:
        self.pid = os.getpid()
        self.slots = [Slot() for _ in range(SLOTS)]
        self._errors = _nameless()
        files = [slot.file.fileno() for slot in self.slots], [slot.output.fileno() for slot in self.slots]
        try:
            with _without_interrupt():
                self._process = subprocess.Popen(
                    [binary(), "call"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, pass_fds=[*files[0], *files[1]],
                )  # fmt: skip
        except BaseException:
            self._close()
            raise
        self.ask({"do": "start", "version": VERSION, "slots": files[0], "outputs": files[1], **without_defaults(work)})

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        with self._ending():
            self._send(question)
            return self._answer()

    def each(self, batches: Iterable[pa.RecordBatch | Joined], question: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Slot]]:
        """The answers to a question about batches, each while the next batch is on its way. An output is good until the next one."""
        asked: deque[Slot] = deque()
        with self._ending():
            for i, batch in enumerate(batches):
                slot = self.slots[i % SLOTS]
                if len(asked) == SLOTS:
                    yield self._answer(), asked.popleft()
                kind = {"do": "texts"} if isinstance(batch, Joined) else {}
                self._send({**question, **kind, "slot": i % SLOTS, "size": slot.put(batch), "rows": batch.num_rows})
                asked.append(slot)
            while asked:
                yield self._answer(), asked.popleft()

    def end(self) -> None:
        """Ends the child, which has nothing to finish. In another process than its own it only lets go of it."""
        if self.pid != os.getpid():
            self._process.returncode = 0  # not ours to wait for
        elif self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was not sent is not needed
                _there(pipe).close()
        self._close()

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.end()
            raise

    def _send(self, question: Mapping[str, Any]) -> None:
        pipe = _there(self._process.stdin)
        with contextlib.suppress(BrokenPipeError):  # reading will tell why
            pipe.write(json.dumps(question).encode() + b"\n")
            pipe.flush()

    def _answer(self) -> dict[str, Any]:
        line = _there(self._process.stdout).readline()
        if not line.endswith(b"\n"):
            raise self._death()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise translate(ChildError(answer["kind"], answer["error"]))
        if answer.get("zeros"):
            raise ZerosError("there are zeros in texts" + BUG)
        return answer

    def _death(self) -> Error:
        code = self._process.wait()
        how = f"ended with exit code {code}"
        if code < 0:
            full = ", as the system does when memory runs out" if code == -signal.SIGKILL else ""
            how = f"was killed by {signal.Signals(-code).name}{full}"
        said = os.pread(self._errors.fileno(), 8192, 0).decode(errors="replace").strip()
        return Error(f"the weir process of this call {how}" + (f"; it wrote:\n{said}" if said else ""))

    def _close(self) -> None:
        for slot in self.slots:
            slot.close()
        self._errors.close()


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise Error("the child has no pipe" + BUG)
    return pipe


def pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts that are quick to send."""
    count = -(-batch.nbytes // PIECE)
    step = max(1, batch.num_rows // max(1, count))
    for at in range(0, batch.num_rows, step):
        yield batch.slice(at, step)


def listed(rows: Any, kind: pa.DataType, name: str) -> Iterator[pa.RecordBatch]:
    """A list as batches of one column."""
    ready: list[pa.Array] = []
    size = 0
    for at in range(0, len(rows), _STEP):
        column = pa.array(rows[at : at + _STEP], kind)
        ready.append(column)
        size += column.nbytes
        if size >= PIECE or at + _STEP >= len(rows):
            yield from pieces(pa.record_batch([pa.concat_arrays(ready)], [name]))
            ready, size = [], 0


def joined(rows: Any, kind: pa.DataType, name: str) -> Iterator[pa.RecordBatch | Joined]:
    """A list as texts that are joined, which is soonest done; as batches from one on that is no text. The child looks for zeros."""
    ready: list[bytes] = []
    at = size = count = 0
    step = _TEXTS
    while at < len(rows):
        some = rows[at : at + step]
        try:
            data = "\0".join(some).encode()
        except (TypeError, UnicodeError):
            break
        step = min(_TEXTS, max(1, len(some) * _CHUNK // (len(data) or 1)))
        if len(data) > PIECE // 2 and len(some) > 1:
            continue
        ready.append(data)
        at, size, count = at + len(some), size + len(data), count + len(some)
        if size >= PIECE // 4 or count >= _MOST:
            yield Joined(ready, count)
            ready, size, count = [], 0, 0
    if ready:
        yield Joined(ready, count)
    if at < len(rows):
        yield from listed(rows[at:], kind, name)
