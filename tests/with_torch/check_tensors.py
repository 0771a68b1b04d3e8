"""Loaders give torch's tensors; a model cannot tell them from tensors in memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from loading import MEMORY, PACKAGE, dataset, epoch, flat, load, weir

ROWS = 500


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data") / "data", ROWS, group=40, features=6)


@pytest.fixture
def loader(data: Path) -> Iterator[weir.Loader]:
    with load(data, shuffle=True, batch_size=32, output=None) as made:
        yield made


def test_batches_are_tensors_in_the_memory_they_came_in(loader: weir.Loader) -> None:
    assert isinstance(loader, torch.utils.data.IterableDataset)
    for x, y in loader:
        assert x.dtype == torch.float32 and x.is_contiguous() and y.dtype == torch.int64
        assert x.shape[1] == 7 and len(x) == len(y)
        assert x.data_ptr() % 64 == 0
        x.add_(1)  # it may be written to
    assert sorted(flat(epoch(loader))) == list(range(ROWS))


def test_importing_weir_imports_nothing_large(data: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); import weir; sum(b.num_rows for b in weir.scan({str(data)!r}));"
        "print([m for m in ('torch', 'pandas', 'polars', 'tensorflow') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types(data: Path, dtype: str) -> None:
    with load(data, batch_size=16, dtype=dtype, label="f1", features=["id"], output="torch") as loader:
        x, y = next(iter(loader))
    want = torch.arange(16)
    assert x.dtype == y.dtype == getattr(torch, dtype)
    assert torch.equal(x[:, 0], want.to(x.dtype)) and torch.equal(y, (want.double() * 10 + 1).to(y.dtype))


def test_columns(tmp_path: Path) -> None:
    rows = pa.table({"id": range(10), "text": [f"t{i}" for i in range(10)], "tokens": [[i] * (i % 3) for i in range(10)]})
    pq.write_table(rows, tmp_path / "x.parquet")
    with weir.loader(tmp_path, columns=["id", "text", "tokens"], pad={"tokens": 2}, batch_size=4, memory=MEMORY) as loader:
        batch = next(iter(loader))
    assert torch.equal(batch["id"], torch.arange(4))
    assert batch["tokens"].tolist() == [[0, 0], [1, 0], [2, 2], [0, 0]] and batch["tokens.lengths"].tolist() == [0, 1, 2, 0]
    assert batch["text"].to_pylist() == ["t0", "t1", "t2", "t3"]


def test_pandas(data: Path) -> None:
    with load(data, features=None, label=None, output="pandas", batch_size=100) as loader:
        frames = list(loader)
    assert [i for f in frames for i in f["id"]] == list(range(ROWS))
    frames = list(weir.scan_parquet_as_pandas("", str(data), ["id", "y"], batch_size=100))
    assert [i for f in frames for i in f["id"]] == list(range(ROWS)) and list(frames[0].columns) == ["id", "y"]


def test_pin_memory_without_a_gpu_is_said_once_and_does_nothing(data: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one here")
    with load(data, pin_memory=True, output="torch") as loader, pytest.warns(UserWarning, match="no GPU"):
        assert flat(epoch(loader)) == list(range(ROWS))
    with load(data, device="cpu", output="torch") as loader:
        assert flat(epoch(loader)) == list(range(ROWS))


def train(batches: Any) -> dict[str, torch.Tensor]:
    """A model after two epochs."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(7, 16), torch.nn.ReLU(), torch.nn.Linear(16, 5))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        for x, y in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x / 5000), y).backward()
            optimizer.step()
    return model.state_dict()


def test_a_model_trained_from_the_loader_is_the_one_trained_from_memory(loader: weir.Loader) -> None:
    both = [[(x.clone(), y.clone()) for x, y in loader] for _ in range(2)]
    loader.set_epoch(0)
    streamed = train(loader)
    epochs = iter(both)

    class Memory:
        def __iter__(self) -> Iterator[Any]:
            return iter(next(epochs))

    held = train(Memory())
    assert all(torch.equal(streamed[name], held[name]) for name in held)


def test_lightning_and_accelerate_take_the_loader_as_it_is(data: Path, tmp_path: Path) -> None:
    import pytorch_lightning as lightning  # noqa: PLC0415 - slow
    from accelerate import Accelerator  # noqa: PLC0415

    seen: list[int] = []

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(7, 5)

        def training_step(self, batch: Any) -> torch.Tensor:
            seen.extend(batch[0][:, 0].long().tolist())
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=1e-9)

    quiet = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    with load(data, shuffle=True, batch_size=50, output="torch") as loader:
        orders = [flat(epoch(loader)) for _ in range(2)]
        loader.set_epoch(0)
        lightning.Trainer(max_epochs=2, default_root_dir=tmp_path, enable_checkpointing=False, **quiet).fit(Module(), loader)
        assert seen == flat(orders)
        loader.set_epoch(0)
        accelerator = Accelerator(cpu=True)
        model, optimizer = accelerator.prepare(torch.nn.Linear(7, 5), torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1))
        got = []
        for x, y in loader:
            accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
            optimizer.step()
            got += x[:, 0].long().tolist()
        assert got == orders[0]


def test_keras_with_torch(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    import keras  # noqa: PLC0415 - the backend is chosen here

    model = keras.Sequential([keras.layers.Input((7,)), keras.layers.Dense(5)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    with load(data, shuffle=True, batch_size=50, output="torch") as loader:
        model.fit(loader.keras(), epochs=2, verbose=0)
        assert loader.state_dict()["epoch"] == 2
