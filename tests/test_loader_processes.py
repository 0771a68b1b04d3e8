"""What can happen to the processes of a loader: they are killed, forked, and opened and closed many times."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from loading import child, children, dataset, epoch, flat, ids, load, weir
from processes import alive, gone

ROWS = 5_000
KILLS = 160  # of children, and as many of their parents
ORDER: dict[str, Any] = {"shuffle": True, "window": "64KiB", "batch_size": 10}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data") / "data", ROWS, group=200, features=4)


@pytest.fixture
def loader(data: Path) -> weir.Loader:
    with load(data, shuffle=True, window="64KiB", batch_size=100) as made:
        yield made


class Expected:
    """The ids that come, epoch after epoch, if nothing happens."""

    def __init__(self, data: Path) -> None:
        self.loader = load(data, **ORDER)
        self.ids: list[int] = []
        self.seen = 0

    def see(self, some: list[int]) -> None:
        """Some ids were seen, behind those that were seen before."""
        end = self.seen + len(some)
        while len(self.ids) < end:
            self.ids += flat(epoch(self.loader))
        assert some == self.ids[self.seen : end]
        self.seen = end


def kill_child(loader: weir.Loader) -> None:
    """Kills the process behind a loader as soon as there is one."""
    while True:
        with contextlib.suppress(AttributeError):  # none has been started
            process = loader._transport._child._process
            if process.poll() is None:
                process.kill()
                return
        time.sleep(0.001)


def test_killed_children_cost_no_sample(data: Path) -> None:
    """While they start, between batches and epochs, and while the state is taken or loaded."""
    expected, chance = Expected(data), random.Random(1)
    loader = load(data, **ORDER)
    for _ in range(KILLS):
        killer = threading.Timer(chance.uniform(0, 0.04), kill_child, [loader])
        killer.start()
        with pytest.raises(weir.Error, match="was killed by SIGKILL"):
            loader.load_state_dict(loader.state_dict())
            while True:
                for batch in loader:
                    expected.see(ids(batch))
        killer.join()
    assert expected.seen > ROWS
    expected.loader.close()
    loader.close()
    assert not children()


def train(data: Path, log: Path, state: dict[str, Any] | None) -> None:
    """Goes on where the state says, and writes down what it has seen, until it is killed."""
    loader = load(data, **ORDER)
    if state:
        loader.load_state_dict(state)
    with log.open("a", buffering=1) as out:
        while True:
            for batch in loader:
                out.write(json.dumps([ids(batch), loader.state_dict()]) + "\n")


def forked(f: Callable[..., None], *args: Any) -> int:
    """The process in which f runs."""
    pid = os.fork()
    if pid == 0:
        try:
            f(*args)
        finally:
            os._exit(1)
    return pid


def test_killed_parents_cost_no_sample_and_leave_no_process(data: Path, tmp_path: Path) -> None:
    expected, chance = Expected(data), random.Random(2)
    log = tmp_path / "log"
    log.touch()
    state, end = None, 0
    for _ in range(KILLS):
        pid = forked(train, data, log, state)
        time.sleep(chance.uniform(0, 0.08))
        os.kill(pid, signal.SIGSTOP)  # it starts no more processes while those that it has are counted
        left = children(pid)
        os.kill(pid, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        assert all(map(gone, left))
        written = log.read_bytes()[end:].rpartition(b"\n")
        end += len(written[0] + written[1])
        os.truncate(log, end)  # a line that was cut off was never written, for those who go on
        for line in written[0].splitlines():
            some, state = json.loads(line)
            expected.see(some)
    assert expected.seen > ROWS
    expected.loader.close()
    assert not children()


def test_opening_and_closing_leaves_nothing(data: Path) -> None:
    def once() -> None:
        with load(data, batch_size=1000, shuffle=True, window="64KiB") as opened:
            batches = iter(opened)
            for _ in range(3):
                next(batches)

    def measure() -> tuple[int, int, int]:
        gc.collect()
        own = re.findall(r"Rss(?:Anon|Shmem):\s+(\d+) kB", Path("/proc/self/status").read_text())  # batches are shared memory
        return sum(map(int, own)) << 10, len(os.listdir("/proc/self/fd")), len(children())

    for _ in range(20):
        once()
    seen = [measure()]
    for _ in range(3):
        for _ in range(100):
            once()
        seen.append(measure())
    assert {each[1:] for each in seen} == {seen[0][1:]}
    # What leaks does so every time; the allocator and other threads take memory now and then.
    assert min(after[0] - before[0] for before, after in pairwise(seen)) < 1 << 20


def test_a_loader_that_is_dropped_ends_its_process(data: Path) -> None:
    loader = load(data, batch_size=10)
    pair = next(iter(loader))
    pid = child(loader)
    del loader
    assert gone(pid)
    assert ids(pair) == list(range(10))  # a batch lives on


def test_scans_end_their_process(data: Path) -> None:
    with weir.scan(data, batch_size=10) as scan:
        next(scan)
        pid = scan._transport._child._process.pid
    assert not alive(pid)
    with pytest.raises(StopIteration):
        next(scan)
    scan = weir.scan(data, batch_size=10)
    first = next(scan)
    pid = scan._transport._child._process.pid
    del scan
    assert gone(pid)
    assert first["id"].to_pylist() == list(range(10))


def test_a_fork_has_a_process_of_its_own(loader: weir.Loader) -> None:
    order = epoch(loader)
    loader.set_epoch(0)
    batches = iter(loader)
    before = [ids(next(batches)) for _ in range(3)]
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            loader.set_epoch(0)
            status = 0 if epoch(loader) == order else 2
            loader.close()
        finally:
            os._exit(status)
    rest = epoch(batches)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert before + rest == order
