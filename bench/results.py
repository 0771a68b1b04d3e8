"""What a part of the benchmark found."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import environment
from figures import Verdict
from limits import Survival
from programs import Settings
from speed import Entry


@dataclass
class Section:
    """One part of the benchmark: its entries, the figures judged by them, and how it was made."""

    made: dict[str, str]
    entries: list[Entry] = field(default_factory=list)
    survivals: list[Survival] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rates: bool = False  # whether entries are compared by rows a second
    costs: bool = False  # whether by rows a second and by rows a CPU second


def origin(command: str, settings: Settings, peers: str = "") -> dict[str, str]:
    """When, where, with what: the peers are those of an environment."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} cores, {cpu_model()}, Linux {platform.release()}",
        "weir": weir_version(settings.weir),
        "peers": environment.versions(peers),
        "command": command,
        "budget": f"{settings.memory >> 20} MiB",
    }


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def weir_version(binary: Path) -> str:
    if not binary.exists():
        return "not run"
    return subprocess.run([str(binary), "--version"], capture_output=True, text=True, check=False).stdout.strip()
