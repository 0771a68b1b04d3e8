"""The parts of the benchmark that read Parquet: speed, memory limits, S3, a large dataset, memory over time."""

from __future__ import annotations

import cgroup
import datasets
import figures
import limits
import s3 as server
import speed as rounds
import timeline
from call import Call
from programs import HERE, WEIR, Job
from results import Section

SPEED = ["numeric", "numeric-none", "numeric-nulls", "text", "chat", "tokens"]
LIMITS = ["numeric", "numeric-one", "text-one"]
S3 = ["numeric", "text"]
BIG = ["big-1", "big-20"]
PLOT = ["numeric", "numeric-one"]
DOCS = HERE.parent / "docs"


def speed(call: Call) -> Section:
    section, settings = call.section()
    wanted = [name for name, spec in datasets.SPECS.items() if name in (call.args.only or SPEED) and spec.form == "parquet"]
    for data in call.data([name for name in wanted if name not in BIG]):
        for threads in call.args.threads:
            section.entries += call.compare(data, call.readers("parquet"), threads, settings)
    section.verdicts = figures.judge_peers(section.entries) + figures.judge_threads(section.entries)
    return section


def survival(call: Call) -> Section:
    section, settings = call.section()
    if not cgroup.available():
        section.notes.append("No memory control group can be made here, so no limits were tried.")
        return section
    search = limits.QUICK if call.args.quick else limits.Search()
    jobs = [Job(name, data, call.args.threads[0]) for data in call.data(LIMITS) for name in call.readers("parquet")]
    section.survivals = limits.survey(jobs, search, settings)
    section.verdicts = figures.judge_limits(section.survivals)
    return section


def s3(call: Call) -> Section:
    section, settings = call.section()
    data = call.data(S3)
    pairs = server.compare(data, call.args.rounds, settings) if data else []
    if pairs is None:
        section.notes.append("The S3 server could not be built here (it needs Go), so nothing was read from it.")
        return section
    for remote, local in pairs:
        remote.program, local.program = "weir, S3", "weir, disk"
        section.entries += [remote, local]
        if remote.walls and local.walls:
            section.verdicts.append(figures.judge_pair(f"{remote.dataset} from S3", remote, local, 0.8))
    return section


def big(call: Call) -> Section:
    section, settings = call.section()
    both = call.data(BIG)
    for data in both:
        rounds.warm(data)
    jobs = [Job(WEIR, data, max(call.args.threads)) for data in both]
    section.entries = rounds.interleave(jobs, call.args.rounds, settings)
    if len(section.entries) == 2 and all(entry.walls for entry in section.entries):
        section.verdicts = figures.judge_big(*section.entries, "1 GB", "20 GB")
    return section


def plot(call: Call) -> Section:
    name = "memory-quick.png" if call.args.quick else "memory.png"
    folder = datasets.root(True) if call.args.quick else DOCS
    section, settings = call.section(memory=figures.LIMIT)
    if data := call.data(PLOT):
        timeline.draw(data, call.readers("parquet"), call.args.threads[0], settings, folder / name)
        section.notes.append(f"weir with `--memory {figures.LIMIT}MiB`, once on each dataset.\n\n![Memory over time]({name})")
    return section
