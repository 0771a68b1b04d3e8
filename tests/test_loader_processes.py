"""What can happen to the processes of a loader: they are killed, forked, and opened and closed many times."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loading import PACKAGE, child, children, dataset, epoch, flat, ids, load, weir
from processes import alive, gone

ROWS = 20_000
KILLS = 100


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data") / "data", ROWS, group=500, features=4)


@pytest.fixture
def loader(data: Path) -> weir.Loader:
    with load(data, shuffle=True, window="64KiB", batch_size=100) as made:
        yield made


def test_killed_children_cost_no_sample(data: Path) -> None:
    loader = load(data, shuffle=True, window="64KiB", batch_size=10)
    order = flat(epoch(loader))
    chance = random.Random(1)
    loader.set_epoch(0)
    seen: list[int] = []
    kills = 0
    while len(seen) < ROWS:
        until = len(seen) + 10 * chance.randrange(6)
        try:
            for batch in loader:
                seen += ids(batch)
                if len(seen) >= until and kills < KILLS:
                    kills += 1
                    until = ROWS
                    os.kill(child(loader), signal.SIGKILL)
        except weir.Error as error:
            assert "was killed by SIGKILL" in str(error)
            loader.load_state_dict(loader.state_dict())
    assert kills == KILLS and seen == order
    loader.close()
    assert not children()


TRAIN = """
import json, os, sys, time
sys.path[:0] = sys.argv[1:3]
from loading import child, ids, load
path, log = sys.argv[3:]
loader = load(path, shuffle=True, window="64KiB", batch_size=100)
lines = open(log).read().splitlines() if os.path.exists(log) else []
if lines:
    state = json.loads(lines[-1])["state"]
    if state["epoch"]:
        raise SystemExit  # killed between its last line and its end
    loader.load_state_dict(state)
with open(log, "a", buffering=1) as out:
    for batch in loader:
        out.write(json.dumps({"ids": ids(batch), "state": loader.state_dict(), "child": child(loader)}) + "\\n")
        time.sleep(0.002)  # whoever kills it is slow
    out.write(json.dumps({"ids": [], "state": loader.state_dict(), "child": child(loader)}) + "\\n")
"""


def test_killed_parents_cost_no_sample_and_leave_no_process(data: Path, tmp_path: Path, loader: weir.Loader) -> None:
    order = flat(epoch(loader))
    chance = random.Random(2)
    log = tmp_path / "log"
    lines = 0
    for run in range(100):
        until = chance.randrange(1, 20) if run < 8 else ROWS
        with subprocess.Popen([sys.executable, "-c", TRAIN, str(PACKAGE), str(Path(__file__).parent), str(data), str(log)]) as process:
            while process.poll() is None:
                if log.exists() and log.read_text().count("\n") >= lines + until:
                    process.send_signal(signal.SIGKILL)
                    break
        whole, _, rest = log.read_text().rpartition("\n")
        log.write_text(whole + "\n")  # a line that was cut off was never written, for those who go on
        entries = [json.loads(line) for line in whole.splitlines()]
        assert gone(entries[-1]["child"])
        lines = len(entries)
        if process.returncode == 0:
            assert not rest
            break
    else:
        pytest.fail("it never came to its end")
    seen = flat(entry["ids"] for entry in entries)
    assert run >= 8 and seen == order


def test_opening_and_closing_leaves_nothing(data: Path) -> None:
    def once() -> None:
        with load(data, batch_size=1000, shuffle=True, window="64KiB") as opened:
            batches = iter(opened)
            for _ in range(3):
                next(batches)

    def measure() -> tuple[int, int, int]:
        gc.collect()
        rss = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return rss, len(os.listdir("/proc/self/fd")), len(children())

    for _ in range(20):
        once()
    rss, fds, processes = measure()
    for _ in range(200):
        once()
    after = measure()
    assert after[1:] == (fds, processes)
    assert after[0] - rss < 4 << 20


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
