"""Memory over time of every program, sampled every 10 ms, drawn against weir's budget."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import environment
import programs
from datasets import Dataset
from programs import HERE, Job, Settings
from speed import warm


def draw(data: list[Dataset], names: list[str], threads: int, settings: Settings, target: Path) -> None:
    """Runs each program once on each dataset and writes the picture."""
    panels = []
    for each in data:
        warm(each)
        series = {}
        for name in names:
            outcome = programs.run(Job(name, each, threads), settings)
            if outcome.error:
                print(f"{each.name}: {name}: {outcome.error}", file=sys.stderr)
            else:
                series[name] = outcome.samples
        title = f"{each.name}: {each.rows / 1e6:.1f}M rows, {each.arrow_bytes / 1e6:.0f} MB of Arrow, threads: {threads}"
        panels.append({"title": title, "budget": settings.memory, "series": series})
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "series.json"
        source.write_text(json.dumps({"panels": panels}))
        target.parent.mkdir(exist_ok=True)
        subprocess.run([str(environment.python()), str(HERE / "plot.py"), str(source), str(target)], check=True)
