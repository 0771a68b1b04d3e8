"""What every test needs: the binary, the corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from binary import BINARY
from processes import alive

if TYPE_CHECKING:
    from wiring import Transport

UNSET = "WEIR_CORPUS, the folder that has parquet-testing in it, is not set"


def corpus_folder() -> Path | None:
    """The Parquet project's test files, where the machine has them."""
    where = os.environ.get("WEIR_CORPUS")
    return Path(where) / "parquet-testing" if where else None


@pytest.fixture
def corpus() -> Path:
    """The corpus, or a skip that says why."""
    where = corpus_folder()
    if where is None:
        pytest.skip(UNSET)
    return where


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A child that makes up its batches."""
    from wiring import build  # noqa: PLC0415 - only who takes it needs the package

    return build(tmp_path_factory.mktemp("wiretest"))


@pytest.fixture
def transport(program: str) -> Iterator[Callable[..., Transport]]:
    """Makes transports that are closed after the test; none may leave a process behind."""
    from wiring import CONFIG, Transport  # noqa: PLC0415

    made: list[Transport] = []

    def make(ahead: int = 4, **config: Any) -> Transport:
        t = Transport([program], CONFIG | config, ahead=ahead)
        made.append(t)
        return t

    yield make
    pids = [t._child._process.pid for t in made if t._child is not None]
    for t in made:
        t.close()
    assert not [p for p in pids if alive(p)]


def pytest_sessionstart() -> None:
    if not os.access(BINARY, os.X_OK):
        pytest.exit(f"no weir at {BINARY}; build it with 'make build' or name one in WEIR_BIN", returncode=2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take good_file, encrypted_file or bad_file run once for each such file of the corpus."""
    kinds = {"good_file": "data/*.parquet", "encrypted_file": "data/*.encrypted", "bad_file": "bad_data/*.parquet"}
    for argument, pattern in kinds.items():
        if argument not in metafunc.fixturenames:
            continue
        where = corpus_folder()
        if where is None:
            metafunc.parametrize(argument, [pytest.param(None, marks=pytest.mark.skip(reason=UNSET))], ids=["none"])
            continue
        files = sorted(where.glob(pattern))
        assert files, f"WEIR_CORPUS is set, but {where / pattern} names no file"
        metafunc.parametrize(argument, files, ids=[f.name.removesuffix(".parquet") for f in files])
