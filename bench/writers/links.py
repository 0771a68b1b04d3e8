"""Many links to the files of a dataset: a large one that takes no room."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from datasets import Spec
from writers import part


def derive(spec: Spec, source: Path, folder: Path) -> None:
    numbers = count()
    for _ in range(spec.copies):
        for path in sorted(source.iterdir()):
            os.link(path, part(folder, spec.form, next(numbers)))
