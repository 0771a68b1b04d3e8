"""How a command of weir scales with threads, on any machine with a weir binary; nothing else of the benchmark is needed.

    python3 bench/scaling.py --weir bin/weir --data /dev/shm/raw --out /dev/shm/out --threads 1,2,4,8,16
    python3 bench/scaling.py --data /dev/shm/raw --out /dev/shm/out --memory 1GiB --job "shuffle --seed 7 --scratch /dev/shm"
    python3 bench/scaling.py --data /dev/shm/texts --kind repeats --rows 40000000 --out /dev/shm/out --memory 1GiB --job dedup
    python3 bench/scaling.py --data /dev/shm/english --kind english --out /dev/shm/out --memory 1GiB --job "tokenize --tokenizer t.json"

The data is made where it is missing, which needs numpy and pyarrow. Output is removed after each run, outside the clock; every thread count
has to write the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import measure
import preparation
from datasets import PREPARE_GROUP
from tables import table

FILE_ROWS = 4 * PREPARE_GROUP  # rows in a file of the data


@dataclass
class Runs:
    """All rounds with one number of threads."""

    threads: int
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)  # KiB

    @property
    def wall(self) -> float:
        return statistics.median(self.walls)


def make_file(folder: Path, kind: str, rows: int, number: int) -> None:
    """One file of the data; in a process of its own, so that this one needs no more than the standard library."""
    from make_data import ALL_BUILDERS  # noqa: PLC0415
    from writers.parts import write_file  # noqa: PLC0415

    build = ALL_BUILDERS[kind]

    first = number * FILE_ROWS
    starts = range(first, min(first + FILE_ROWS, rows), PREPARE_GROUP)
    tables = (build(start, min(PREPARE_GROUP, rows - start), 0.0) for start in starts)
    write_file(folder / f"part-{number:04d}.parquet", tables, "snappy")


def make(folder: Path, kind: str, rows: int) -> None:
    """The data, under a temporary name until it is whole."""
    unfinished = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    print(f"making {folder}", file=sys.stderr, flush=True)
    try:
        with ProcessPoolExecutor() as pool:
            list(pool.map(partial(make_file, unfinished, kind, rows), range(-(-rows // FILE_ROWS))))
    except ModuleNotFoundError as why:
        shutil.rmtree(unfinished)
        raise SystemExit(f"scaling: {why}; the data is made by numpy and pyarrow, or --data names a folder that has it") from None
    unfinished.rename(folder)


def peak(pid: int, known: int) -> int:
    """The largest resident set of a process so far in KiB, which the kernel keeps; what was known where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return known
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), known)


def run(args: argparse.Namespace, runs: Runs) -> dict[str, object]:
    """One run; returns what must not depend on the threads: the digests of all parts, and the parameters."""
    shutil.rmtree(args.out, ignore_errors=True)
    os.sync()
    name, *options = shlex.split(args.job) or preparation.JOB
    command = [str(args.weir), name, str(args.data), "-o", f"{args.out}/", *options]
    command += ["--memory", args.memory, "--threads", str(runs.threads), "--quiet"]
    began, highest = time.perf_counter(), 0
    process = subprocess.Popen(measure.pinned(command, measure.cores_for(runs.threads)), stdin=subprocess.DEVNULL)
    reaper = measure.Reaper(process.pid, began)
    reaper.start()
    while not reaper.ended.wait(measure.INTERVAL):
        highest = peak(process.pid, highest)
    process.returncode = os.waitstatus_to_exitcode(reaper.status)
    if process.returncode:
        raise SystemExit(f"scaling: weir with --threads {runs.threads} ended with exit code {process.returncode}")
    runs.walls.append(reaper.wall)
    runs.cpus.append(reaper.cpu)
    runs.peaks.append(highest)
    manifest = json.loads((args.out / "manifest.json").read_text())
    return {"splits": manifest["splits"], "params": manifest.get("params")}


def show(all_runs: list[Runs], rows: int) -> str:
    head = ["threads", "rows/s", "wall s", "wall s, range", "CPU s", "peak RSS MiB", "against the first"]
    lines = [
        [
            str(runs.threads),
            f"{rows / runs.wall:,.0f}",
            f"{runs.wall:.3f}",
            f"{min(runs.walls):.3f} to {max(runs.walls):.3f}",
            f"{statistics.median(runs.cpus):.3f}",
            f"{max(runs.peaks) / 1024:.0f}",
            f"{all_runs[0].wall / runs.wall:.2f}",
        ]
        for runs in all_runs
    ]
    return table(head, lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", type=Path, default=preparation.HERE.parent / "bin" / "weir", help="the binary (default bin/weir)")
    parser.add_argument("--data", type=Path, required=True, help="a folder of Parquet files")
    parser.add_argument("--out", type=Path, required=True, help="where to write; it is removed again")
    parser.add_argument("--rows", type=int, default=8_000_000, help="rows of the data that is made (default %(default)s)")
    parser.add_argument("--kind", default="features", help="of the data that is made, as datasets.py has them (default %(default)s)")
    parser.add_argument("--job", default="", help="the command and its options (default: prepare, as the benchmark does it)")
    parser.add_argument("--threads", default="1,2,4,8,16", help="default %(default)s; those beyond the cores of the machine are left out")
    parser.add_argument("--memory", default="128MiB", help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default %(default)s)")
    return parser.parse_args()


def main() -> None:
    args = parse()
    if args.out.exists():
        raise SystemExit(f"scaling: {args.out} is there already; it would be removed")
    if not args.data.exists():
        make(args.data, args.kind, args.rows)
    cores = len(measure.cores_for(0))
    all_runs = [Runs(threads) for threads in map(int, args.threads.split(",")) if threads <= cores]
    written: dict[str, object] = {}
    try:
        for turn in range(args.rounds):
            for runs in all_runs:
                print(f"\r\033[Kround {turn + 1}/{args.rounds}, threads: {runs.threads}", end="", file=sys.stderr, flush=True)
                found = run(args, runs)
                if found != (written := written or found):
                    raise SystemExit(f"scaling: --threads {runs.threads} wrote other bytes than --threads {all_runs[0].threads}")
    finally:
        shutil.rmtree(args.out, ignore_errors=True)
    rows = sum(split["rows"] for split in written["splits"])  # type: ignore[index,attr-defined]
    print(f"\r\033[K{rows:,} rows, --memory {args.memory}, {cores} cores; all wrote the same bytes\n\n{show(all_runs, rows)}")


if __name__ == "__main__":
    main()
