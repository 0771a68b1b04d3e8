"""The wire when processes fork, are killed, interrupted and ended."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from processes import gone
from wiring import CONFIG, ROOT, Batch, End, Transport, TransportError, samples


def forked(f: Callable[[], None]) -> int:
    """The exit status of f in a forked process, which ends as Python programs do."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            f()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_forked_process_has_a_child_of_its_own(transport: Callable[..., Transport]) -> None:
    t = transport()
    t.begin(0, 0)
    kept = t.next()
    pid = t.describe()["pid"]

    def there() -> None:
        nonlocal kept
        del kept
        with pytest.raises(TransportError, match="begin anew"):
            t.next()
        t.begin(0, 50)
        assert t.describe()["pid"] != pid
        assert samples(t) == list(range(50, 100))
        t.close()

    assert forked(there) == 0
    assert isinstance(kept, Batch) and kept.arrays()["y"].tolist() == list(range(10))
    assert samples(t) == list(range(10, 100))
    assert t.describe()["pid"] == pid


def script(program: str, text: str, **config: Any) -> subprocess.Popen[str]:
    """Another Python with a transport t."""
    full = CONFIG | config
    head = f"""
        import os, signal, sys, threading, time
        from weir._transport import *
        t = Transport([{program!r}], {full!r}, ahead=4)
        t.begin(0, 0)
        pid = t.describe()["pid"]
        print(pid, flush=True)
    """
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(head) + textwrap.dedent(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        start_new_session=True,
    )


def first_line(p: subprocess.Popen[str]) -> str:
    assert p.stdout is not None
    return p.stdout.readline().strip()


@pytest.mark.parametrize("what", ["", "stuck"])
def test_a_killed_parent_takes_the_child_along(program: str, what: str) -> None:
    with script(program, "t.next(); print('took'); time.sleep(60)", what=what, at=50) as p:
        pid = int(first_line(p))
        p.kill()
        assert gone(pid)


def test_the_child_ends_although_a_fork_keeps_the_socket(program: str) -> None:
    """The fork is made behind Python's back, as C libraries do: no handler closes the socket in it."""
    text = """
        import ctypes
        if ctypes.PyDLL(None).fork() == 0:
            time.sleep(60)
            os._exit(0)
        time.sleep(60)
    """
    with script(program, text) as p:
        try:
            pid = int(first_line(p))
            time.sleep(0.3)
            p.kill()
            assert gone(pid)
        finally:
            os.killpg(p.pid, signal.SIGKILL)


ENDINGS = {
    "end": "b = t.next(); x = b.arrays()",
    "exception": "b = t.next(); raise SystemExit(0)",
    "cycle": "b = t.next(); ring = [b, t]; ring.append(ring); del b, t",
    "thread": "b = t.next(); threading.Thread(target=lambda: (time.sleep(0.2), t.next()), daemon=True).start()",
    "fork": "b = t.next(); p = os.fork(); p and os.waitpid(p, 0)",
    "global": "import builtins; builtins.kept = (t, t.next())",
}


@pytest.mark.parametrize("how", ENDINGS)
def test_a_parent_ends_quietly_and_the_child_with_it(program: str, how: str) -> None:
    with script(program, ENDINGS[how]) as p:
        out, err = p.communicate(timeout=60)
    assert (p.returncode, err) == (0, "")
    assert gone(int(out.split()[0]))


def test_an_interrupt_while_waiting_loses_nothing(program: str) -> None:
    """Ctrl-C, again and again, for the whole group: the child does not mind, and what comes after is what would have come."""
    text = """
        got = interrupts = 0
        while got < 10:
            try:
                got = t.next().position
            except KeyboardInterrupt:
                interrupts += 1
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(got, interrupts, t.describe()["pid"] == pid, flush=True)
    """
    with script(program, text, samples=10, pause=1_500_000_000) as p:
        first_line(p)
        for _ in range(5):
            time.sleep(0.1)
            os.killpg(p.pid, signal.SIGINT)
        out, err = p.communicate(timeout=60)
    assert err == ""
    position, interrupts, same = out.split()
    assert (position, same) == ("10", "True") and int(interrupts) > 0


def test_interrupts_anywhere_leave_a_transport_that_can_begin_anew(transport: Callable[..., Transport]) -> None:
    class Interrupt(BaseException):
        pass

    def interrupt(*_: object) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise Interrupt

    def go_on() -> None:
        nonlocal armed, position
        armed = True
        while position < 30_000:
            item = t.next()
            assert isinstance(item, Batch) and item.arrays()["y"][0] == position
            position = item.position
            del item
        armed = False

    t = transport(samples=30_000, arena=8 * 4096)
    armed = False
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0011)
    position = interrupts = 0
    try:
        while position < 30_000:
            t.begin(0, position)
            try:
                go_on()
            except Interrupt:
                interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 0
    assert isinstance(t.next(), End)


def resident() -> tuple[int, int]:
    """KiB of memory, and open descriptors."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4, len(os.listdir("/proc/self/fd"))


def test_opening_and_closing_leaves_nothing(program: str) -> None:
    def cycle(n: int) -> None:
        for i in range(n):
            t = Transport([program], CONFIG, ahead=4)
            t.begin(0, 0)
            kept = t.next()
            if i % 2:
                t.close()
            del t, kept

    cycle(20)
    memory, files = resident()
    cycle(int(os.environ.get("WEIR_CYCLES", "60")))
    after, files_after = resident()
    assert files_after == files
    assert after - memory < 2048, f"{after - memory} KiB more"
    children = subprocess.run(["ps", "--no-headers", "--ppid", str(os.getpid()), "-o", "comm"], capture_output=True, text=True, check=False)
    assert "wiretest" not in children.stdout
