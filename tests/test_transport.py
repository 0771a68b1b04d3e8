"""Both ends of the wire: a child that makes up its batches, and the package's side of it."""

from __future__ import annotations

import contextlib
import gc
import itertools
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from processes import GONE, gone
from wiring import MIB, Batch, ChildError, End, HeldError, Transport, TransportError, batches, samples


def test_batches_are_seen_where_they_lie(transport: Callable[..., Transport]) -> None:
    t = transport(samples=25)
    t.begin(2, 0)
    seen = 0
    for b in batches(t):
        a = b.arrays()
        assert a["x"].shape == (b.rows, 3) and a["x"].dtype == np.float32 and a["x"].flags.c_contiguous and a["x"].flags.writeable
        i = np.arange(seen, seen + b.rows)
        assert (a["x"] == (2e6 + i[:, None] * 100 + np.arange(3)).astype(np.float32)).all()
        assert (a["y"] == i).all()
        seen += b.rows
        assert (b.epoch, b.position, b.extra) == (2, seen, {"from": 0})
        assert a["x"].__array_interface__["data"][0] == b.address == b.buffer().address
        assert [(n.name, n.dtype) for n in b.tensors] == [("x", "float32"), ("y", "int64")]
    assert seen == 25


def test_end_of_epoch_and_the_next_one_ahead(transport: Callable[..., Transport]) -> None:
    t = transport(onward=True)
    t.begin(3, 95)
    assert isinstance(t.next(), Batch)
    assert t.next() == End(3, 100, None)
    first = t.next()
    assert isinstance(first, Batch) and (first.epoch, first.position) == (4, 10)


def test_records_are_arrow_without_a_copy(transport: Callable[..., Transport]) -> None:
    t = transport(records=True, samples=25)
    t.begin(1, 0)
    got = []
    for b in batches(t):
        r = b.record()
        r.validate(full=True)
        assert b.address <= r.column(0).buffers()[1].address < b.address + b.nbytes
        got.append(r)
        del b
    table = pa.Table.from_batches(got)
    assert table["id"].to_pylist() == list(range(25))
    assert table["text"].to_pylist() == [None if i % 3 == 0 else f"sample {i} of epoch 1" for i in range(25)]


def test_views_keep_the_batch_and_only_views_do(transport: Callable[..., Transport]) -> None:
    t = transport()
    t.begin(0, 0)
    assert t._child is not None
    released = t._child.released
    makers: list[Callable[[Batch], Any]] = [
        lambda b: b.arrays()["x"],
        lambda b: b.arrays()["x"][2:, 1],
        np.asarray,
        lambda b: b.buffer().slice(8, 8),
        lambda b: memoryview(b.arrays()["y"]),
    ]
    try:
        import torch  # noqa: PLC0415
    except ImportError:
        pass
    else:
        makers.append(lambda b: torch.from_numpy(b.arrays()["x"])[1:])
    for make in makers:
        batch = t.next()
        assert isinstance(batch, Batch)
        t._child.ack()
        assert not released
        view = make(batch)
        del batch
        assert not released
        del view
        assert len(released) == 1


def test_an_array_outlives_the_child(transport: Callable[..., Transport]) -> None:
    t = transport()
    t.begin(0, 0)
    x = next(batches(t)).arrays()["x"]
    t.close()
    del t
    gc.collect()
    assert x[1].tolist() == [100, 101, 102]
    x += 1
    assert x[1].tolist() == [101, 102, 103]


@pytest.mark.parametrize("ahead", [1, 2, 7, 64])
@pytest.mark.parametrize("arena", [2 * 4096, 3 * 4096, MIB])
def test_every_pace_gives_every_sample_once(transport: Callable[..., Transport], ahead: int, arena: int) -> None:
    t = transport(ahead, arena=arena, samples=1000)
    for epoch in range(2):
        t.begin(epoch, 0)
        assert samples(t) == list(range(1000))


def test_a_new_beginning_drops_what_was_under_way(transport: Callable[..., Transport]) -> None:
    t = transport(samples=1000, arena=5 * 4096)
    for start in range(0, 900, 30):
        t.begin(0, start)
        taken = [b.position for b in itertools.islice(batches(t), 3)]
        assert taken == [start + 10, start + 20, start + 30]
    t.begin(0, 990)
    assert samples(t) == list(range(990, 1000))


