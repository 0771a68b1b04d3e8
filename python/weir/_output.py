"""What a batch becomes: torch tensors, numpy arrays, Arrow, a data frame. All of them lie where the batch lies."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from typing import Any

from ._batch import Batch, Layout

TENSORS = ("torch", "numpy")
FRAMES = ("arrow", "pandas", "polars")

# Makes of a batch what the model is given: from where the batch lies, or from a copy of all its bytes on another device.
Form = Callable[[Batch, Any], Any]
Tensors = Callable[[Batch, Any], dict[str, Any]]


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
    tensors = _torch() if output == "torch" else _numpy
    if config["mode"] == "columns":
        return _columns(tensors, tuple(config.get("pad", ())))
    if "label" in config:

        def pair(batch: Batch, there: Any) -> tuple[Any, Any]:
            a = tensors(batch, there)
            return a["x"], a["y"]

        return pair
    return lambda batch, there: tensors(batch, there)["x"]


def _numpy(batch: Batch, _: Any) -> dict[str, Any]:
    return batch.arrays()


def _torch() -> Tensors:
    import torch  # noqa: PLC0415 - only where it is wanted

    def here(batch: Batch) -> dict[str, Any]:
        made = {name: torch.from_numpy(array) for name, array in batch.arrays().items()}
        for t in batch.tensors:
            if t.dtype == "bfloat16":
                made[t.name] = made[t.name].view(torch.bfloat16)
        return made

    def parts(layout: Layout) -> list[tuple[str, Any, int, int, tuple[int, ...]]]:
        found = []
        for t in layout.tensors:
            dtype = getattr(torch, t.dtype)
            end = t.offset + dtype.itemsize * math.prod(t.shape)
            found.append((f"{t.name}.{t.part}" if t.part else t.name, dtype, t.offset, end, t.shape))
        return found

    last: tuple[Layout | None, list[tuple[str, Any, int, int, tuple[int, ...]]]] = (None, [])

    def tensors(batch: Batch, there: Any) -> dict[str, Any]:
        nonlocal last
        if there is None:
            return here(batch)
        if last[0] is not batch._layout:
            last = batch._layout, parts(batch._layout)
        return {name: there[begin:end].view(dtype).view(shape) for name, dtype, begin, end, shape in last[1]}

    return tensors


def _columns(tensors: Tensors, padded: tuple[str, ...]) -> Form:
    """Columns by name: those that are no tensors as Arrow arrays. What is padded has its column's name."""

    def columns(batch: Batch, there: Any) -> dict[str, Any]:
        made = tensors(batch, there) if batch.tensors else {}
        for name in padded:
            made[name] = made.pop(f"{name}.values")
        if batch._layout.schema is not None:
            record = batch.record()
            made.update(zip(record.schema.names, record.columns, strict=True))
        return made

    return columns


def _pandas() -> Form:
    return lambda batch, _: batch.record().to_pandas()


def _polars() -> Form:
    import polars  # noqa: PLC0415 - only where it is wanted

    return lambda batch, _: polars.from_arrow(batch.record())


_FRAMES: dict[str, Callable[[], Form]] = {"arrow": lambda: lambda batch, _: batch.record(), "pandas": _pandas, "polars": _polars}
