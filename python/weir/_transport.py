"""Batches from a child process: it puts them into shared memory, here they are seen where they lie.

Nothing here starts a thread, and nothing that happens in a destructor touches the socket: a batch that is dropped is noted in a deque, and
the note is sent with a later request.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ._batch import Batch, ChildError, End, HeldError, Tensor, TransportError
from ._child import PATIENCE, Child

__all__ = ["Batch", "ChildError", "End", "HeldError", "Tensor", "Transport", "TransportError"]


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
        self._lock = threading.Lock()
        self._child: Child | None = None
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
            child.begin(self._run, self._ahead, epoch, position)
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
                if child.owes():
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
                said = self._answer(child)
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
        locked = self._lock.acquire(timeout=PATIENCE)
        try:
            self._let_go(child)
        finally:
            if locked:
                self._lock.release()

    # Loops are in functions of their own: in some Pythons, an interrupt at a loop's end is not seen by a with or try around the loop in the
    # same function, which would not let go of the lock.

    def _take(self, child: Child) -> Batch | End:
        while True:
            if child.full is not None:
                child.make_room()
            kind, at, end = child.frame()
            item = self._item(child, kind, at, end)
            if item is not None:
                return item

    def _answer(self, child: Child) -> Any:
        child.ask()
        while True:
            kind, at, end = child.frame()
            if kind == ord("R"):
                return child.text(at, end)
            item = self._item(child, kind, at, end)
            if item is not None:
                self._items.append(item)

    def _item(self, child: Child, kind: int, at: int, end: int) -> Batch | End | None:
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

    def _open(self) -> Child:
        """The running child of this process, a new one where there is none that can be used."""
        child = self._child
        if child is not None and (child.torn or child.pid != os.getpid()):
            self._let_go(child)
            child = None
        if child is None:
            child = Child(self._command, self._config, self._ahead)
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

    def _let_go(self, child: Child) -> None:
        if self._child is child:
            self._child = None
            self._began = False
            self._items.clear()
            self._waited += child.waited
            self._finalizer.detach()
        child.end()

    def _failed(self, child: Child, error: TransportError) -> None:
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
