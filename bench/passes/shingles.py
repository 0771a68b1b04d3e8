"""What two texts are compared by: every five words in a row."""

from __future__ import annotations

NGRAM = 5
PERMUTATIONS, BANDS, THRESHOLD = 128, 16, 0.8


def shingles(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[at : at + NGRAM]) for at in range(max(1, len(words) - NGRAM + 1))]
