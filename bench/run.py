"""The benchmark: makes the datasets, runs weir and its peers on them, prints tables, writes docs/benchmarks.md.

Run `make bench` for all of it, or parts of it as in

    python3 bench/run.py --parts speed,jsonl --only numeric,jsonl-zst --threads 1 --rounds 7
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import corpus
import datasets
import document
import environment
import feeding
import formats
import parts
import preparing
import tables
from call import Call
from programs import HERE, NAMES, WEIR
from results import Section

PARTS: dict[str, Callable[[Call], Section]] = {
    "speed": parts.speed,
    "limits": parts.survival,
    "s3": parts.s3,
    "big": parts.big,
    **{form: partial(formats.scan, form=form) for form in ("jsonl", "csv", "arrow", "mds", "webdataset", "tfrecord", "images")},
    "write": formats.write,
    "prepare": preparing.speed,
    "prepare-limits": preparing.survival,
    "prepare-big": preparing.big,
    "feed": feeding.run,
    "corpus": corpus.run,
    "plot": parts.plot,
}
SHOWN = ("limits", "s3", "big", "prepare-limits", "prepare-big", "plot")  # the other parts show their tables as they come


def names(known: list[str]) -> Callable[[str], list[str]]:
    """A parser of comma-separated names out of a list."""

    def parse(text: str) -> list[str]:
        given = text.split(",")
        for name in given:
            if name not in known:
                raise argparse.ArgumentTypeError(f"unknown {name!r}; known: {', '.join(known)}")
        return given

    return parse


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=names(list(PARTS)), default=list(PARTS), help=f"comma-separated, of {', '.join(PARTS)}")
    parser.add_argument("--only", type=names(list(datasets.SPECS)), default=[], help="only these datasets, comma-separated")
    parser.add_argument("--programs", type=names(NAMES), default=NAMES, help=f"comma-separated, of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2], help="default 1,2")
    parser.add_argument("--memory", type=int, default=256, help="weir's budget in MiB where Parquet is read (default %(default)s)")
    parser.add_argument("--weir", type=Path, default=HERE.parent / "bin" / "weir", help="the binary (default bin/weir)")
    parser.add_argument("--big", action="store_true", help="with the large datasets too: 5 to 60 GB, and corpora many times over")
    parser.add_argument("--quick", action="store_true", help="scaled-down datasets, for a smoke test; docs stay as they are")
    return parser.parse_args()


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that control groups and servers are cleared away
    args = parse()
    if WEIR in args.programs and not args.weir.exists():
        raise SystemExit(f"bench: {args.weir} is missing; run `make build` first, or leave weir out with --programs")
    if WEIR not in args.programs:
        args.parts = [part for part in args.parts if part not in ("s3", "big", "prepare-big")]
    call = Call(args)
    for part in args.parts:
        try:
            section = PARTS[part](call)
        except environment.Unavailable as why:
            raise SystemExit(f"bench: {why}") from None
        if not (section.entries or section.survivals or section.notes):
            continue  # nothing of it was asked for, or could be had
        shown = section if part in SHOWN else replace(section, entries=[])
        print(f"\n{document.TITLES[part]}\n\n{tables.body(shown)}", flush=True)
        if not args.quick:
            document.put(part, section)


if __name__ == "__main__":
    main()
