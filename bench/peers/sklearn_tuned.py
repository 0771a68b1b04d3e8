"""scikit-learn in batches as in sklearn_batches, with dictionaries for the category only: the other columns never repeat."""

from __future__ import annotations

from peers.sklearn_batches import main

main(["category"])
