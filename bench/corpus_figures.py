"""The figures weir has to reach in passes over a corpus, and whether measured entries reach them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import corpora
import figures
from figures import Verdict, met
from programs import MIB
from speed import Entry

LARGE, SMALL = "weir 512MiB", "weir 128MiB"
WALL, CPU = "rate", "work"  # rows a second, rows a CPU second
WORDS = {WALL: "rows/s", CPU: "rows per CPU second"}
FILL = 0.99
ROW_BYTES = 16  # that weir may add for a row of a list in Python
SLACK = 0.15


@dataclass(frozen=True)
class Figure:
    """weir's rows a second or a CPU second in a pass against one peer."""

    label: str
    own: str
    peer: str
    factor: float
    by: str = WALL


FIGURES = [
    *(
        Figure(label, own, f"DuckDB {limit}", 2)
        for label in (corpora.DEDUP, corpora.DEDUP_WRITE)
        for own, limit in ((LARGE, "2GB"), (LARGE, "512MB"), (SMALL, "128MB"))
    ),
    Figure(corpora.ROWS, corpora.WEIR_ROWS, corpora.AXOLOTL_ROWS, 8),
    Figure(corpora.ROWS, corpora.WEIR_ROWS, corpora.SHA256, 8),
    *(
        Figure(corpora.NEAR_PASS, LARGE, peer, 1, CPU)
        for peer in (corpora.RENSA, corpora.RENSA_SHINGLES, corpora.RENSA_RHO, corpora.DATASKETCH, corpora.DATATROVE)
    ),
    *(
        Figure(f"tokenize-{name}-{language}", LARGE, peer, factor, CPU)
        for name in corpora.BYTE_LEVEL
        for language in corpora.LANGUAGES
        for peer, factor in ((corpora.HF, 5), (corpora.TIKTOKEN, 3))
    ),
    *(Figure(f"tokenize-{name}-{language}", LARGE, corpora.HF, 3, CPU) for name in corpora.OTHERS for language in ("english", "chinese")),
    *(Figure(corpora.PACK, LARGE, peer, 10) for peer in (corpora.AXOLOTL_PACK, corpora.PLAIN, corpora.TRL)),
    Figure(corpora.SHUFFLE, SMALL, "DuckDB 512MB", 1.5),
]


def judge(entries: list[Entry]) -> list[Verdict]:
    """The figures of all passes that were run."""
    ran = {(entry.dataset, entry.program): entry for entry in entries}
    verdicts = []
    for figure in FIGURES:
        own, peer = ran.get((figure.label, figure.own)), ran.get((figure.label, figure.peer))
        if own and peer:
            verdicts.append(judge_one(figure, own, peer))
    verdicts += [judge_budget(entry) for entry in entries if entry.program in (LARGE, SMALL) and entry.walls]
    rows, pack = ran.get((corpora.ROWS, corpora.WEIR_ROWS)), ran.get((corpora.PACK, LARGE))
    if rows and rows.added:
        verdicts.append(judge_bytes(rows))
    if pack and pack.walls:
        reached = "yes" if pack.share >= FILL else "no"
        verdicts.append(Verdict(f"{corpora.PACK}: rows filled", "", f"≥ {FILL:.0%}", f"{pack.share:.2%}", reached))
    return verdicts


def judge_one(figure: Figure, own: Entry, peer: Entry) -> Verdict:
    """One figure; with a program that failed there is nothing to compare."""
    what, wanted = f"{figure.label}: {figure.own}, {WORDS[figure.by]}", f"≥ {figure.factor:g}"
    if not (own.good and peer.good):
        return Verdict(what, figure.peer, wanted, f"{figure.peer if own.good else figure.own} failed", "no")
    speed = attrgetter(figure.by)
    ratio = speed(own) / speed(peer)
    return Verdict(what, figure.peer, wanted, f"{ratio:.2f}", met(ratio, figure.factor))


def judge_budget(own: Entry) -> Verdict:
    """weir's peak against its --memory."""
    budget = int(own.program.removeprefix("weir ").removesuffix("MiB"))
    reached = "yes" if own.peak <= budget * MIB else "no"
    return Verdict(f"{own.dataset}: {own.program}, peak memory", "", f"≤ {budget} MiB", f"{own.peak / MIB:.0f} MiB", reached)


def judge_bytes(own: Entry) -> Verdict:
    """Memory a row above that of the list itself, child processes and what is returned included."""
    size = own.added / own.rows
    what, reached = f"{corpora.ROWS}: {corpora.WEIR_ROWS}, bytes a row", "yes" if size <= ROW_BYTES else "no"
    return Verdict(what, corpora.LIST, f"≤ {ROW_BYTES}", f"{size:.1f}", reached)


def judge_many(one: Entry, many: Entry) -> list[Verdict]:
    """Many times the data: the same rows a second within 15%, the same peak within 5%."""
    return figures.judge_big(one, many, "one", many.dataset, SLACK)
