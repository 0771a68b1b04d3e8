"""What is known of Unicode here is what the `tokenizers` library says."""

from __future__ import annotations

import runpy
import zlib
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="the tokenizers library, from which the tables are made, is not installed")

NORMAL = Path(__file__).resolve().parent.parent / "internal" / "tokenizer" / "normal"


def test_tables_are_what_the_library_says() -> None:
    made = runpy.run_path(str(NORMAL / "tables.py"))["tables"]()
    # How deflate packs them depends on the zlib that Python has; what is packed does not.
    kept = zlib.decompress((NORMAL / "tables.bin").read_bytes(), wbits=-15)
    assert kept == made, "tables.bin differs from what the library says of Unicode; run 'make tables'"
