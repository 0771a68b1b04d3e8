"""Tables of results as Markdown, which is also what the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable

from figures import Verdict
from limits import Survival
from programs import MIB, WEIR
from results import Section
from speed import Entry


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table whose columns line up in plain text too."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    drawn = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([f"| {drawn[0]} |", f"|{rule}|", *(f"| {line} |" for line in drawn[1:])])


def speed_rows(entries: list[Entry]) -> Iterable[list[str]]:
    own = next((e for e in entries if e.program == WEIR and e.walls), None)
    rounds = max(len(e.walls) for e in entries)
    for entry in entries:
        if not entry.walls:
            yield [entry.program, "failed", "", "", "", "", "", ""]
            continue
        failed = f" ({len(entry.errors)} failed)" if entry.errors else ""
        once = " (once)" if len(entry.walls) == 1 < rounds and not entry.errors else ""
        yield [
            entry.program + failed + once + (f", wrote {entry.written / 1e6:.0f} MB" if entry.written else ""),
            f"{entry.wall:.3f}",
            f"{entry.cpu:.3f}",
            f"{min(entry.cpus):.3f} to {max(entry.cpus):.3f}",
            f"{entry.arrow_bytes / 1e6 / entry.cpu:.0f}",
            f"{entry.peak / MIB:.0f}",
            f"{entry.cpu / own.cpu:.2f}" if own else "",
            f"{entry.wall / own.wall:.2f}" if own else "",
        ]


def speed(entries: list[Entry]) -> str:
    """One table for each dataset and number of threads."""
    head = ["program", "wall s", "CPU s", "CPU s, range", "MB of Arrow / CPU s", "peak MiB", "CPU / weir's", "wall / weir's"]
    parts = []
    for dataset, threads in dict.fromkeys((e.dataset, e.threads) for e in entries):
        chosen = [e for e in entries if (e.dataset, e.threads) == (dataset, threads)]
        title = f"{dataset}: {chosen[0].rows:,} rows, {chosen[0].arrow_bytes / 1e6:.0f} MB of Arrow, threads: {threads}"
        parts.append(f"**{title}**, rounds: {max(len(e.walls) for e in chosen)}\n\n{table(head, speed_rows(chosen))}")
        parts += [f"{e.program} failed: {e.errors[0]}" for e in chosen if e.errors]
    return "\n\n".join(parts)


def limits(survivals: list[Survival]) -> str:
    """One table of the smallest limits."""
    head = ["dataset", "program", "smallest limit", "peak MiB there", "wall s there", "of full speed", "one rung below"]
    rows = []
    for each in survivals:
        if not each.limit:
            rows.append([each.dataset, each.program, "none", "", "", "", each.below])
            continue
        numbers = [f"{each.limit} MiB", f"{each.peak / MIB:.0f}", f"{each.wall:.2f}", f"{each.speed:.0%}"]
        rows.append([each.dataset, each.program, *numbers, each.below or "the lowest rung"])
    return table(head, rows)


def verdicts(given: list[Verdict]) -> str:
    """The figures of the project and whether they are met."""
    head = ["what", "against", "figure", "measured", "met"]
    return table(head, ([v.what, v.against, v.figure, v.measured, v.met] for v in given))


def body(each: Section) -> str:
    """Everything a section has to show."""
    parts = [speed(each.entries)] if each.entries else []
    if each.survivals:
        parts.append(limits(each.survivals))
    if each.verdicts:
        parts.append(verdicts(each.verdicts))
    return "\n\n".join(parts + each.notes)
