"""What a batch becomes: torch tensors, numpy arrays, Arrow, a data frame. All of them lie where the batch lies."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from ._transport import Batch

TENSORS = ("torch", "numpy")
FRAMES = ("arrow", "pandas", "polars")

Form = Callable[[Batch], Any]


def choose(output: str | None) -> str:
    """The form of batches: that which was named, else torch if it is installed, else numpy."""
    if output is None:
        output = "torch" if importlib.util.find_spec("torch") else "numpy"
    if output not in TENSORS + FRAMES:
        raise ValueError(f"output={output!r} is not one of {', '.join(TENSORS + FRAMES)}")
    if output != "arrow" and not importlib.util.find_spec(output):
        raise ImportError(f"batches for {output} need it installed; output=\"arrow\" needs nothing")
    return output


def form(output: str, config: Mapping[str, Any]) -> Form:
    """The function that makes of a batch of that configuration what the model is given."""
    if output in FRAMES:
        return _FRAMES[output]()
    tensors = _torch() if output == "torch" else Batch.arrays
    if config["mode"] == "columns":
        return _columns(tensors, tuple(config.get("pad", ())))
    if "label" in config:

        def pair(batch: Batch) -> tuple[Any, Any]:
            a = tensors(batch)
            return a["x"], a["y"]

        return pair
    return lambda batch: tensors(batch)["x"]


def _torch() -> Callable[[Batch], dict[str, Any]]:
    import torch  # noqa: PLC0415 - only where it is wanted

    make = torch.from_numpy

    def tensors(batch: Batch) -> dict[str, Any]:
        made = {name: make(array) for name, array in batch.arrays().items()}
        for t in batch.tensors:
            if t.dtype == "bfloat16":
                made[t.name] = made[t.name].view(torch.bfloat16)
        return made

    return tensors


def _columns(tensors: Callable[[Batch], dict[str, Any]], padded: tuple[str, ...]) -> Form:
    """Columns by name: those that are no tensors as Arrow arrays. What is padded has its column's name."""

    def columns(batch: Batch) -> dict[str, Any]:
        made = tensors(batch) if batch.tensors else {}
        for name in padded:
            made[name] = made.pop(f"{name}.values")
        if batch._layout.schema is not None:
            record = batch.record()
            made.update(zip(record.schema.names, record.columns, strict=True))
        return made

    return columns


def _pandas() -> Form:
    return lambda batch: batch.record().to_pandas()


def _polars() -> Form:
    import polars  # noqa: PLC0415 - only where it is wanted

    return lambda batch: polars.from_arrow(batch.record())


_FRAMES: dict[str, Callable[[], Form]] = {"arrow": lambda: Batch.record, "pandas": _pandas, "polars": _polars}
