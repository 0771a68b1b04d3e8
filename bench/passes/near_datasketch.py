"""datasketch: MinHash and LSH over every five words in a row."""

from __future__ import annotations

from datasketch import MinHash, MinHashLSH
from shingles import PERMUTATIONS, THRESHOLD, shingles
from work import Work


def main() -> None:
    work = Work.from_args()
    texts = work.column("text")
    found = 0
    with work.clock():
        index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
        for number, text in enumerate(texts):
            sketch = MinHash(num_perm=PERMUTATIONS)
            sketch.update_batch([piece.encode() for piece in shingles(text)])
            if index.query(sketch):
                found += 1
            else:
                index.insert(str(number), sketch)
    work.tell(found=found)


main()
