"""Runs one program over a corpus and checks what it found or wrote, outside the clock."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import environment
import measure
from corpora import LENGTH, Pass, Program
from datasets import Dataset, cache
from programs import HERE, MIB, Outcome, Settings, failure

TOLERANCE = 0.1  # of the near-duplicates that were planted, which may be found or not by chance


@dataclass(frozen=True)
class Job:
    """One pass by one program over a dataset. `expected` is what it must find, as far as it tells; `tokenizer` is a file."""

    program: str
    how: Program
    what: Pass
    data: Dataset
    threads: int
    expected: dict[str, float]
    tokenizer: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.what.label


def run(job: Job, settings: Settings) -> Outcome:
    """weir's cost is that of the whole process; a peer's is what it counts itself, with what it reads already in memory."""
    os.sync()  # so that no program waits for what another left to be written
    with tempfile.TemporaryDirectory(prefix="bench-out-", dir=cache()) as folder:
        target, scratch = Path(folder, "out"), Path(folder, "scratch")
        scratch.mkdir()
        try:
            command = script(job, target) if job.how.script else own(job, target, scratch, settings)
        except environment.Unavailable as why:
            return Outcome(str(why))
        done = measure.run(command, threads=job.threads, env=variables(job, folder, settings), cwd=HERE, timeout=settings.timeout)
        outcome = Outcome(failure(done), done.wall, done.cpu, done.peak, done.samples)
        if outcome.error:
            return outcome
        answer: dict[str, float] = {}
        if job.how.script:
            told = json.loads(done.stdout.splitlines()[-1])
            outcome.wall, outcome.cpu, answer = told["wall"], told["cpu"], told["answer"]
            outcome.added = done.added(told.get("began", 0.0))
        elif not job.what.check:
            answer = counted(json.loads(Path(folder, "out.json").read_text()))
        if job.what.check and not answer:
            answer = written(job, target)
            outcome.written = sum(path.stat().st_size for path in target.rglob("*.parquet"))
        outcome.error = wrong(answer, job)
        outcome.share = share(answer, job)
        return outcome


def own(job: Job, target: Path, scratch: Path, settings: Settings) -> list[str]:
    """weir's command line. A report is asked for where nothing is written."""
    places = {"{data}": str(job.data.path), "{out}": f"{target}/", "{tokenizer}": job.tokenizer}
    command = [str(settings.weir), *(places.get(each, each) for each in job.how.arguments), "--scratch", str(scratch / "weir")]
    report = [] if job.what.check else ["--report", f"{target}.json"]
    return [*command, "--memory", str(job.how.memory * MIB), "--threads", str(job.threads), "--quiet", *report]


def script(job: Job, target: Path) -> list[str]:
    """A script of passes/."""
    target.mkdir()
    interpreter = str(environment.python(job.how.environment))
    arguments = [job.tokenizer if each == "{tokenizer}" else each for each in job.how.arguments]
    return [interpreter, str(HERE / "passes" / f"{job.how.script}.py"), str(job.data.path), str(job.threads), str(target), *arguments]


def variables(job: Job, folder: str, settings: Settings) -> dict[str, str]:
    return {
        "WEIR_BIN": str(settings.weir.resolve()),
        "PYTHONPATH": str(HERE.parent / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TOKENIZERS_PARALLELISM": "true",
        "RAYON_NUM_THREADS": str(job.threads),
        "OMP_NUM_THREADS": str(job.threads),
        "HF_HOME": folder,
        "HF_HUB_OFFLINE": "1",
    }


def counted(report: dict[str, list[dict[str, str]]]) -> dict[str, float]:
    """What weir's report says of duplicates: so many of so many rows."""
    text = next(fact["text"] for fact in report["facts"] if fact["name"] == "duplicates")
    left_out, rows = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", text)[:2])
    return {"distinct": rows - left_out, "found": left_out}


def written(job: Job, target: Path) -> dict[str, float]:
    """What is in the files that were written."""
    command = [str(environment.python()), str(HERE / "check_corpus.py"), job.what.check, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"unreadable": 1}
    answer = json.loads(done.stdout)
    if job.how.script:
        answer.pop("ordered", None)  # a peer need not keep the order
    return answer


def wrong(answer: dict[str, float], job: Job) -> str:
    """What was found otherwise than it is, or nothing."""
    if "unreadable" in answer:
        return "what it wrote cannot be read"
    for name, value in job.expected.items():
        if name in answer and answer[name] != value and not (isinstance(value, float) and math.isclose(answer[name], value, rel_tol=1e-6)):
            return f"{name} {answer[name]} instead of {value}"
    planted = job.data.facts.get("planted")
    if planted and abs(answer["found"] / planted - 1) > TOLERANCE:
        return f"{answer['found']:,} duplicates found instead of {planted:,}"
    return ""


def share(answer: dict[str, float], job: Job) -> float:
    """How full packed rows are, or how many of the planted duplicates were found; 0 for other passes."""
    if "rows" in answer and "tokens" in answer:
        return answer["tokens"] / (answer["rows"] * LENGTH)
    planted = job.data.facts.get("planted")
    return answer["found"] / planted if planted else 0.0


def missing(program: Program, settings: Settings) -> str:
    """What weir needs for this and does not have, in words, or nothing."""
    if program.needs.startswith("--"):
        command = [str(settings.weir), program.arguments[0], "--help"]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        return "" if program.needs in told else f"`weir {program.arguments[0]}` has no {program.needs}"
    if program.needs:
        env = os.environ | {"PYTHONPATH": str(HERE.parent / "python")}
        command = [str(environment.python(program.environment)), "-c", f"import weir; weir.{program.needs}"]
        failed = subprocess.run(command, env=env, capture_output=True, check=False).returncode
        return f"weir's Python package has no {program.needs}" if failed else ""
    return ""
