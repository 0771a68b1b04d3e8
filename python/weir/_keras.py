"""Batches for Keras and for TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._loader import rebuild

if TYPE_CHECKING:
    from ._loader import Loader


def for_keras(loader: Loader) -> Any:
    """A DataLoader where Keras works with torch, else a tf.data.Dataset, which all its backends take."""
    import keras  # noqa: PLC0415 - only where it is wanted

    if keras.backend.backend() == "torch":
        from torch.utils.data import DataLoader  # noqa: PLC0415

        return DataLoader(loader, batch_size=None)  # type: ignore[arg-type]
    return tf_dataset(loader)


def tf_dataset(loader: Loader) -> Any:
    """The batches of an epoch, copied to TensorFlow's memory; the next epoch when it is iterated over again."""
    import tensorflow as tf  # noqa: PLC0415 - only where it is wanted

    config = loader._settings.config
    if config["dtype"] == "bfloat16":
        raise ValueError('dtype="bfloat16" is for torch; give TensorFlow float32 and let it cast')
    varied = {name for name, pad in config.get("pad", {}).items() if not pad.get("length")}  # from batch to batch

    def spec(value: Any, name: str = "") -> Any:
        return tf.TensorSpec((None, *((None,) if name in varied else value.shape[1:])), tf.as_dtype(value.dtype))

    def batches() -> Iterator[Any]:
        for batch in loader._iterate("numpy"):
            yield tf.nest.map_structure(tf.convert_to_tensor, _lists(batch))

    with rebuild(loader._settings) as first:
        like = _lists(next(first._iterate("numpy")))
    kind = {name: spec(v, name) for name, v in like.items()} if isinstance(like, dict) else tf.nest.map_structure(spec, like)
    return tf.data.Dataset.from_generator(batches, output_signature=kind).prefetch(1)


def _lists(batch: Any) -> Any:
    """Arrow arrays, which TensorFlow does not know, as numpy arrays of objects."""
    if isinstance(batch, dict):
        return {name: v.to_numpy(zero_copy_only=False) if hasattr(v, "to_numpy") else v for name, v in batch.items()}
    return batch
