"""The wheel: it installs into an empty environment and needs nothing beside pyarrow; what its documentation shows, works."""

from __future__ import annotations

import doctest
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loading import weir

ROOT = Path(__file__).resolve().parent.parent
USE = """
import sys, json, weir, weir._binary
print(weir.__version__, weir._binary.binary())
open("x.jsonl", "w").write("".join(json.dumps({"id": i, "y": i % 2}) + "\\n" for i in range(100)))
assert [i for b in weir.scan("x.jsonl", memory="96MiB") for i in b["id"].to_pylist()] == list(range(100))
with weir.loader("x.jsonl", output="arrow", shuffle=True, batch_size=10, memory="96MiB") as rows:
    assert sorted(i for b in rows for i in b["id"].to_pylist()) == list(range(100))
if "numpy" in sys.argv:
    with weir.loader("x.jsonl", label="y", batch_size=50, memory="96MiB") as train:
        x, y = next(iter(train))
        assert type(x).__module__ == "numpy" and x.shape == (50, 1) and y.tolist() == [0, 1] * 25
else:
    try:
        weir.loader("x.jsonl", label="y")
    except ImportError as e:
        assert "numpy" in str(e)
    else:
        raise SystemExit("numpy is here")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "wheel", f"DIST={out}", f"PYTHON={sys.executable}"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (made,) = out.glob("*.whl")
    return made


def clean() -> dict[str, str]:
    """An environment in which nothing leads to this tree."""
    return {name: value for name, value in os.environ.items() if name not in ("WEIR_BIN", "PYTHONPATH")}


def others() -> list[str]:
    """The oldest and the newest Python that the package is for, where they are at hand."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = []
    for minor in (10, 13):
        name = f"python3.{minor}"
        places = [*versions.glob(f"3.{minor}.*/bin/{name}"), shutil.which(name)]
        able = (p for p in places if p and not subprocess.run([p, "-m", "pip", "--version"], capture_output=True, check=False).returncode)
        found += [str(p) for p in itertools.islice(able, 1)]
    return found


def test_the_wheel_needs_only_pyarrow(wheel: Path, tmp_path: Path) -> None:
    assert wheel.name.startswith("weir_data-") and "-py3-none-" in wheel.name
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    bare = tmp_path / "venv" / "bin"
    pip = [bare / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel], check=True)
    listed = subprocess.run([bare / "python", "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True).stdout
    assert {line.partition("==")[0] for line in listed.split()} - {"pip", "setuptools", "wheel"} == {"pyarrow", "weir-data"}
    said = subprocess.run([bare / "python", "-c", USE], cwd=tmp_path, env=clean(), capture_output=True, text=True, check=True).stdout
    version, binary = said.split()
    assert version == weir.__version__ and Path(binary).is_relative_to(tmp_path / "venv")
    for args, code in ((["x.jsonl", "--digest", "--quiet"], 0), (["nothing"], 5)):
        ran = subprocess.run([bare / "weir", "scan", *args], cwd=tmp_path, env=clean(), capture_output=True, check=False)
        assert ran.returncode == code and len(ran.stdout.strip()) == (0 if code else 32)


@pytest.mark.parametrize("python", others(), ids=os.path.basename)
def test_other_pythons_with_numpy(wheel: Path, tmp_path: Path, python: str) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", tmp_path / "site"]
    subprocess.run([*pip, wheel, "numpy"], check=True)
    subprocess.run([python, "-c", USE, "numpy"], cwd=tmp_path, env=clean() | {"PYTHONPATH": str(tmp_path / "site")}, check=True)


def test_what_the_docstrings_show_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = 0
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "weir":
            result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
            assert not result.failed
            shown += result.attempted
    assert shown >= 8


def test_without_a_program_it_says_where_it_looked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("WEIR_BIN")
    with pytest.raises(FileNotFoundError, match="WEIR_BIN"):
        weir.scan("x")
    monkeypatch.setenv("WEIR_BIN", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="none"):
        weir.scan("x")
