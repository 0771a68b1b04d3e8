"""Python values, as rows of text come: weighed one by one, outside the clock."""

from __future__ import annotations

from typing import Any

from loop import Loop

BATCH = 1000


def weigh(loop: Loop, value: Any) -> None:
    """Adds the integers and the bytes of the texts in a value, at any depth; texts are ASCII: their length is that of their bytes."""
    if isinstance(value, str):
        loop.text_bytes += len(value)
    elif isinstance(value, int):
        loop.ints += value
    elif isinstance(value, dict):
        for each in value.values():
            weigh(loop, each)
    elif isinstance(value, list):
        for each in value:
            weigh(loop, each)
    else:
        raise SystemExit(f"{type(value).__name__} among the values")
