"""Every row of a dataset, in its own order, as Arrow batches."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._binary import binary
from ._errors import translate
from ._options import Names, Paths, ReadOptions, Size, names, paths, read_options, size, without_defaults
from ._transport import End, Transport, TransportError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Scan:
    """The batches of a dataset, once. Made by scan; ends its process at the end of the data, at close, or when it is dropped."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._transport = Transport([binary(), "feed"], config)
        self._begun = self._done = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns that the batches have."""
        return list(self._describe()["columns"])

    @property
    def rows(self) -> int | None:
        """The rows of the dataset, where its files say."""
        n = int(self._describe()["rows"])
        return None if n < 0 else n

    def __iter__(self) -> Scan:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self._done:
            raise StopIteration
        try:
            if not self._begun:
                self._transport.begin(0, 0)
                self._begun = True
            item = self._transport.next()
        except TransportError as error:
            raise translate(error) from None
        if isinstance(item, End):
            self.close()
            raise StopIteration
        return item.record()

    def close(self) -> None:
        """Ends the reading. Batches that were given stay valid."""
        self._done = True
        self._transport.close()

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _describe(self) -> Any:
        try:
            return self._transport.describe()
        except TransportError as error:
            raise translate(error) from None


def scan(
    path: Paths,
    *,
    columns: Names | None = None,
    batch_size: int = 50_000,
    memory: Size | None = None,
    threads: int = 0,
    buffer: Size = 0,
    split: str = "",
    **read: Unpack[ReadOptions],
) -> Scan:
    """Reads a dataset of any size, in order, as pyarrow.RecordBatch of at most batch_size rows.

    path is a file, a directory, a glob, an s3:// prefix, or several of them; what the files are is found out. columns are names or globs.
    memory bounds the process that reads ("512MiB"; without it, what the container allows), buffer the batches that you may hold at a
    time. Batches are not copied: to_pandas, polars.from_arrow and the like work on the memory they came in.

    >>> import weir, pyarrow.parquet, pyarrow as pa
    >>> pyarrow.parquet.write_table(pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]}), "few.parquet")
    >>> for batch in weir.scan("few.parquet", columns=["x"], memory="128MiB"):
    ...     print(batch.to_pydict())
    {'x': [1, 2, 3]}
    """
    return Scan(
        without_defaults(
            {
                "mode": "scan",
                "sources": [{"paths": paths(path), "split": split}],
                "read": read_options(read, "scan"),
                "memory": None if memory is None else str(memory),
                "threads": threads,
                "buffer": size(buffer, "buffer"),
                "batch_size": batch_size,
                "columns": names(columns),
            }
        )
    )
