"""weir: data of any size, through one fixed amount of memory, into Arrow, numpy, pandas, Polars and PyTorch.

>>> import weir
>>> weir.scan  # every row in order, as pyarrow.RecordBatch
<function scan at ...>
>>> weir.loader  # batches for training, shuffled, divided among ranks, resumable
<function loader at ...>
"""

from ._corpus import (
    concatenate_and_pack,
    deduplicate_indices,
    detect_format,
    pack_sequences,
    pad_sequences,
    parallel_hash_rows,
)
from ._errors import DataError, Error, HeldError, MemoryTooSmallError, MissingError, UsageError
from ._known import scan_parquet_as_pandas, scan_parquet_dataset, streaming_dataset_reader
from ._loader import Loader
from ._make import loader
from ._report import Report
from ._scan import Scan, scan
from ._sequences import Hashes, Indices
from ._tokenizer import Tokenizer
from ._version import __version__

__all__ = [
    "DataError",
    "Error",
    "Hashes",
    "HeldError",
    "Indices",
    "Loader",
    "MemoryTooSmallError",
    "MissingError",
    "Report",
    "Scan",
    "Tokenizer",
    "UsageError",
    "__version__",
    "concatenate_and_pack",
    "deduplicate_indices",
    "detect_format",
    "loader",
    "pack_sequences",
    "pad_sequences",
    "parallel_hash_rows",
    "scan",
    "scan_parquet_as_pandas",
    "scan_parquet_dataset",
    "streaming_dataset_reader",
]
