"""Who waits: the model for data, or the data for the model."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from time import perf_counter

MUCH = 0.05  # of an epoch's time: what a model may wait without a word in the log
BRIEF = 1.0  # seconds; shorter epochs say nothing about a model

_log = logging.getLogger("weir")


@dataclass(frozen=True)
class Report:
    """An epoch so far, seen from the model; its text is one line."""

    epoch: int
    batches: int
    rows: int
    seconds: float
    waited: float  # seconds of them in which there was no batch for the model
    first: float  # seconds of those for the first batch
    slow: str  # reading, making batches, or the model
    reading: float  # seconds of work, of all threads together
    making: float  # seconds
    peak_memory: int  # bytes that the process behind the loader had in use at most

    @property
    def percent(self) -> float:
        """How much of the time the model waited."""
        return 100 * self.waited / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        return (
            f"epoch {self.epoch}: the model waited {self.percent:.1f}% of {self.seconds:.2f} s for data ({self.waited:.2f} s, "
            f"of which {self.first:.2f} s for the first batch); slow was {self.slow}; {self.batches} batches, {self.rows} rows"
        )


class Meter:
    """Counts an epoch's time as the one sees it who asks for batches."""

    __slots__ = ("batches", "began", "ended", "epoch", "first", "rows", "waited")

    def __init__(self, epoch: int, began: float) -> None:
        self.epoch = epoch
        self.began = self.ended = began
        self.waited = self.first = 0.0
        self.batches = self.rows = 0

    def took(self, rows: int) -> None:
        """A batch is given. Until the first one is, the model waits."""
        self.ended = perf_counter()
        if not self.batches:
            self.first = self.waited = self.ended - self.began
        self.batches += 1
        self.rows += rows

    def report(self, said: dict[str, float]) -> Report:
        """With what the child says of its side."""
        return Report(
            self.epoch,
            self.batches,
            self.rows,
            self.ended - self.began,
            self.waited,
            self.first,
            str(said.get("bottleneck", "unknown")),
            said.get("read_seconds", 0.0),
            said.get("make_seconds", 0.0),
            int(said.get("peak_memory", 0)),
        )


def warn(report: Report) -> None:
    """A line in the log if the model waited much."""
    if report.seconds >= BRIEF and report.waited > MUCH * report.seconds:
        _log.warning("%s", report)
