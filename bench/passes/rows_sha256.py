"""A set of sha256 over a list of str."""

from __future__ import annotations

import hashlib

from work import Work


def main() -> None:
    work = Work.from_args()
    rows = work.column("text")
    with work.clock():
        seen: set[bytes] = set()
        kept = []
        for number, row in enumerate(rows):
            key = hashlib.sha256(row.encode()).digest()
            if key not in seen:
                seen.add(key)
                kept.append(number)
    work.tell(distinct=len(kept), kept=sum(kept))


main()
