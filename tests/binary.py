"""Runs the weir binary and reads what it says."""

from __future__ import annotations

import io
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc

BINARY = Path(os.environ.get("WEIR_BIN") or Path(__file__).resolve().parent.parent / "bin" / "weir").resolve()
PATIENCE = 180  # seconds after which a run counts as hung
MIB = 1 << 20


@dataclass(frozen=True)
class Result:
    """How a run ended and what it wrote."""

    code: int
    out: bytes
    err: str

    def done(self) -> Result:
        """This result, which must be that of a run that worked."""
        assert self.code == 0, f"exit {self.code}: {self.err}"
        return self


def command(*args: str | Path) -> list[str]:
    return [str(BINARY), *map(str, args)]


def weir(*args: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> Result:
    """One run to its end."""
    done = subprocess.run(command(*args), capture_output=True, timeout=PATIENCE, env=os.environ | (env or {}), cwd=cwd, check=False)
    return Result(done.returncode, done.stdout, done.stderr.decode())


def table(*args: str | Path, env: dict[str, str] | None = None) -> pa.Table:
    """The rows of a scan, by way of --to arrow."""
    out = weir("scan", *args, "--to", "arrow", "-o", "-", "--quiet", env=env).done().out
    return ipc.open_stream(io.BytesIO(out)).read_all()


def digest(*args: str | Path, env: dict[str, str] | None = None) -> str:
    """The digest of the rows of a scan, with nothing else on either stream."""
    result = weir("scan", *args, "--digest", "--quiet", env=env).done()
    assert result.err == ""
    return result.out.decode().strip()


def inspect(*args: str | Path, env: dict[str, str] | None = None) -> dict[str, Any]:
    """What inspect --json says."""
    described: dict[str, Any] = json.loads(weir("inspect", *args, "--json", env=env).done().out)
    return described
