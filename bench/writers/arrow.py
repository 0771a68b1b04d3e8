"""An Arrow IPC file of the rows of a Parquet dataset, in batches of the size of a row group."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from datasets import Spec
from writers import only, part


def derive(spec: Spec, source: Path, folder: Path) -> None:
    options = pa.ipc.IpcWriteOptions(compression=None if spec.codec == "none" else spec.codec)
    with pq.ParquetFile(only(source)) as file, pa.ipc.new_file(part(folder, spec.form), file.schema_arrow, options=options) as out:
        for batch in file.iter_batches(spec.group):
            out.write_batch(batch)
