"""The figures weir has to reach, and whether measured entries reach them."""

from __future__ import annotations

from dataclasses import dataclass

from limits import Survival
from programs import MIB, WEIR, WRITERS, readers
from speed import Entry

PYARROW, DUCKDB, POLARS = "pyarrow iter_batches", "DuckDB", "Polars streaming"
TIE = 0.05  # within 5% is a tie
LIMIT = 64  # MiB
WRITE_LIMIT = 128  # MiB


@dataclass(frozen=True)
class Target:
    """weir's CPU seconds per row on a dataset against the fastest of some peers."""

    dataset: str
    peers: tuple[str, ...]
    label: str
    factor: float
    threads: int = 1


ALL, FASTEST = readers("parquet"), "the fastest peer"
TARGETS = [
    Target("numeric", (PYARROW,), "pyarrow iter_batches", 1.7),
    Target("numeric", (POLARS, DUCKDB), "the faster of Polars and DuckDB", 1.0),
    Target("numeric-none", ALL, FASTEST, 1.0),
    Target("numeric-nulls", ALL, FASTEST, 1.0),
    Target("text", (PYARROW,), "pyarrow iter_batches", 1.2),
    Target("text", ALL, FASTEST, 0.85),
    Target("chat", ALL, FASTEST, 1.0),
    *(Target(name, readers("jsonl"), FASTEST, 1.0) for name in ("jsonl", "jsonl-zst", "jsonl-gz", "jsonl-5gb")),
    *(Target(name, readers("csv"), FASTEST, 1.0) for name in ("csv", "csv-zst", "csv-gz")),
    *(Target(name, ("pyarrow", POLARS), "the faster of pyarrow and Polars", 0.9) for name in ("arrow", "arrow-lz4")),
    *(Target(name, ("pyarrow mapped",), "pyarrow mapped", 0.9) for name in ("arrow", "arrow-lz4")),
    *(Target("mds-small", (name,), name, 50) for name in readers("mds")),
    *(Target("mds-large", (name,), name, 20) for name in readers("mds")),
    Target("webdataset", readers("webdataset"), "webdataset", 20),
    *(Target(name, readers(name), "tf.data", 1.0) for name in ("tfrecord", "images")),
    *(Target(f"write-{codec}", tuple(WRITERS), FASTEST, 1.0, threads=2) for codec in ("snappy", "zstd")),
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


def judge_peers(entries: list[Entry]) -> list[Verdict]:
    """The figures against peers, where all of them were run."""
    ran = {(e.dataset, e.program, e.threads): e for e in entries}
    verdicts = []
    for target in TARGETS:
        own = ran.get((target.dataset, WEIR, target.threads))
        peers = [ran[key] for name in target.peers if (key := (target.dataset, name, target.threads)) in ran]
        if own and len(peers) == len(target.peers):
            verdicts.append(judge(target, own, peers))
    return verdicts


def judge(target: Target, own: Entry, peers: list[Entry]) -> Verdict:
    """One figure against the best of the peers that ended well; the others are named."""
    what = target.dataset if target.threads == 1 else f"{target.dataset}, threads: {target.threads}"
    figure, failed = f"≥ {target.factor}", [peer.program for peer in peers if not peer.good]
    if not own.good or len(failed) == len(peers):
        return Verdict(what, target.label, figure, "weir failed" if not own.good else "no peer ended well", "no")
    best = min((peer for peer in peers if peer.good), key=lambda e: e.cpu)
    ratio = best.cpu / own.cpu
    against = target.label if len(peers) == 1 else f"{target.label} ({best.program})"
    measured = f"{ratio:.2f}" + (f", {' and '.join(failed)} failed" if failed else "")
    return Verdict(what, against, figure, measured, met(ratio, target.factor))


def judge_threads(entries: list[Entry]) -> list[Verdict]:
    """Two threads of weir against one."""
    own = {(e.dataset, e.threads): e for e in entries if e.program == WEIR and e.good}
    verdicts = []
    for (dataset, threads), two in own.items():
        if threads == 2 and (one := own.get((dataset, 1))):
            ratio = one.wall / two.wall
            verdicts.append(Verdict(f"{dataset}, two threads", "itself on one", "≥ 1.8", f"{ratio:.2f}", met(ratio, 1.8)))
    return verdicts


def judge_peaks(entries: list[Entry], limit: int) -> list[Verdict]:
    """The peak of weir on each dataset, whatever the threads, against its --memory in MiB."""
    own = [e for e in entries if e.program == WEIR and e.walls]
    verdicts = []
    for dataset in dict.fromkeys(e.dataset for e in own):
        peak = max(e.peak for e in own if e.dataset == dataset) / MIB
        reached = "yes" if peak <= limit else "no"
        verdicts.append(Verdict(f"{dataset}, peak memory", f"--memory {limit}MiB", f"≤ {limit} MiB", f"{peak:.0f} MiB", reached))
    return verdicts


def judge_values(dataset: str, twin: str, own: str, other: str) -> Verdict:
    """weir's digest of a dataset against that of the same rows in Parquet."""
    measured = "weir failed" if not (own and other) else "equal" if own == other else "not equal"
    return Verdict(f"{dataset}, every value", f"{twin} in Parquet", "equal digests", measured, "yes" if measured == "equal" else "no")


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
