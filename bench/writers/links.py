"""Many links to one file: a large dataset that takes no room."""

from __future__ import annotations

import os
from pathlib import Path

from datasets import Spec
from writers import only, part


def derive(spec: Spec, source: Path, folder: Path) -> None:
    for number in range(spec.copies):
        os.link(only(source), part(folder, spec.form, number))
