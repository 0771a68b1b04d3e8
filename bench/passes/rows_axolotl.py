"""fast-axolotl's deduplicate_indices over a list of str."""

from __future__ import annotations

from fast_axolotl import deduplicate_indices
from work import Work


def main() -> None:
    work = Work.from_args()
    rows = work.column("text")
    with work.clock():
        kept, _ = deduplicate_indices(rows, None, work.threads)
        total = sum(kept)  # weir makes the numbers when they are looked at
    work.tell(distinct=len(kept), kept=total)


main()
