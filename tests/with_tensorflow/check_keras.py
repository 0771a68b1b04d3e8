"""Loaders with TensorFlow and Keras, without torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from loading import MEMORY, dataset, epoch, flat, load, weir

ROWS = 300


@pytest.fixture
def loader(tmp_path: Path) -> Iterator[weir.Loader]:
    with load(dataset(tmp_path / "data", ROWS, group=40, features=6), shuffle=True, batch_size=32, output=None) as made:
        yield made


def test_datasets_have_the_batches_epoch_after_epoch(loader: weir.Loader) -> None:
    orders = [epoch(loader) for _ in range(2)]
    loader.set_epoch(0)
    batches = loader.tf_dataset()
    assert isinstance(batches, tf.data.Dataset)
    assert [s.shape.as_list() for s in batches.element_spec] == [[None, 7], [None]]
    for order in orders:
        assert [x[:, 0].numpy().astype(int).tolist() for x, _ in batches] == order


def test_columns_of_any_type(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a", "n": 1}\n{"text": "b", "n": 2}\n')
    with weir.loader(tmp_path / "x.jsonl", columns=["text", "n"], memory=MEMORY) as made:
        (batch,) = made.tf_dataset()
    assert batch["text"].numpy().tolist() == [b"a", b"b"] and batch["n"].numpy().tolist() == [1, 2]


def test_lists_padded_to_the_longest_of_a_batch(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("".join(f'{{"t": {[1] * n}}}\n' for n in (1, 2, 3, 1)))
    with weir.loader(tmp_path / "x.jsonl", columns=["t"], pad={"t": 0}, batch_size=2, memory=MEMORY) as made:
        assert [batch["t"].numpy().tolist() for batch in made.tf_dataset()] == [[[1, 0], [1, 1]], [[1, 1, 1], [1, 0, 0]]]


def test_fit_takes_the_loader(loader: weir.Loader) -> None:
    model = keras.Sequential([keras.layers.Input((7,)), keras.layers.Dense(5)])
    model.compile(keras.optimizers.SGD(1e-9), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(loader.keras(), epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    assert loader.state_dict()["epoch"] == 2
    assert sorted(flat(epoch(loader))) == list(range(ROWS))
