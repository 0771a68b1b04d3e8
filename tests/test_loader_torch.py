"""Loaders with torch, Keras and TensorFlow, which have environments of their own: the checks are in folders named after them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import environment
from binary import BINARY

HERE = Path(__file__).parent
PATIENCE = 300  # seconds; importing torch is many of them
CHECKS = {"torch": sorted((HERE / "with_torch").glob("check_*.py")), "keras": sorted((HERE / "with_tensorflow").glob("check_*.py"))}


@pytest.mark.parametrize(("name", "check"), [pytest.param(name, file, id=file.stem) for name, files in CHECKS.items() for file in files])
def test_checks_pass(name: str, check: Path) -> None:
    try:
        python = environment.python(name)
    except (subprocess.CalledProcessError, SystemExit) as why:
        pytest.skip(f"{name} cannot be installed here: {why}")
    env = os.environ | {"WEIR_BIN": str(BINARY), "PYTHONPATH": str(HERE)}
    command = [str(python), "-m", "pytest", "-c", str(HERE / "pytest.ini"), str(check)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env, cwd=HERE, check=False)
    print(done.stdout[-2000:])
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
