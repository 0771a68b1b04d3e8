"""rensa: R-MinHash and LSH over the words of each text, as its manual has it, or over every five words in a row; or its faster sketch."""

from __future__ import annotations

from collections.abc import Iterator

from rensa import RMinHash, RMinHashDeduplicator, RMinHashLSH
from shingles import BANDS, PERMUTATIONS, THRESHOLD, shingles
from work import Work

SEED = 42


def deduplicator(sets: Iterator[list[str]]) -> int:
    """One index that is asked about every text, and verifies what it finds."""
    index = RMinHashDeduplicator(threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True)
    kept = index.add_pairs((str(number), tokens) for number, tokens in enumerate(sets))
    return len(kept) - sum(kept)


def rho(sets: Iterator[list[str]]) -> int:
    """The sketch of few probes, all at once; both texts of a pair are flagged."""
    matrix = RMinHash.digest_matrix_from_token_sets_rho(sets, num_perm=PERMUTATIONS, seed=SEED)
    flags = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS).query_duplicate_flags_matrix_one_shot(matrix)
    return sum(flags) // 2


def main() -> None:
    work = Work.from_args()
    texts = work.column("text")
    cut = shingles if "shingles" in work.arguments else str.split
    find = rho if "rho" in work.arguments else deduplicator
    with work.clock():
        found = find(cut(text) for text in texts)
    work.tell(found=found)


main()
