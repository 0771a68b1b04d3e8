"""Only the list of str, which everyone is given: the memory that is nobody's own."""

from __future__ import annotations

from work import Work


def main() -> None:
    work = Work.from_args()
    rows = work.column("text")
    with work.clock():
        rows.count("")
    work.tell()


main()
