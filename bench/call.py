"""One call of the benchmark: what was asked for, and the datasets and programs that follow from it."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from dataclasses import replace

import datasets
import environment
import results
import speed
import tables
from datasets import Dataset
from programs import HERE, MIB, PEERS, WEIR, Settings
from results import Section
from speed import Entry


class Call:
    """The arguments of one call, and what all parts of the benchmark do with them."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.settings = Settings(args.weir, args.memory * MIB)

    def section(self, memory: int = 0, peers: str = "") -> tuple[Section, Settings]:
        """An empty section and the settings it is made with: a budget in MiB other than the usual, peers of an environment."""
        settings = replace(self.settings, memory=memory * MIB) if memory else self.settings
        given = re.sub(r" --weir[ =]\S+", "", shlex.join(["python3", "bench/run.py", *sys.argv[1:]]))
        return Section(results.origin(given, settings, peers)), settings

    def data(self, names: list[str]) -> list[Dataset]:
        """The datasets among `names` that were asked for, as far as they can be had."""
        return [found for name in self.chosen(names) if (found := self.dataset(name))]

    def chosen(self, names: list[str]) -> list[str]:
        """Those of `names` that were asked for."""
        return [name for name in names if not self.args.only or name in self.args.only]

    def dataset(self, name: str) -> Dataset | None:
        """A dataset, made where it is missing; None, and a word why, where it cannot be made."""
        if not datasets.load(name, self.args.quick):
            try:
                python = environment.python(datasets.SPECS[name].environment)
                subprocess.run([str(python), str(HERE / "make_data.py"), name, *["--quick"] * self.args.quick], check=True)
            except (environment.Unavailable, subprocess.CalledProcessError) as why:
                print(f"bench: {name} cannot be made: {why}", file=sys.stderr)
        return datasets.load(name, self.args.quick)

    def readers(self, form: str, threads: int = 1) -> list[str]:
        """The programs asked for that read a form of data and can use that many threads."""
        able = [name for name, peer in PEERS.items() if form in peer.forms and (threads == 1 or peer.parallel)]
        return [name for name in self.args.programs if name == WEIR or name in able]

    def compare(self, data: Dataset, names: list[str], threads: int, settings: Settings, *, codec: str = "") -> list[Entry]:
        """The entries of one dataset, shown as they come."""
        entries = speed.compare(data, names, threads, self.args.rounds, settings, codec=codec)
        print(f"\n{tables.speed(entries)}", flush=True)
        return entries
