"""The figures weir has to reach, and whether measured entries reach them."""

from __future__ import annotations

from dataclasses import dataclass

from limits import Survival
from programs import PEERS, WEIR
from speed import Entry

PYARROW, DUCKDB, POLARS = "pyarrow iter_batches", "DuckDB", "Polars streaming"
TIE = 0.05  # within 5% is a tie
LIMIT = 64  # MiB


@dataclass(frozen=True)
class Target:
    """weir's CPU seconds per row on a dataset, one thread, against the fastest of some peers."""

    dataset: str
    peers: tuple[str, ...]
    label: str
    factor: float


ALL = tuple(PEERS)
TARGETS = [
    Target("numeric", (PYARROW,), "pyarrow iter_batches", 1.7),
    Target("numeric", (POLARS, DUCKDB), "the faster of Polars and DuckDB", 1.0),
    Target("numeric-none", ALL, "the fastest peer", 1.0),
    Target("numeric-nulls", ALL, "the fastest peer", 1.0),
    Target("text", (PYARROW,), "pyarrow iter_batches", 1.2),
    Target("text", ALL, "the fastest peer", 0.85),
    Target("chat", ALL, "the fastest peer", 1.0),
]


@dataclass(frozen=True)
class Verdict:
    """One figure with what was measured."""

    what: str
    against: str
    figure: str
    measured: str
    met: str  # "yes", "tie" or "no"


def met(value: float, figure: float) -> str:
    if value >= figure:
        return "yes"
    return "tie" if value >= figure * (1 - TIE) else "no"


def judge_speed(entries: list[Entry]) -> list[Verdict]:
    """The figures against peers on one thread, and of two threads against one."""
    good = {(e.dataset, e.program, e.threads): e for e in entries if e.walls and not e.errors}
    verdicts = []
    for target in TARGETS:
        own = good.get((target.dataset, WEIR, 1))
        peers = [good[key] for name in target.peers if (key := (target.dataset, name, 1)) in good]
        if own and len(peers) == len(target.peers):
            best = min(peers, key=lambda e: e.cpu)
            ratio = best.cpu / own.cpu
            against = target.label if len(peers) == 1 else f"{target.label} ({best.program})"
            verdicts.append(Verdict(target.dataset, against, f"≥ {target.factor}", f"{ratio:.2f}", met(ratio, target.factor)))
    for (dataset, program, threads), two in good.items():
        one = good.get((dataset, WEIR, 1))
        if program == WEIR and threads == 2 and one:
            ratio = one.wall / two.wall
            verdicts.append(Verdict(f"{dataset}, two threads", "itself on one", "≥ 1.8", f"{ratio:.2f}", met(ratio, 1.8)))
    return verdicts


def judge_limits(survivals: list[Survival]) -> list[Verdict]:
    """64 MiB, at no less than half of full speed."""
    verdicts = []
    for own in survivals:
        if own.program != WEIR:
            continue
        measured = f"{own.limit or 'none'} MiB at {own.speed:.0%}"
        reached = "yes" if 0 < own.limit <= LIMIT and own.speed >= 0.5 else "no"
        verdicts.append(Verdict(f"{own.dataset}, smallest limit", "64 MiB", f"≤ {LIMIT} MiB, ≥ 50% of full speed", measured, reached))
    return verdicts


def judge_pair(what: str, own: Entry, base: Entry, factor: float) -> Verdict:
    """Throughput of one entry against another, by wall time per row."""
    ratio = (base.wall / base.rows) / (own.wall / own.rows)
    return Verdict(what, f"{base.dataset} from disk", f"≥ {factor}", f"{ratio:.2f}", met(ratio, factor))


def judge_big(small: Entry, large: Entry) -> list[Verdict]:
    """Twenty times the data: the same rows a second within 10%, the same peak within 5%."""
    rate = (small.wall / small.rows) / (large.wall / large.rows)
    peak = large.peak / small.peak
    within = {True: "yes", False: "no"}
    return [
        Verdict("20 GB, rows/s", "itself on 1 GB", "within 10%", f"{rate:.2f}", within[rate >= 0.9]),
        Verdict("20 GB, peak memory", "itself on 1 GB", "within 5%", f"{peak:.2f}", within[peak <= 1.05]),
    ]
