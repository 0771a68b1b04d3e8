"""Scaling without rounding: floats are whole multiples of 2**-1074, and whole numbers have no last place."""

from __future__ import annotations

import math
from collections.abc import Sequence

UNIT = 1074  # every float64 times 2**UNIT is a whole number
MORE = 128  # bits that a root is taken to beyond those of its square


def whole(value: float) -> int:
    """The float in units of the least one."""
    top, bottom = float(value).as_integer_ratio()
    return (top << UNIT) // bottom


def quarter(ranked: Sequence[int], part: int) -> int:
    """Four times the part-th quartile, as numpy interpolates."""
    at = part * (len(ranked) - 1)
    low, rest = divmod(at, 4)
    return 4 * ranked[low] + (rest * (ranked[low + 1] - ranked[low]) if rest else 0)


def center_divisor(rule: str, train: Sequence[float]) -> tuple[int, int, int]:
    """Center, divisor and what both are multiplied with: the scaled value is (x*factor - center) / divisor."""
    values = sorted(map(whole, train))
    n, total = len(values), sum(values)
    match rule:
        case "standard":
            # (x - S/n) / (sqrt(n*Q - S*S) / n), all of it times n and 2**MORE
            root = math.isqrt((n * sum(v * v for v in values) - total * total) << (2 * MORE))
            return total << MORE, root, n << MORE
        case "minmax":
            return values[0], values[-1] - values[0], 1
        case "maxabs":
            return 0, max(abs(values[0]), abs(values[-1])), 1
        case "robust":
            return quarter(values, 2), quarter(values, 3) - quarter(values, 1), 4
    raise ValueError(rule)


def scaled(values: Sequence[float], rule: str, train: Sequence[float], flat: bool) -> list[float]:
    """The values as scaling by train makes them, each rounded once; flat: only the center is taken off."""
    center, divisor, factor = center_divisor(rule, train)
    if flat or divisor == 0:
        divisor = factor << UNIT
    return [math.nan if math.isnan(v) else (whole(v) * factor - center) / divisor for v in values]


def mean(train: Sequence[float]) -> float:
    return sum(map(whole, train)) / (len(train) << UNIT)


def deviation(train: Sequence[float]) -> float:
    """The root of the variance as a float64, which is 0 where that is less than any."""
    values = [whole(v) for v in train]
    n, total = len(values), sum(values)
    return math.sqrt((n * sum(v * v for v in values) - total * total) / (n * n << (2 * UNIT)))
