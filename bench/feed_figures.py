"""The figures weir has to reach when it feeds Python, and whether measured entries reach them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from feeds import AXOLOTL, DATALOADERS, FIRST, HF, HF_OLDER, LIT, MOSAIC, PLAIN_DATALOADERS, RAY
from figures import Verdict, met
from programs import MIB
from speed import Entry

LOADER, SCAN, READER = "weir.loader", "weir.scan", "weir reader"
PYARROW = "pyarrow in process"
TOGETHER, PYTHON = 256, 40  # MiB above `import torch`: with the child, and without it
ARROW = ("feed-arrow-numeric", "feed-arrow-text")
SOON = 0.5  # seconds to the first batch


@dataclass(frozen=True)
class Rate:
    """weir's rows a second in a loop against the fastest of some peers."""

    label: str
    own: str
    peers: tuple[str, ...]
    against: str
    factor: float


RATES = [
    Rate("feed-ordered", LOADER, tuple(PLAIN_DATALOADERS), "the faster DataLoader", 5),
    Rate("feed-ordered", LOADER, tuple(DATALOADERS), "the fastest DataLoader, tuned ones too", 1),
    Rate("feed-ordered", LOADER, tuple(HF_OLDER), "HF datasets 5.0", 40),
    Rate("feed-ordered", LOADER, tuple(HF), "HF datasets 5.2, the faster way", 40),
    *(
        Rate("feed-ordered", LOADER, tuple(peers), f"{name}, the faster way", 5)
        for name, peers in (("Ray Data", RAY), ("mosaicml-streaming", MOSAIC), ("LitData", LIT))
    ),
    Rate("feed-shuffled", LOADER, tuple(HF_OLDER), "HF datasets 5.0", 500),
    Rate("feed-shuffled", LOADER, tuple(HF), "HF datasets 5.2, the faster way", 500),
    *(
        Rate(label, own, (peer,), peer, factor)
        for label in ("feed-text-parquet", "feed-text-jsonl")
        for own, peer, factor in ((SCAN, "HF load_dataset", 77), (SCAN, AXOLOTL, 2), (READER, AXOLOTL, 1))
    ),
    *(Rate(label, SCAN, (PYARROW,), PYARROW, 1.2) for label in ARROW),
]


def judge(entries: list[Entry]) -> list[Verdict]:
    """The figures of all loops that were run."""
    ran = {(entry.dataset, entry.program): entry for entry in entries}
    verdicts = []
    for figure in RATES:
        own = ran.get((figure.label, figure.own))
        peers = [ran[key] for name in figure.peers if (key := (figure.label, name)) in ran]
        if own and len(peers) == len(figure.peers):
            verdicts.append(judge_rate(figure, own, peers))
    for label in ARROW:
        own, peer = ran.get((label, SCAN)), ran.get((label, PYARROW))
        if own and peer and own.walls and peer.walls:
            verdicts.append(judge_share(own, peer))
    return verdicts + [judge_first(own) for name in (LOADER, SCAN) if (own := ran.get((FIRST, name))) and own.walls]


def judge_rate(figure: Rate, own: Entry, peers: list[Entry]) -> Verdict:
    """One figure against the best of the peers that ended well; the others are named."""
    what, wanted = f"{figure.label}: {figure.own}, rows/s", f"≥ {figure.factor:g}"
    failed = [peer.program for peer in peers if not peer.good]
    if not own.good or len(failed) == len(peers):
        return Verdict(what, figure.against, wanted, f"{figure.own} failed" if not own.good else "no peer ended well", "no")
    best = max((peer for peer in peers if peer.good), key=attrgetter("rate"))
    ratio = own.rate / best.rate
    against = figure.against if len(peers) == 1 else f"{figure.against} ({best.program})"
    measured = f"{ratio:.2f}" + (f", {' and '.join(failed)} failed" if failed else "")
    return Verdict(what, against, wanted, measured, met(ratio, figure.factor))


def judge_share(own: Entry, peer: Entry) -> Verdict:
    """A third of the peer's memory, Python's included on both sides."""
    measured = f"{own.peak / MIB:.0f} of {peer.peak / MIB:.0f} MiB, 1/{peer.peak / own.peak:.1f}"
    reached = "yes" if 3 * own.peak <= peer.peak else "no"
    return Verdict(f"{own.dataset}: {own.program}, peak memory", peer.program, "≤ 1/3", measured, reached)


def judge_first(own: Entry) -> Verdict:
    """The time to the first batch, child process and all."""
    return Verdict(f"{own.dataset}: {own.program}", "", f"≤ {SOON} s", f"{own.wall:.2f} s", "yes" if own.wall <= SOON else "no")


def judge_memory(label: str, together: int, apart: dict[str, int], budget: int) -> list[Verdict]:
    """All sizes in bytes: Python and child above `import torch` together; and each of them, where that could be measured."""
    what = f"{label}: {LOADER}, peak memory"
    rows = [("Python and child above `import torch`", TOGETHER * MIB, together)]
    if apart:
        rows += [("Python above `import torch`", PYTHON * MIB, apart["python"]), ("the child", budget, apart["child"])]
    verdicts = []
    for name, most, size in rows:
        reached = "yes" if size <= most else "no"
        verdicts.append(Verdict(f"{what}, {name}", "", f"≤ {most >> 20} MiB", f"{size / MIB:.0f} MiB", reached))
    if not apart:
        verdicts.append(Verdict(f"{what}, apart", "", f"≤ {PYTHON} MiB, ≤ {budget >> 20} MiB", f"{LOADER} failed", "no"))
    return verdicts