def test_holding_too_much_is_said_and_can_be_mended(transport: Callable[..., Transport]) -> None:
    t = transport(ahead=16, arena=5 * 4096)
    t.begin(0, 0)
    held = []
    with pytest.raises(HeldError, match=r"^you hold 5 batches \(20 KiB\) of a buffer of 20 KiB, and the next one needs 208 B: drop"):
        held.extend(batches(t))
    with pytest.raises(HeldError):
        t.next()
    assert t.report()["pid"] == t.describe()["pid"]
    assert [b.position for b in held] == [10, 20, 30, 40, 50]
    del held[1:]
    assert [b.position for b in batches(t)] == [60, 70, 80, 90, 100]
    t.begin(0, 0)  # one batch of another run is held, and does no harm
    assert samples(t) == list(range(100))
    assert held[0].arrays()["y"].tolist() == list(range(10))


def test_batches_in_cycles_are_not_held(transport: Callable[..., Transport]) -> None:
    t = transport(arena=3 * 4096)
    t.begin(0, 0)
    gc.disable()
    try:
        for b in batches(t):
            ring: list[Any] = [b]
            ring.append(ring)
            del b, ring
    finally:
        gc.enable()


def test_a_batch_larger_than_the_buffer_is_an_error(transport: Callable[..., Transport]) -> None:
    t = transport(arena=4096, rows=1000, samples=1000)
    t.begin(0, 0)
    with pytest.raises(ChildError, match="a batch needs 19") as e:
        t.next()
    assert e.value.kind == "memory"


def test_the_childs_errors_are_exceptions(transport: Callable[..., Transport]) -> None:
    t = transport(what="data", at=25)
    t.begin(0, 0)
    assert [b.position for b in itertools.islice(batches(t), 2)] == [10, 20]
    with pytest.raises(ChildError, match=r"^made up: row 25: it is damaged$") as e:
        t.next()
    assert e.value.kind == "data"
    with pytest.raises(TransportError, match="closed: begin anew"):
        t.next()
    t.begin(0, 30)
    assert len(samples(t)) == 70


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("panic", "a bug in weir, please report it: made up"),
        ("crash", "exit code 2; it wrote:\npanic: made up crash"),
        ("exit", "exit code 7; it wrote:\nmade up exit"),
    ],
)
def test_a_bug_in_the_child_is_an_exception_with_its_text(transport: Callable[..., Transport], what: str, text: str) -> None:
    t = transport(what=what, at=5)
    t.begin(0, 0)
    with pytest.raises(TransportError) as e:
        t.next()
    assert text in str(e.value)


def test_a_killed_child_is_an_exception(transport: Callable[..., Transport]) -> None:
    t = transport(pause=50_000_000)
    t.begin(0, 0)
    t.next()
    os.kill(t.describe()["pid"], signal.SIGKILL)
    with pytest.raises(TransportError, match="was killed by SIGKILL"):
        samples(t)
    t.begin(0, 80)
    assert samples(t) == list(range(80, 100))


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    t = Transport([str(tmp_path / "nothing")], {})
    with pytest.raises(FileNotFoundError):
        t.begin(0, 0)
    wrong = Transport(["sh", "-c", "echo wrong program >&2; exit 3"], {})
    with pytest.raises(TransportError, match="exit code 3; it wrote:\nwrong program"):
        wrong.begin(0, 0)


def test_messages_go_to_the_log(transport: Callable[..., Transport], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "weir"):
        transport().describe()
    assert [(r.levelname, r.message) for r in caplog.records] == [("INFO", "wiretest is here")]


def test_a_report_loses_no_batches(transport: Callable[..., Transport]) -> None:
    t = transport(ahead=8)
    t.begin(0, 0)
    got = []
    for b in batches(t):
        got.append(b.position)
        assert t.report() == {"pid": t.describe()["pid"]}
    assert got == list(range(10, 101, 10))


def test_threads_share_a_transport(transport: Callable[..., Transport]) -> None:
    t = transport(samples=20_000, arena=40 * 4096)
    t.begin(0, 0)
    got: list[int] = []

    def take() -> None:
        with contextlib.suppress(TransportError):  # closed below
            while not isinstance(b := t.next(), End):
                got.extend(b.arrays()["y"].tolist())
                del b
            ends.append(1)

    ends: list[int] = []
    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    while not ends:
        time.sleep(0.01)
    t.close()
    for thread in threads:
        thread.join(GONE)
        assert not thread.is_alive()
    assert sorted(got) == list(range(20_000))


def test_close_wakes_a_thread_that_waits(transport: Callable[..., Transport]) -> None:
    t = transport(what="stuck", at=0)
    t.begin(0, 0)
    said: list[str] = []

    def take() -> None:
        try:
            t.next()
        except TransportError as e:
            said.append(str(e))

    thread = threading.Thread(target=take)
    thread.start()
    time.sleep(0.1)
    pid = t._child._process.pid  # type: ignore[union-attr]
    t.close()
    thread.join(GONE)
    assert said == ["the loader was closed"] and gone(pid)
    t.close()
