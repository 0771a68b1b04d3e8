"""The parts of the benchmark for every other format, and for writing: weir with a small budget beside the libraries people use."""

from __future__ import annotations

import figures
import programs
from call import Call
from datasets import SPECS, Dataset
from figures import Verdict
from programs import PEERS, WEIR, WRITERS, Settings
from results import Section

LARGE = ["jsonl-5gb"]  # only with --big
CODECS = ["snappy", "zstd"]
WRITTEN = ["numeric"]


def scan(call: Call, form: str) -> Section:
    """All datasets of a form."""
    environments = {PEERS[name].environment for name in programs.readers(form)}
    section, settings = call.section(figures.LIMIT, *environments)
    names = [name for name, spec in SPECS.items() if (spec.form, spec.part) == (form, "") and (name not in LARGE or call.args.big)]
    values = []
    for name in call.chosen(names):
        data = call.dataset(name)
        if not data:
            section.notes.append(f"{name} could not be made here.")
            continue
        for threads in call.args.threads:
            if readers := call.readers(form, threads):
                section.entries += call.compare(data, readers, threads, settings)
        if WEIR in call.args.programs and data.spec.twin:
            values.append(same_values(call, data, settings))
    section.verdicts = figures.judge_peers(section.entries) + figures.judge_peaks(section.entries, figures.LIMIT) + values
    return section


def same_values(call: Call, data: Dataset, settings: Settings) -> Verdict:
    """Whether weir finds exactly the values of the same rows in Parquet, to the last bit of every double."""
    twin = call.dataset(data.spec.twin)
    found = [programs.digest(each, settings) if each else "" for each in (data, twin)]
    return figures.judge_values(data.name, data.spec.twin, *found)


def write(call: Call) -> Section:
    """Parquet read and written again."""
    section, settings = call.section(figures.WRITE_LIMIT)
    names = [name for name in call.args.programs if name == WEIR or name in WRITERS]
    for data in call.data(WRITTEN):
        for codec in CODECS:
            for threads in call.args.threads:
                section.entries += call.compare(data, names, threads, settings, codec=codec)
    section.verdicts = figures.judge_peers(section.entries) + figures.judge_peaks(section.entries, figures.WRITE_LIMIT)
    return section
