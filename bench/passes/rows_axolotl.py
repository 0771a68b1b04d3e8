"""fast-axolotl's deduplicate_indices over a list of str."""

from __future__ import annotations

from fast_axolotl import deduplicate_indices
from work import Work


def main() -> None:
    work = Work.from_args()
    rows = work.column("text")
    with work.clock():
        kept, _ = deduplicate_indices(rows, None, work.threads)
    work.tell(distinct=len(kept), kept=sum(kept))


main()
