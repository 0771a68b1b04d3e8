"""The loader as torch knows datasets; importing this imports torch."""

from __future__ import annotations

from typing import Any

from torch.utils.data import IterableDataset

from ._loader import Loader


class TorchLoader(Loader, IterableDataset[Any]):
    """A loader that torch.utils.data.DataLoader(loader, batch_size=None, num_workers=k) divides among its workers."""
