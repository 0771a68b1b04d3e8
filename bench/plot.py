"""Draws memory over time: `python plot.py SERIES.json OUT.png`, in the venv of requirements.txt."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

MIB = 1 << 20
COLOURS = {"weir": "#0b6e4f"}


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    given = json.loads(source.read_text())
    panels = given["panels"]
    figure, axes = plt.subplots(1, len(panels), figsize=(6.2 * len(panels), 4.2), sharey=True, squeeze=False)
    for axis, panel in zip(axes[0], panels, strict=True):
        for program, samples in panel["series"].items():
            times = [second for second, _ in samples]
            sizes = [size / MIB for _, size in samples]
            axis.plot(times, sizes, label=program, color=COLOURS.get(program), linewidth=2.2 if program in COLOURS else 1.2)
        axis.axhline(panel["budget"] / MIB, color=COLOURS["weir"], linestyle="--", linewidth=1, label="weir's --memory")
        axis.set_title(panel["title"], fontsize=10)
        axis.set_xlabel("seconds since the process started")
        axis.set_xlim(left=0)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("anonymous + shared memory, MiB")
    axes[0][-1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(target, dpi=120)


main()
