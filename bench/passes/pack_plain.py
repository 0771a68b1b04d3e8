"""A plain loop in Python: documents one after the other, a new row where the next does not fit."""

from __future__ import annotations

from packs import IGNORED, LENGTH, PAD, Packed, run


def pack(sequences: list[list[int]]) -> Packed:
    rows: list[list[int]] = []
    labels: list[list[int]] = []
    positions: list[list[int]] = []
    row: list[int] = []
    places: list[int] = []

    def close() -> None:
        short = LENGTH - len(row)
        rows.append(row + [PAD] * short)
        labels.append(row + [IGNORED] * short)
        positions.append(places + [0] * short)

    for sequence in sequences:
        if len(row) + len(sequence) > LENGTH:
            close()
            row, places = [], []
        row += sequence
        places += range(len(sequence))
    close()
    return {"input_ids": rows, "labels": labels, "position_ids": positions}


run(pack)
