"""Where a loader is, as a value: how it is written down, and what it may be read back into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

VERSION = 1


class At(NamedTuple):
    """The samples of an epoch below position have been taken."""

    epoch: int
    position: int


BEGINNING = At(0, 0)


def write(at: At, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a loader whose order is fixed by the values given."""
    return {"version": VERSION, **at._asdict(), **fixed}


def read(state: Mapping[str, Any], fixed: Mapping[str, Any]) -> At:
    """Where to go on; ValueError if the state is of another order than that of fixed."""
    try:
        if state["version"] != VERSION:
            raise ValueError(f"the state has version {state['version']}, this weir reads {VERSION}")
        at = At(int(state["epoch"]), int(state["position"]))
        for name, what in (("shuffle", "shuffle"), ("seed", "seed"), ("window", "window"), ("rows", "rows of the dataset")):
            if state[name] != fixed[name]:
                raise ValueError(f"the state is of another order: its {what} is {state[name]}, this loader's is {fixed[name]}")
        if state["digest"] != fixed["digest"]:
            raise ValueError("the state is of another dataset: as many rows, but in other files or row groups, or mixed by other weights")
        if state["workers"] > 1 and any(state[k] != fixed[k] for k in ("worker", "workers", "stride")):
            mine, its = (f"worker {s['worker']} of {s['workers']}, {s['stride']} samples a step" for s in (fixed, state))
            raise ValueError(f"the state is of {its}, this is {mine}; only the state of a loader without workers can be divided anew")
    except (KeyError, TypeError):
        raise ValueError("this is no state of a weir loader") from None
    if not (at.epoch >= 0 and 0 <= at.position <= fixed["rows"]):
        raise ValueError(f"the state is at position {at.position} of epoch {at.epoch}; the dataset has {fixed['rows']} rows")
    return at
