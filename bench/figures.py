"""The figures weir has to reach, and whether measured entries reach them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from limits import Survival
from programs import MIB, WEIR, WRITERS, readers
from speed import Entry

PYARROW, DUCKDB, POLARS = "pyarrow iter_batches", "DuckDB", "Polars streaming"
BATCHES, EAGER, POLARS_PREPARE = "sklearn batches", "pandas eager", "Polars prepare"
TIE = 0.05  # within 5% is a tie
LIMIT = 64  # MiB
WRITE_LIMIT = 128  # MiB


@dataclass(frozen=True)
class Target:
    """weir's CPU or wall seconds per row on a dataset against the fastest of some peers."""

    dataset: str
    peers: tuple[str, ...]
    label: str
    factor: float
    threads: int = 1
    seconds: str = "cpu"  # or "wall"


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
    *(
        Target(name, (peer,), peer, factor, threads=2, seconds=seconds)
        for name in ("prepare-2m", "prepare-8m")
        for peer, factor, seconds in ((BATCHES, 6, "wall"), (BATCHES, 4, "cpu"), (EAGER, 4, "wall"), (POLARS_PREPARE, 1.0, "wall"))
    ),
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
    figure = f"≥ {target.factor}" + (" in wall time" if target.seconds == "wall" else "")
    failed = [peer.program for peer in peers if not peer.good]
    if not own.good or len(failed) == len(peers):
        return Verdict(what, target.label, figure, "weir failed" if not own.good else "no peer ended well", "no")
    best = min((peer for peer in peers if peer.good), key=attrgetter(target.seconds))
    ratio = getattr(best, target.seconds) / getattr(own, target.seconds)
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


def judge_prepared_limits(survivals: list[Survival]) -> list[Verdict]:
    """128 MiB, and a twentieth of what pandas needs."""
    verdicts = []
    for own in survivals:
        if own.program != WEIR:
            continue
        what, measured = f"{own.dataset}, smallest limit", f"{own.limit} MiB at {own.speed:.0%}" if own.limit else "none"
        reached = "yes" if 0 < own.limit <= WRITE_LIMIT else "no"
        verdicts.append(Verdict(what, f"{WRITE_LIMIT} MiB", f"≤ {WRITE_LIMIT} MiB", measured, reached))
        eager = next((s for s in survivals if (s.program, s.dataset) == (EAGER, own.dataset) and s.limit), None)
        if eager and own.limit:
            share = eager.limit / own.limit
            verdicts.append(Verdict(what, f"{EAGER}, {eager.limit} MiB", "≤ 1/20", f"1/{share:.0f}", "yes" if share >= 20 else "no"))
    return verdicts


def judge_pair(what: str, own: Entry, base: Entry, factor: float) -> Verdict:
    """Throughput of one entry against another, by wall time per row."""
    ratio = (base.wall / base.rows) / (own.wall / own.rows)
    return Verdict(what, f"{base.dataset} from disk", f"≥ {factor}", f"{ratio:.2f}", met(ratio, factor))


def judge_big(small: Entry, large: Entry, base: str, size: str, slack: float = 0.1) -> list[Verdict]:
    """Many times the data, sizes in words: the same rows a second within 10% or another share, the same peak within 5%."""
    rate = (small.wall / small.rows) / (large.wall / large.rows)
    peak = large.peak / small.peak
    within = {True: "yes", False: "no"}
    return [
        Verdict(f"{size}, rows/s", f"itself on {base}", f"within {slack:.0%}", f"{rate:.2f}", within[rate >= 1 - slack]),
        Verdict(f"{size}, peak memory", f"itself on {base}", "within 5%", f"{peak:.2f}", within[peak <= 1.05]),
    ]
