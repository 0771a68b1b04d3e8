"""Loaders in torch's DataLoader: every worker takes its share, and a worker's state is its own."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

from loading import children, dataset, epoch, load, weir

ROWS = 103
BATCH = 8


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data") / "data", ROWS, features=6)


@pytest.fixture
def loader(data: Path) -> Iterator[weir.Loader]:
    with load(data, shuffle=True, batch_size=BATCH, output="torch") as made:
        yield made


@pytest.fixture(scope="module")
def orders(data: Path) -> list[list[list[int]]]:
    """The batches of three epochs, as the loader alone gives them."""
    with load(data, shuffle=True, batch_size=BATCH, output="torch") as made:
        return [epoch(made) for _ in range(3)]


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (1, False), (2, False), (3, True)])
def test_workers_give_the_batches_of_the_loader_epoch_after_epoch(
    loader: weir.Loader, orders: list[list[list[int]]], workers: int, persistent: bool
) -> None:
    both = DataLoader(loader, batch_size=None, num_workers=workers, persistent_workers=persistent)
    assert len(both) == 13
    assert [epoch(both) for _ in range(3)] == orders
    loader.set_epoch(1)
    assert epoch(both) == orders[1]
    if workers:
        with pytest.raises(weir.Error, match="StatefulDataLoader"):
            loader.state_dict()
    del both
    loader.close()
    assert not children()


def test_spawned_workers_count_epochs_too(loader: weir.Loader, orders: list[list[list[int]]]) -> None:
    both = DataLoader(loader, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    assert [epoch(both) for _ in range(2)] == orders[:2]


def test_workers_go_on_from_a_state_of_the_loader_itself(loader: weir.Loader, orders: list[list[list[int]]]) -> None:
    for _ in itertools.islice(loader, 5):
        state = loader.state_dict()
    loader.load_state_dict(state)
    both = DataLoader(loader, batch_size=None, num_workers=2)
    assert [epoch(both) for _ in range(3)] == [orders[0][5:], orders[1], orders[2]]
    loader.set_epoch(0)
    assert epoch(both) == orders[0]


@pytest.mark.parametrize("world", [1, 2])
@pytest.mark.parametrize("workers", [0, 2])
def test_stateful_dataloader_goes_on_from_every_batch(data: Path, workers: int, world: int) -> None:
    options = {"shuffle": True, "batch_size": BATCH, "output": "torch", "rank": 0, "world_size": world}
    with load(data, **options) as alone:
        orders = [epoch(alone) for _ in range(3)]
    with load(data, **options) as loader:
        both = StatefulDataLoader(loader, batch_size=None, num_workers=workers)
        states = [both.state_dict()] + [both.state_dict() for _ in both]
        assert epoch(both) == orders[1]
        finished = both.state_dict()
    steps = len(orders[0])
    for taken in range(0, steps + 1, 1 if not workers else 3):
        with load(data, **options) as other:
            both = StatefulDataLoader(other, batch_size=None, num_workers=workers)
            both.load_state_dict(pickle.loads(pickle.dumps(states[taken])))
            assert epoch(both) == orders[0][taken:], taken
            if taken < steps:
                assert epoch(both) == orders[1], taken
    with load(data, **options) as other:
        both = StatefulDataLoader(other, batch_size=None, num_workers=workers)
        both.load_state_dict(finished)
        assert epoch(both) == orders[2]


def test_the_state_of_a_worker_is_not_another_s(loader: weir.Loader, orders: list[list[list[int]]]) -> None:
    state = loader.state_dict() | {"worker": 1, "workers": 2, "stride": BATCH}
    with pytest.raises(ValueError, match="worker 1 of 2"):
        loader.load_state_dict(state)
