"""The parts of the benchmark that prepare a dataset: speed, memory limits, a large dataset."""

from __future__ import annotations

from dataclasses import replace

import cgroup
import figures
import limits
import preparation
import speed as rounds
import tables
from call import Call
from datasets import Dataset
from programs import PREPARERS, WEIR, Job
from results import Section

DATASETS, LARGE = ["prepare-2m"], ["prepare-8m"]  # the large one only with --big
LIMITED = ["prepare-2m"]
SMALL, LINKED = "prepare-8m", ["prepare-60gb", "prepare-30gb", "prepare-15gb", "prepare-10gb"]
LADDER = (*limits.Search().ladder, 3072)  # MiB: pandas needs the last


def jobs(call: Call, data: Dataset, reference: str) -> list[Job]:
    """The job of every program asked for, on as many cores as were asked for at most."""
    names = [name for name in call.args.programs if name == WEIR or name in PREPARERS]
    threads = max(call.args.threads)
    return [Job(name, data, threads, codec=preparation.CODEC, prepare=True, reference=reference) for name in names]


def speed(call: Call) -> Section:
    section, settings = call.section(figures.WRITE_LIMIT)
    for data in call.data(DATASETS + LARGE * call.args.big):
        rounds.warm(data)
        with preparation.reference(data, settings.weir, settings.memory) as known:
            entries = rounds.interleave(jobs(call, data, known), call.args.rounds, settings)
        print(f"\n{tables.speed(entries)}", flush=True)
        section.entries += entries
    section.verdicts = figures.judge_peers(section.entries) + figures.judge_peaks(section.entries, figures.WRITE_LIMIT)
    return section


def survival(call: Call) -> Section:
    section, settings = call.section(figures.WRITE_LIMIT)
    if not cgroup.available():
        section.notes.append("No memory control group can be made here, so no limits were tried.")
        return section
    search = limits.QUICK if call.args.quick else replace(limits.Search(), ladder=LADDER)
    for data in call.data(LIMITED):
        with preparation.reference(data, settings.weir, settings.memory) as known:
            section.survivals += limits.survey(jobs(call, data, known), search, settings)
    section.verdicts = figures.judge_prepared_limits(section.survivals)
    return section


def big(call: Call) -> Section:
    """The largest of the linked datasets whose prepared copy fits on the disk, against the one it is made of; weir alone."""
    section, settings = call.section(figures.WRITE_LIMIT)
    if not call.args.big:
        return section
    small = call.dataset(SMALL)
    large = next((data for name in LINKED if (data := call.dataset(name)) and preparation.fits(data)), None)
    if not small or not large:
        section.notes.append("There is no room here for what would be written.")
        return section
    rounds.warm(small)
    own = [Job(WEIR, data, max(call.args.threads), codec=preparation.CODEC, prepare=True) for data in (small, large)]
    section.entries = rounds.interleave(own, call.args.rounds, settings)
    if all(entry.walls for entry in section.entries):
        sizes = [f"{data.file_bytes / 1e9:.1f} GB" for data in (small, large)]
        section.verdicts = figures.judge_big(*section.entries, *sizes)
    return section
