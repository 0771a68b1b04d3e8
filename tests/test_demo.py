"""The demonstration that the README begins with runs to its end, with little data."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from binary import BINARY

DEMO = Path(__file__).resolve().parent.parent / "examples" / "demo.sh"
ROWS = 20_000


@pytest.mark.skipif(shutil.which("go") is None, reason="the sample is made with Go, which is not here")
def test_the_demo_prepares_verifies_and_reports_twice(tmp_path: Path) -> None:
    data = tmp_path / "demo"
    env = os.environ | {"WEIR_DEMO_ROWS": str(ROWS), "WEIR_DEMO_DIR": str(data), "WEIR_BIN": str(BINARY)}
    made = ""
    for _again in range(2):  # what is there already is replaced, and the data is made once
        done = subprocess.run([DEMO], env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        assert "dry run    nothing was written" in done.stdout
        assert f"{ROWS:,} rows" in done.stdout
        assert "as the manifest says" in done.stdout
        manifest = (data / "prepared" / "manifest.json").read_text()
        assert made in {"", manifest}
        made = manifest
        page = (data / "report.html").read_text()
        assert page.rstrip().endswith("</html>")
        assert "price" in page
    assert "(once)" not in done.stdout
    splits = json.loads(made)["splits"]
    assert sum(part["rows"] for split in splits for part in split["parts"]) == ROWS
    assert not (data / "prepared" / "_weir").exists()
