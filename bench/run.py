"""The benchmark: makes the datasets, runs weir and its peers on them, prints tables, writes docs/benchmarks.md.

Run `make bench` for all of it, or parts of it as in

    python3 bench/run.py --parts speed --only numeric,text --threads 1 --rounds 7
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cgroup
import datasets
import document
import environment
import figures
import limits
import results
import s3
import speed
import tables
import timeline
from datasets import Dataset
from programs import HERE, MIB, NAMES, WEIR, Job, Settings
from results import Section

PARTS = ["speed", "limits", "s3", "big", "plot"]
SPEED = ["numeric", "numeric-none", "numeric-nulls", "text", "chat", "tokens"]
LIMITS = ["numeric", "numeric-one", "text-one"]
S3 = ["numeric", "text"]
BIG = ["big-1", "big-20"]
PLOT = ["numeric", "numeric-one"]
DOCS = HERE.parent / "docs"


class Bench:
    """One call of the benchmark."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.settings = Settings(args.weir, args.memory * MIB)
        self.made = results.origin(shlex.join(["python3", "bench/run.py", *sys.argv[1:]]), self.settings)

    def data(self, names: list[str]) -> list[Dataset]:
        """The datasets among `names` that were asked for, made where they are missing."""
        names = [name for name in names if not self.args.only or name in self.args.only]
        missing = [name for name in names if not datasets.load(name, self.args.quick)]
        if missing:
            command = [str(environment.python()), str(HERE / "make_data.py"), *missing]
            subprocess.run(command + ["--quick"] * self.args.quick, check=True)
        return [found for name in names if (found := datasets.load(name, self.args.quick))]

    def speed(self) -> Section:
        section = Section(self.made)
        wanted = [name for name in datasets.SPECS if name in (self.args.only or SPEED) and name not in BIG]
        for data in self.data(wanted):
            for threads in self.args.threads:
                entries = speed.compare(data, self.args.programs, threads, self.args.rounds, self.settings)
                print(f"\n{tables.speed(entries)}", flush=True)
                section.entries += entries
        section.verdicts = figures.judge_speed(section.entries)
        return section

    def limits(self) -> Section:
        section = Section(self.made)
        if not cgroup.available():
            section.notes.append("No memory control group can be made here, so no limits were tried.")
            return section
        search = limits.QUICK if self.args.quick else limits.Search()
        section.survivals = limits.survey(self.data(LIMITS), self.args.programs, self.args.threads[0], search, self.settings)
        section.verdicts = figures.judge_limits(section.survivals)
        return section

    def s3(self) -> Section:
        section = Section(self.made)
        pairs = s3.compare(self.data(S3), self.args.rounds, self.settings)
        if pairs is None:
            section.notes.append("The S3 server could not be built here (it needs Go), so nothing was read from it.")
            return section
        for remote, local in pairs:
            remote.program, local.program = "weir, S3", "weir, disk"
            section.entries += [remote, local]
            if remote.walls and local.walls:
                section.verdicts.append(figures.judge_pair(f"{remote.dataset} from S3", remote, local, 0.8))
        return section

    def big(self) -> Section:
        section = Section(self.made)
        both = self.data(BIG)
        for data in both:
            speed.warm(data)
        jobs = [Job(WEIR, data, max(self.args.threads)) for data in both]
        section.entries = speed.interleave(jobs, self.args.rounds, self.settings)
        if len(section.entries) == 2 and all(entry.walls for entry in section.entries):
            section.verdicts = figures.judge_big(*section.entries)
        return section

    def plot(self) -> Section:
        name = "memory-quick.png" if self.args.quick else "memory.png"
        folder = datasets.root(True) if self.args.quick else DOCS
        settings = replace(self.settings, memory=figures.LIMIT * MIB)
        timeline.draw(self.data(PLOT), self.args.programs, self.args.threads[0], settings, folder / name)
        return Section(self.made, notes=[f"weir with `--memory {figures.LIMIT}MiB`, once on each dataset.\n\n![Memory over time]({name})"])


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
    parser.add_argument("--parts", type=names(PARTS), default=PARTS, help=f"comma-separated, of {', '.join(PARTS)}")
    parser.add_argument("--only", type=names(list(datasets.SPECS)), default=[], help="only these datasets, comma-separated")
    parser.add_argument("--programs", type=names(NAMES), default=NAMES, help=f"comma-separated, of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2], help="default 1,2")
    parser.add_argument("--memory", type=int, default=256, help="weir's budget in MiB where no limit is searched (default %(default)s)")
    parser.add_argument("--weir", type=Path, default=HERE.parent / "bin" / "weir", help="the binary (default bin/weir)")
    parser.add_argument("--quick", action="store_true", help="scaled-down datasets, for a smoke test; docs stay as they are")
    return parser.parse_args()


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that control groups and servers are cleared away
    args = parse()
    if WEIR in args.programs and not args.weir.exists():
        raise SystemExit(f"bench: {args.weir} is missing; run `make build` first, or leave weir out with --programs")
    if WEIR not in args.programs:
        args.parts = [part for part in args.parts if part not in ("s3", "big")]
    store = datasets.cache() / ("bench-quick.json" if args.quick else "bench.json")
    bench = Bench(args)
    sections = results.load(store)
    for part in args.parts:
        section: Section = getattr(bench, part)()
        shown = replace(section, entries=[]) if part == "speed" else section  # speed prints its tables as they come
        print(f"\n{document.TITLES[part]}\n\n{tables.body(shown)}", flush=True)
        sections[part] = section
        results.save(store, sections)
    if not args.quick:
        (DOCS / "benchmarks.md").write_text(document.render(sections))


if __name__ == "__main__":
    main()
