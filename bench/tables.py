"""Tables of results as Markdown, which is also what the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable

from feeds import FIRST
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


def rate_rows(entries: list[Entry]) -> Iterable[list[str]]:
    own = next((e for e in entries if e.program.startswith(WEIR) and e.walls), None)
    rounds = max(len(e.walls) for e in entries)
    for entry in entries:
        if not entry.walls:
            yield [entry.program, "failed", "", "", "", "", "", ""]
            continue
        failed = f" ({len(entry.errors)} failed)" if entry.errors else ""
        once = " (once)" if len(entry.walls) == 1 < rounds and not entry.errors else ""
        yield [
            entry.program + failed + once,
            f"{entry.rows:,}",
            f"{entry.wall:.3f}",
            f"{entry.rate:,.0f}",
            f"{entry.rows / max(entry.walls):,.0f} to {entry.rows / min(entry.walls):,.0f}",
            f"{entry.cpu / entry.rows * 1e6:.2f}",
            f"{entry.peak / MIB:.0f}",
            f"{own.rate / entry.rate:.2f}" if own else "",
        ]


def first_rows(entries: list[Entry]) -> tuple[list[str], list[list[str]]]:
    """The table of the first batch: its head and its rows."""
    head = ["program", "s to the first batch", "s, range", "CPU s", "peak MiB"]
    rows = []
    for e in entries:
        numbers = [f"{e.wall:.3f}", f"{min(e.walls):.3f} to {max(e.walls):.3f}", f"{e.cpu:.3f}", f"{e.peak / MIB:.0f}"] if e.walls else []
        rows.append([e.program, *(numbers or ["failed", "", "", ""])])
    return head, rows


def rates(entries: list[Entry]) -> str:
    """One table for each loop, by rows a second, since not every program is given the same number of rows."""
    head = ["program", "rows", "wall s", "rows/s", "rows/s, range", "CPU s / million rows", "peak MiB", "weir's rows/s / its"]
    parts = []
    for label in dict.fromkeys(e.dataset for e in entries):
        chosen = [e for e in entries if e.dataset == label]
        title = f"**{label}, threads: {chosen[0].threads}**, rounds: {max(len(e.walls) for e in chosen)}"
        shown = table(*first_rows(chosen)) if label == FIRST else table(head, rate_rows(chosen))
        parts.append(f"{title}\n\n{shown}")
        parts += [f"{e.program} failed: {e.errors[0]}" for e in chosen if e.errors]
    return "\n\n".join(parts)


def cost_rows(entries: list[Entry]) -> Iterable[list[str]]:
    own = next((e for e in entries if e.program.startswith(WEIR) and e.walls), None)
    for entry in entries:
        if not entry.walls:
            yield [entry.program, "failed", *[""] * 9]
            continue
        failed = f" ({len(entry.errors)} failed)" if entry.errors else ""
        yield [
            entry.program + failed + (f", wrote {entry.written / 1e6:.0f} MB" if entry.written else ""),
            f"{entry.rows:,}",
            f"{entry.wall:.3f}" + (" (once)" if len(entry.walls) == 1 < max(len(e.walls) for e in entries) else ""),
            f"{entry.rate:,.0f}",
            f"{entry.cpu:.3f}",
            f"{entry.arrow_bytes / 1e6 / entry.cpu:.1f}",
            f"{entry.peak / MIB:.0f}",
            f"{entry.added / entry.rows:.1f}" if entry.added else "",
            f"{entry.share:.2%}" if entry.share else "",
            f"{own.rate / entry.rate:.2f}" if own else "",
            f"{own.work / entry.work:.2f}" if own else "",
        ]


def costs(entries: list[Entry]) -> str:
    """One table for each pass over a corpus, by rows a second and by rows a CPU second; a column without a value is left out."""
    head = ["program", "rows", "wall s", "rows/s", "CPU s", "MB of Arrow / CPU s", "peak MiB", "bytes a row beside what is read", "share"]
    head += ["weir's rows/s / its", "weir's rows per CPU s / its"]
    parts = []
    for label in dict.fromkeys(e.dataset for e in entries):
        chosen = [e for e in entries if e.dataset == label]
        lines = [head, *cost_rows(chosen)]
        used = [i for i, name in enumerate(head) if name not in ("share", head[7]) or any(line[i] for line in lines[1:])]
        shown = table([head[i] for i in used], ([line[i] for i in used] for line in lines[1:]))
        parts.append(f"**{label}, threads: {chosen[0].threads}**, rounds: {max(len(e.walls) for e in chosen)}\n\n{shown}")
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
    shape = costs if each.costs else rates if each.rates else speed
    parts = [shape(each.entries)] if each.entries else []
    if each.survivals:
        parts.append(limits(each.survivals))
    if each.verdicts:
        parts.append(verdicts(each.verdicts))
    return "\n\n".join(parts + each.notes)
