"""Copies ahead of the model, to a GPU that is made up: its copies are done some time after they were asked for, in order."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from loading import dataset, load, weir

CHANCE = random.Random(1)


class Stream:
    """Copies that were asked for, each with what it copies, as a view: it is read when the copy is done."""

    def __init__(self) -> None:
        self.waiting: list[tuple[torch.Tensor, torch.Tensor]] = []

    def copy(self, tensor: torch.Tensor) -> torch.Tensor:
        there = torch.zeros_like(tensor)
        self.waiting.append((there, tensor))
        return there

    def synchronize(self) -> None:
        while self.waiting:
            there, tensor = self.waiting.pop(0)
            there.copy_(tensor)


class Event:
    made = 0

    def __init__(self) -> None:
        Event.made += 1

    def record(self, stream: Stream) -> None:
        self.stream, self.end = stream, stream.waiting[-1][0]
        self.looks = CHANCE.randrange(3)

    def query(self) -> bool:
        self.looks -= 1
        if self.looks < 0:
            self.synchronize()
        return self.looks < 0

    def synchronize(self) -> None:
        while any(there is self.end for there, _ in self.stream.waiting):
            there, tensor = self.stream.waiting.pop(0)
            there.copy_(tensor)


class Gpu(weir._ahead.Gpu):
    """As the real one, but for what it needs of CUDA."""

    def __init__(self, _: Any) -> None:
        super().__init__("cpu")
        self._torch = SimpleNamespace(cuda=SimpleNamespace(Event=Event, set_stream=lambda _: None), from_numpy=self._tensor)

    def _model(self) -> Any:
        return None

    def _tensor(self, array: Any) -> Any:
        return SimpleNamespace(to=lambda *_, non_blocking: self._stream.copy(torch.from_numpy(array)))

    def hand_over(self, there: torch.Tensor, done: Event) -> None:
        """The model works on what is there."""

    def _pin(self, memory: Any) -> None:
        self._pinned = lambda: memory


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: None)
    monkeypatch.setattr(torch.cuda, "Stream", lambda _: Stream())
    monkeypatch.setattr(weir._ahead, "Gpu", Gpu)
    Event.made = 0


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("batches", [2, 3, 5, 16])
def test_batches_are_held_until_they_are_copied(tmp_path: Path, batches: int) -> None:
    """The child writes over memory that is let go too early; memory that is never let go leaves no room."""
    data = dataset(tmp_path / "data", 5000, group=400, features=30)
    options = {"shuffle": True, "window": "1MiB", "batch_size": 64, "output": "torch"}
    with load(data, **options) as plain, load(data, device="cuda", buffer=batches * 64 * 128, **options) as ahead:
        for _ in range(2):
            given = list(ahead)
            assert all(torch.equal(x, want) and torch.equal(y, labels) for (x, y), (want, labels) in zip(given, plain, strict=True))
            assert not ahead._gpu._flying
    assert Event.made <= 4


@pytest.mark.usefixtures("made_up")
def test_an_iteration_left_early_does_not_spoil_what_it_gave(tmp_path: Path) -> None:
    data = dataset(tmp_path / "data", 5000, group=400)
    options = {"shuffle": True, "window": "1MiB", "batch_size": 64, "output": "torch"}
    with load(data, **options) as plain, load(data, device="cuda", **options) as ahead:
        kept = []
        for _ in range(10):
            ahead.set_epoch(0)
            batches = iter(ahead)
            kept += [next(batches) for _ in range(5)]
            del batches
        ahead._gpu.look(0)
        want = [x.clone() for x, _ in plain][:5] * 10
    assert all(torch.equal(x, w) for (x, _), w in zip(kept, want, strict=True))
