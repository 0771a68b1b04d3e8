"""The part of the benchmark that feeds Python: matrices for a model, rows of text, Arrow batches, the first batch; and its memory."""

from __future__ import annotations

import json
from pathlib import Path

import environment
import feed_figures
import programs
import speed as rounds
import tables
from call import Call
from feed_figures import Verdict
from feeds import BARE, BUDGET, FEEDS, MEMORY, Feed
from programs import WEIR, Job, Settings
from results import Section
from speed import Entry

NOTE = """Every clock here, weir's too, starts when the imports are done and stops when the last batch has been taken; weir's child
process is started within. CPU seconds and memory are those of Python with all child processes."""


def jobs(call: Call, feed: Feed) -> list[Job]:
    """The programs asked for (`weir` is all of weir's) whose datasets can be had, on as many cores as were asked for at most."""
    found = []
    for name, feeder in feed.feeders.items():
        asked = name in call.args.programs or (name.startswith(WEIR) and WEIR in call.args.programs)
        if asked and (data := call.dataset(feeder.data or feed.data)):
            found.append(Job(name, data, max(call.args.threads), feeder=feeder, mode=feed.mode, name=feed.label))
    return found


def run(call: Call) -> Section:
    section, settings = call.section(BUDGET, "feed")
    section.rates = True
    section.notes.append(NOTE)
    bare = 0
    for feed in FEEDS:
        if not call.chosen([feed.data]):
            continue
        asked = jobs(call, feed)
        for data in {job.data.name: job.data for job in asked}.values():
            rounds.warm(data)
        entries = rounds.interleave(asked, call.args.rounds, settings)
        print(f"\n{tables.rates(entries)}", flush=True)
        section.entries += entries
        if feed.mode in ("ordered", "shuffled"):
            bare = bare or bare_torch(call, settings)
            section.verdicts += memory(call, feed, entries, bare, settings)
    section.verdicts = feed_figures.judge(section.entries) + section.verdicts
    return section


def bare_torch(call: Call, settings: Settings) -> int:
    """Bytes that a process which has only imported torch takes, as the peaks are sampled; 0 where there is no torch."""
    try:
        return programs.feed(BARE, Path(), "bare", max(call.args.threads), settings).peak
    except environment.Unavailable:
        return 0


def memory(call: Call, feed: Feed, entries: list[Entry], bare: int, settings: Settings) -> list[Verdict]:
    """weir.loader's memory in one loop: all of it together in the runs that were timed, Python's and the child's in a run of its own."""
    own = next((entry for entry in entries if entry.program == feed_figures.LOADER and entry.walls), None)
    if not (own and bare):
        return []
    data = call.dataset(feed.data)
    assert data is not None
    done = programs.feed(MEMORY, data.path, feed.mode, own.threads, settings)
    error = programs.failure(done)
    apart = {} if error else json.loads(done.stdout.splitlines()[-1])
    return feed_figures.judge_memory(feed.label, own.peak - bare, apart, settings.memory)
