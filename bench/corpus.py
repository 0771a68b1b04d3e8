"""The part of the benchmark that passes over a corpus: deduplicate, tokenize, pack, shuffle; each also many times over."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import corpus_figures
import corpus_runs
import environment
import speed as rounds
import tables
from call import Call
from corpora import DEDUP, DEDUP_WRITE, MEMORY, NEAR_PASS, PACK, PASSES, SHUFFLE, Pass
from corpus_runs import Job
from datasets import Dataset, cache
from figures import Verdict
from programs import HERE, WEIR, Settings
from results import Section
from speed import Entry

COPIES = (100, 50, 20, 10, 5, 3)  # how many times over a corpus is read, the most for which there is room
TENFOLD = "short-texts-10m"  # other texts, because ten copies of a text are duplicates
PATIENCE = 300.0  # seconds for one run over one copy
MANY = {  # what is read many times over: a pass, and its dataset of which 100 copies fit on an ordinary disk
    DEDUP: "repeats-4m",
    DEDUP_WRITE: "repeats-4m",
    "tokenize-gpt2-english": "english",
    PACK: "documents-small",
    SHUFFLE: "numeric-small",
}
NOTE = """weir's cost is that of the whole command, from Parquet to Parquet where something is written; so is that of DuckDB's query, and
of packing but for what is called "packing alone". All other peers in Python have what they read in memory as Python values when their clock
starts, their tokenizer is loaded, and they write nothing."""


def run(call: Call) -> Section:
    section, settings = call.section(MEMORY, "corpus")
    section.costs = True
    section.notes.append(NOTE)
    for each in PASSES:
        if not call.chosen([each.data]):
            continue
        asked, notes = jobs(call, each, settings)
        section.notes += notes
        if not asked:
            continue
        for data in {job.data.name: job.data for job in asked}.values():
            rounds.warm(data)
        entries = rounds.interleave(asked, call.args.rounds, replace(settings, timeout=PATIENCE), corpus_runs.run)
        print(f"\n{tables.costs(entries)}", flush=True)
        section.entries += entries
        if call.args.big and each.label in MANY:
            larger, verdicts = many(call, asked, settings)
            section.entries += larger
            section.verdicts += verdicts
        if call.args.big and each.label == NEAR_PASS:
            section.entries += tenfold(call, asked, settings)
    section.verdicts = corpus_figures.judge(section.entries) + section.verdicts
    return section


def jobs(call: Call, each: Pass, settings: Settings) -> tuple[list[Job], list[str]]:
    """The programs asked for (`weir` is all of weir's) whose datasets can be had, and why others are left out."""
    found, notes = [], []
    tokenizer = tokenizer_file(call, each.tokenizer) if each.tokenizer else ""
    if tokenizer is None:
        return [], [f"{each.label} is left out: there is no tokenizer.json of {each.tokenizer} here."]
    for name, how in each.programs.items():
        asked = name in call.args.programs or (name.startswith(WEIR) and WEIR in call.args.programs)
        data = call.dataset(how.data or each.data) if asked else None
        if data and (why := corpus_runs.missing(how, settings)):
            notes.append(f"{each.label}: {name} is left out: {why}.")
        elif data:
            found.append(Job(name, how, each, data, max(call.args.threads), expected(each, data, tokenizer), tokenizer))
    return found, notes


def expected(each: Pass, data: Dataset, tokenizer: str) -> dict[str, float]:
    """What every program must find."""
    if each.check == "ids":
        return reference(each, data, tokenizer)
    if each.check == "packed":
        return {"tokens": data.facts["tokens"], "ints": data.ints}
    if each.check == "numbers":
        return {"rows": data.rows, "ints": data.ints, "floats": data.floats, "shuffled": 1}
    return dict(data.facts)


def reference(each: Pass, data: Dataset, tokenizer: str) -> dict[str, float]:
    """The ids that the tokenizers library gives, by a run that is not measured and kept beside the dataset; empty where it is missing."""
    try:
        python = environment.python("corpus")
    except environment.Unavailable:
        return {}
    kept = data.path.with_name(f".{data.name}-{each.tokenizer}-{python.parents[1].name}.json")
    if not kept.exists() or kept.stat().st_mtime < data.path.stat().st_mtime:
        command = [str(python), str(HERE / "passes" / "tokenize_hf.py"), str(data.path), "2", "", tokenizer, "encode_batch"]
        env = os.environ | {"TOKENIZERS_PARALLELISM": "true"}
        kept.write_text(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    return json.loads(kept.read_text())["answer"]


def tokenizer_file(call: Call, name: str) -> str | None:
    """A tokenizer.json: trained here, or fetched once by the tests' installer; None where it cannot be had."""
    if name == "unigram":
        return trained(call)
    file = cache() / "tokenizers" / name / "tokenizer.json"
    if not file.exists():
        subprocess.run([sys.executable, str(HERE.parent / "tests" / "tokenizer_files.py"), name], check=False)
    return str(file) if file.exists() else None


def trained(call: Call) -> str | None:
    """A Unigram tokenizer, of which no file is to be had, trained on the mixed texts."""
    data = call.dataset("mixed")
    if not data:
        return None
    file = data.path.with_name("unigram.json.tokenizer")
    if not file.exists():
        with suppress(environment.Unavailable, subprocess.CalledProcessError):
            command = [str(environment.python("corpus")), str(HERE / "passes" / "train_unigram.py"), str(data.path), f"{file}.part"]
            subprocess.run(command, check=True)
            Path(f"{file}.part").rename(file)
    return str(file) if file.exists() else None


def many(call: Call, asked: list[Job], settings: Settings) -> tuple[list[Entry], list[Verdict]]:
    """weir's smallest budget on as many copies of the corpus as the disk has room for, against one; linked, so that they take none."""
    own = [job for job in asked if job.program.startswith(WEIR)]
    if not own:
        return [], []
    one = min(own, key=lambda job: job.how.memory)
    base = call.dataset(MANY[one.what.label])
    if not base:
        return [], []
    one = replace(one, data=base, expected=expected(one.what, base, one.tokenizer))
    rounds.warm(base)
    copies = next((count for count in COPIES if count * needs(one) < 0.8 * shutil.disk_usage(cache()).free), 0)
    if not copies:
        return [], [Verdict(f"{one.label}, many times over", "itself", "within 15%", "no room on this disk", "no")]
    with linked(one.data, copies) as data:
        larger = replace(one, data=data, name=f"{one.label}, {copies} times over", expected=multiplied(one, copies))
        single = replace(one, name=f"{one.label}, once")
        entries = rounds.interleave([single, larger], call.args.rounds, settings, corpus_runs.run)
    print(f"\n{tables.costs(entries)}", flush=True)
    if not all(entry.good for entry in entries):
        return entries, []
    return entries, corpus_figures.judge_many(*entries)


def tenfold(call: Call, asked: list[Job], settings: Settings) -> list[Entry]:
    """weir alone on ten times as many texts, of which the peers would take hours."""
    data = call.dataset(TENFOLD)
    if not data:
        return []
    rounds.warm(data)
    own = [replace(job, data=data, name=f"{job.label}, 10M texts", expected=data.facts) for job in asked if job.program.startswith(WEIR)]
    entries = rounds.interleave(own, call.args.rounds, settings, corpus_runs.run)
    print(f"\n{tables.costs(entries)}", flush=True)
    return entries


def needs(job: Job) -> int:
    """Bytes on disk that a pass over one copy may take, scratch and what it writes: 32 a row, the rows themselves once or twice."""
    times = {"": 0.0, "texts": 0.0, "ids": 0.5, "packed": 2.0, "numbers": 2.2}[job.what.check]
    return 32 * job.data.rows + int(times * job.data.arrow_bytes)


def multiplied(job: Job, copies: int) -> dict[str, float]:
    """What is to be found in many copies: of duplicates no more than in one."""
    if job.what.check == "ids":
        return {"tokens": copies * job.expected["tokens"]} if job.expected else {}
    if job.what.check in ("", "texts"):
        return job.expected
    return {name: value if name == "shuffled" else copies * value for name, value in job.expected.items()}


@contextmanager
def linked(data: Dataset, copies: int) -> Iterator[Dataset]:
    """Many copies of a dataset in a folder of links."""
    with TemporaryDirectory(prefix="bench-linked-", dir=cache()) as folder:
        for number in range(copies):
            for path in data.files():
                os.link(path, Path(folder, f"{number:03d}-{path.name}"))
        yield replace(data, path=Path(folder), rows=copies * data.rows, arrow_bytes=copies * data.arrow_bytes)
