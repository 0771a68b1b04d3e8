"""Loaders that copy to a GPU, where there is one."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from loading import MEMORY, dataset, epoch, load, weir

ROWS = 5000

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data") / "data", ROWS, group=400, features=6)


def test_batches_are_on_the_gpu_and_the_same(data: Path) -> None:
    options = {"shuffle": True, "batch_size": 64, "output": "torch"}
    with load(data, **options) as plain, load(data, device="cuda", **options) as ahead:
        orders = [epoch(plain) for _ in range(2)]
        for order in orders:
            seen = []
            for x, y in ahead:
                assert x.is_cuda and y.is_cuda
                torch.cuda._sleep(200_000)  # the model is slower than the data
                seen.append((x[:, 0].clone(), (x[:, 1:].sum(1) - 60 * x[:, 0]).clone(), y))
            assert [ids.long().tolist() for ids, _, _ in seen] == order
            assert all(bool((rest == 15).all()) and bool((y == ids.long() % 5).all()) for ids, rest, y in seen)


def test_state_is_that_of_the_batch_given_not_of_the_one_ahead(data: Path) -> None:
    options = {"shuffle": True, "batch_size": 64, "output": "torch", "device": "cuda"}
    with load(data, **options) as ahead, load(data, shuffle=True, batch_size=64) as plain:
        order = epoch(plain)
        for taken, _ in enumerate(itertools.islice(ahead, 20), 1):
            state = ahead.state_dict()
            assert state["position"] == 64 * taken
        ahead.load_state_dict(state)
        assert [x[:, 0].long().tolist() for x, _ in ahead] == order[20:]


def test_pinned_batches(data: Path) -> None:
    with load(data, pin_memory=True, batch_size=64, output="torch") as loader:
        batches = list(loader)  # they are copies: none is held
    assert all(x.is_pinned() and y.is_pinned() for x, y in batches)
    assert [i for x, _ in batches for i in x[:, 0].long().tolist()] == list(range(ROWS))


def test_columns_that_are_no_tensors_stay(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("".join(f'{{"n": {i}, "text": "t{i}", "tokens": {[i] * (i % 3)}}}\n' for i in range(10)))
    options = {"columns": ["n", "text", "tokens"], "pad": {"tokens": 2}, "batch_size": 4}
    with weir.loader(tmp_path / "x.jsonl", memory=MEMORY, device="cuda", **options) as loader:
        batches = list(loader)
    assert [n for b in batches for n in b["n"].tolist()] == list(range(10)) and batches[0]["n"].is_cuda
    assert batches[0]["tokens"].tolist() == [[0, 0], [1, 0], [2, 2], [0, 0]] and batches[0]["tokens"].is_cuda
    assert [t for b in batches for t in b["text"].to_pylist()] == [f"t{i}" for i in range(10)]


def test_many_loaders_pin_and_unpin(data: Path) -> None:
    for dtype in ["float32", "bfloat16"] * 20:
        with load(data, batch_size=500, output="torch", device="cuda", dtype=dtype, features=["y"], label=None) as loader:
            assert [i for x in loader for i in x[:, 0].long().tolist()] == [i % 5 for i in range(ROWS)]
    torch.ones(10, device="cuda").sum().item()  # no error is left behind
