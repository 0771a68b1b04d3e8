"""One large file: the same lines again and again."""

from __future__ import annotations

import shutil
from pathlib import Path

from datasets import Spec
from writers import only, part


def derive(spec: Spec, source: Path, folder: Path) -> None:
    with part(folder, spec.form).open("wb") as out:
        for _ in range(spec.copies):
            with only(source).open("rb") as lines:
                shutil.copyfileobj(lines, out, 1 << 20)
