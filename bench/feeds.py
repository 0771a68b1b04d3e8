"""The loops that feed Python and the programs that run them, each a script in feeders/."""

from __future__ import annotations

from dataclasses import dataclass

BUDGET = 192  # MiB for weir's child, so that Python has 64 of the 256 they may have together
SCAN_BUDGET = 88  # MiB for the child of weir.scan where its memory is compared: about the least in which it reads numeric at full speed
SMALL = "numeric-small"  # what the slow ones read instead of numeric: the rate is what counts


@dataclass(frozen=True)
class Feeder:
    """A script, the virtual environment it needs and its arguments; `data` is read instead of the loop's dataset.

    `nested` is whether it gives values inside of lists and structs as they are, so that they can be checked; `memory` is weir's budget in
    MiB, where it is not the usual.
    """

    script: str
    environment: str
    arguments: tuple[str, ...] = ()
    data: str = ""
    nested: bool = True
    memory: int = 0


@dataclass(frozen=True)
class Feed:
    """One loop over a dataset, by programs that are compared; weir's first."""

    label: str
    data: str
    mode: str
    feeders: dict[str, Feeder]


PLAIN_DATALOADERS = {f"DataLoader {workers} workers": Feeder("torch_pyarrow", "mds", (str(workers),)) for workers in (0, 2)}
DATALOADERS = PLAIN_DATALOADERS | {
    f"{name} tuned": Feeder(each.script, each.environment, (*each.arguments, "tuned")) for name, each in PLAIN_DATALOADERS.items()
}
HF = {f"HF streaming {way}": Feeder("hf_matrix", "feed", (way,), data=SMALL) for way in ("iter", "batch")}
HF_OLDER = {"HF streaming iter 5.0": Feeder("hf_matrix", "hf50", ("iter",), data=SMALL)}  # in which `batch` takes many times longer
RAY = {
    "Ray Data iter_batches": Feeder("ray_matrix", "feed"),
    "Ray Data iter_torch_batches": Feeder("ray_matrix", "feed", ("torch",)),
}
MOSAIC = {f"mosaicml-streaming {workers} workers": Feeder("mosaic_matrix", "mds", (str(workers),), data="matrix-mds") for workers in (0, 2)}
LIT = {f"LitData {workers} workers": Feeder("lit_matrix", "feed", (str(workers),), data="matrix-litdata") for workers in (0, 2)}
LOADER = {"weir.loader": Feeder("weir_loader", "mds")}
TEXTS = {
    "weir.scan": Feeder("weir_scan", "", ("1000",)),
    "weir reader": Feeder("weir_rows", ""),
    "HF load_dataset": Feeder("hf_rows", "feed", ("load",)),
    "HF streaming rows": Feeder("hf_rows", "feed", ("streaming",)),
}
AXOLOTL, FIRST = "fast-axolotl", "feed-first"
SCANS = {
    "weir.scan": Feeder("weir_scan", "", ("8192",), memory=SCAN_BUDGET),
    "weir.scan as by default": Feeder("weir_scan", ""),
    "pyarrow in process": Feeder("arrow_scan", ""),
}

FEEDS = [
    Feed("feed-ordered", "numeric", "ordered", LOADER | DATALOADERS | HF | HF_OLDER | RAY | MOSAIC | LIT),
    Feed("feed-shuffled", "numeric", "shuffled", LOADER | HF | HF_OLDER | RAY | MOSAIC | LIT),
    Feed("feed-text-parquet", "dialogs", "parquet", TEXTS | {AXOLOTL: Feeder("axolotl_rows", "feed", nested=False)}),
    Feed("feed-text-jsonl", "dialogs-jsonl", "jsonl", TEXTS | {AXOLOTL: Feeder("axolotl_rows", "feed")}),
    Feed("feed-arrow-numeric", "numeric", "scan", SCANS),
    Feed("feed-arrow-text", "text", "scan", SCANS),
    Feed(
        FIRST,
        "thousand-parts",
        "first",
        LOADER | {"weir.scan": Feeder("weir_scan", ""), "pyarrow dataset": Feeder("arrow_scan", "")},
    ),
]
BARE = Feeder("bare_torch", "mds")
MEMORY = Feeder("weir_memory", "mds")
NAMES = list(dict.fromkeys(name for feed in FEEDS for name in feed.feeders))
