"""pandas and scikit-learn as in pandas_eager, with dictionaries for the category only: the other columns never repeat."""

from __future__ import annotations

from peers.pandas_eager import main

main(["category"])
