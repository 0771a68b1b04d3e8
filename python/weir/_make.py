"""From the arguments of weir.loader to a loader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _output
from ._loader import Loader, Settings, rebuild
from ._options import Names, Path, Paths, ReadOptions, Size, names, read_options, size, sources, without_defaults

if TYPE_CHECKING:
    from typing_extensions import Unpack

Pad = int | Mapping[str, Any]
WINDOW = 64 << 20  # bytes


def loader(
    path: Paths | Mapping[Path, float],
    *,
    split: str = "",
    batch_size: int = 1024,
    shuffle: bool | str = False,
    seed: int = 0,
    window: Size = WINDOW,
    features: Names | None = None,
    label: str | None = None,
    dtype: str = "float32",
    label_dtype: str = "",
    columns: Names | None = None,
    pad: Mapping[str, Pad] | None = None,
    memory: Size | None = None,
    threads: int = 0,
    buffer: Size = 0,
    rank: int | None = None,
    world_size: int | None = None,
    drop_last: bool = False,
    samples: int = 0,
    device: Any = None,
    pin_memory: bool = False,
    output: str | None = None,
    **read: Unpack[ReadOptions],
) -> Loader:
    """Batches for training from a dataset of any size, in an exact order, resumable after any of them.

    path is what weir.scan takes, or a directory that `weir prepare` made (split chooses train, val or test), or a dict of paths and their
    weights, which are mixed; samples is then the length of an epoch.

    What a batch is:
      features, label     a matrix [batch_size, features] of dtype (float32, float16, bfloat16, float64), and the labels; without label the
                          matrix alone. features are names or globs, without them all columns of numbers.
      columns             a dict by name: numbers, lists of numbers (NAME.values and NAME.offsets) and fixed-size lists as tensors, other
                          columns as Arrow arrays.
      pad                 {NAME: 128} makes [batch_size, 128] of a column of lists, and NAME.lengths; {NAME: {"length": 128, "fill": -1,
                          "cut": True}} fills with -1 and cuts longer lists; length 0 is that of the longest in the batch.
      output              "torch" (if it is installed, else "numpy"), "arrow", "pandas", "polars": the last three give whole rows.

    The order is a function of the dataset, shuffle, seed, window and epoch: not of threads, memory, ranks or machine. shuffle=True permutes
    files and row groups, and the rows inside a window of that many bytes. shuffle="global" plays the order that `weir shuffle` has put all
    rows in, the same in every epoch, and refuses what it has not.

    rank and world_size are those of torch.distributed, or RANK and WORLD_SIZE, if they are not given. All ranks get the same number of
    batches of the same sizes: drop_last leaves out the samples that do not fill a step of all ranks; without it the last step is smaller,
    and repeats less than world_size of its samples (Loader.repeated).

    memory bounds the process that reads, buffer the batches that you may hold at a time. device="cuda" copies each batch to the GPU while
    the model works on the one before; pin_memory=True gives batches in pinned memory.

    >>> import weir, pyarrow.parquet, pyarrow as pa
    >>> pyarrow.parquet.write_table(pa.table({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0], "y": [0, 1, 0]}), "few.parquet")
    >>> train = weir.loader("few.parquet", label="y", batch_size=2, memory="128MiB", output="numpy")
    >>> for x, y in train:
    ...     print(x.tolist(), y.tolist())
    [[1.0, 4.0], [2.0, 5.0]] [0, 1]
    [[3.0, 6.0]] [0]
    >>> train.close()
    """
    if isinstance(shuffle, str) and shuffle != "global":
        raise ValueError(f'shuffle={shuffle!r}: it is True, False, or "global" for what `weir shuffle` has put in a random order')
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed={seed}: it is from 0 to 2**64-1")
    output = _output.choose(output)
    mode = "columns" if columns is not None or pad or output in _output.FRAMES else "matrix"
    if mode == "columns" and (features or label):
        raise ValueError("features and label make a matrix; columns, pad, and output as Arrow or data frames, do not: choose one")
    if output != "torch" and (device is not None or pin_memory or dtype == "bfloat16"):
        raise ValueError(f'device, pin_memory and dtype="bfloat16" are torch\'s; output is {output!r}')
    config = {
        "mode": mode,
        "sources": sources(path, split),
        "read": read_options(read, "loader"),
        "memory": None if memory is None else str(memory),
        "threads": threads,
        "buffer": size(buffer, "buffer"),
        "batch_size": batch_size,
        "columns": names(columns),
        "tensors": output in _output.TENSORS,
        "pad": {name: {"length": p} if isinstance(p, int) else dict(p) for name, p in (pad or {}).items()},
        "features": names(features),
        "label": label,
        "dtype": dtype,
        "label_dtype": label_dtype,
        "shuffle": shuffle is True,
        "global": shuffle == "global",
        "seed": seed,
        "window": size(window, "window"),
        "drop_last": drop_last,
        "samples": samples,
    }
    return rebuild(Settings(without_defaults(config), output, rank, world_size, None if device is None else str(device), pin_memory))
