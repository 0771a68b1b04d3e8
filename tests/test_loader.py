"""The loader's order: every sample once an epoch, the same for all ranks and machines, and to be gone on with from any batch."""

from __future__ import annotations

import itertools
import logging
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loading import MEMORY, dataset, epoch, flat, ids, load, weir

ROWS = 73
BATCH = 4
WORLDS = (1, 2, 3, 8)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("small") / "data", ROWS)


@pytest.fixture
def opened() -> Iterator[Callable[..., weir.Loader]]:
    """Makes loaders that are closed after the test."""
    made: list[weir.Loader] = []

    def make(path: Any, **options: Any) -> weir.Loader:
        made.append(load(path, **{"batch_size": BATCH, "seed": 7, **options}))
        return made[-1]

    yield make
    for loader in made:
        loader.close()


def worlds(make: Callable[..., weir.Loader], path: Any, **options: Any) -> dict[int, list[weir.Loader]]:
    """A loader for every rank of every world size."""
    return {n: [make(path, rank=r, world_size=n, **options) for r in range(n)] for n in WORLDS}


def steps(loaders: list[weir.Loader]) -> Iterator[list[int]]:
    """What all ranks together get in each step, without what is repeated; all must get batches of one size."""
    for batches in zip(*loaders, strict=True):
        seen = [ids(b) for b in batches]
        assert len({len(s) for s in seen}) == 1
        yield flat(s[: len(s) - loader.repeated] for s, loader in zip(seen, loaders, strict=True))


def test_without_shuffle_rows_come_in_their_order(small: Path, opened: Callable[..., weir.Loader]) -> None:
    loader = opened(small)
    assert len(loader) == 19 and loader.rows == ROWS and loader.features == ["id", *(f"f{i}" for i in range(24))]
    for _ in range(2):
        batches = epoch(loader)
        assert flat(batches) == list(range(ROWS))
        assert [len(b) for b in batches] == [BATCH] * 18 + [1]


def test_every_epoch_has_an_order_of_its_own_that_depends_on_the_seed_alone(small: Path, opened: Callable[..., weir.Loader]) -> None:
    loader = opened(small, shuffle=True)
    orders = [flat(epoch(loader)) for _ in range(3)]
    assert all(sorted(o) == list(range(ROWS)) for o in orders)
    assert len({tuple(o) for o in orders}) == 3
    for options in ({"threads": 1}, {"threads": 4}, {"memory": "300MiB"}, {"buffer": 4096}, {"batch_size": 13}):
        other = opened(small, shuffle=True, **options)
        assert [flat(epoch(other)) for _ in range(3)] == orders, options
    other.set_epoch(1)
    assert flat(epoch(other)) == orders[1]
    assert flat(epoch(other)) == orders[2]
    assert flat(epoch(opened(small, shuffle=True, seed=8))) != orders[0]
    assert flat(epoch(opened(small, shuffle=True, window=8192))) != orders[0]


@pytest.mark.parametrize(("shuffle", "drop"), [(False, False), (True, False), (True, True)])
def test_any_world_goes_on_where_any_other_stopped(small: Path, opened: Callable[..., weir.Loader], shuffle: bool, drop: bool) -> None:
    """From the state after every step of every world size, every world size sees exactly what is left, in the same global order."""
    everyone = worlds(opened, small, shuffle=shuffle, drop_last=drop)
    order = flat(epoch(opened(small, shuffle=shuffle)))
    states: list[tuple[int, dict[str, Any]]] = []
    for n, loaders in everyone.items():
        at = 0
        for step in steps(loaders):
            assert sorted(step) == sorted(order[at : at + n * BATCH])
            at += len(step)
            taken = [loader.state_dict() for loader in loaders]
            assert all((t["epoch"], t["position"]) == (0, taken[0]["position"]) for t in taken)
            states.append((at, taken[-1]))
        assert at == (ROWS - ROWS % (n * BATCH) if drop else ROWS)
    for (at, state), (n, loaders) in itertools.product(states, everyone.items()):
        assert len(pickle.dumps(state)) < 400
        for loader in loaders:
            loader.load_state_dict(state)
        if state["position"] == ROWS:
            assert not list(steps(loaders))  # at the end, dropped or not
            continue
        left = flat(steps(loaders))
        end = ROWS - (ROWS - at) % (n * BATCH) if drop else ROWS
        assert sorted(left) == sorted(order[at:end]), (at, n)


def test_state_is_behind_the_batch_given_however_much_was_read_ahead(small: Path, opened: Callable[..., weir.Loader]) -> None:
    order = flat(epoch(opened(small, shuffle=True)))
    loader = opened(small, shuffle=True, batch_size=5)
    assert loader.state_dict() == loader.state_dict()
    for taken, batch in enumerate(loader, 1):
        time.sleep(0.001)
        state = loader.state_dict()
        assert state == loader.state_dict() and state["position"] == min(ROWS, 5 * taken)
        assert ids(batch) == order[5 * (taken - 1) : 5 * taken]
        if taken % 6 == 0:
            other = opened(small, shuffle=True, batch_size=7)  # a new process, other batches
            other.load_state_dict(state)
            assert other.state_dict()["position"] == state["position"]
            assert flat(epoch(other)) == order[5 * taken :]


def test_an_iteration_left_early_is_followed_by_the_next_epoch(small: Path, opened: Callable[..., weir.Loader]) -> None:
    whole = opened(small, shuffle=True)
    orders = [epoch(whole) for _ in range(3)]
    loader = opened(small, shuffle=True)
    iter(loader)  # is not begun, and does not count
    assert [ids(b) for b in itertools.islice(loader, 3)] == orders[0][:3]
    state = loader.state_dict()
    assert epoch(loader) == orders[1]
    end = loader.state_dict()
    assert (end["epoch"], end["position"]) == (2, 0)
    loader.load_state_dict(state)
    loader.set_epoch(0)  # as training loops do before every epoch: it stays where it is
    assert epoch(loader) == orders[0][3:]
    assert epoch(loader) == orders[1]
    loader.load_state_dict(end)
    assert epoch(loader) == orders[2]


def test_state_saved_at_the_last_batch_goes_on_with_an_empty_rest(small: Path, opened: Callable[..., weir.Loader]) -> None:
    loader = opened(small, shuffle=True, drop_last=True)
    for _ in loader:
        last = loader.state_dict()
    second = epoch(loader)
    loader.load_state_dict(last)
    assert epoch(loader) == []
    assert epoch(loader) == second


def test_state_of_another_order_is_refused(small: Path, tmp_path: Path, opened: Callable[..., weir.Loader]) -> None:
    state = opened(small, shuffle=True).state_dict()
    same_rows = dataset(tmp_path / "regrouped", ROWS, group=9)
    others = {
        "its seed is 7, this loader's is 8": opened(small, shuffle=True, seed=8),
        "its shuffle is True": opened(small),
        "its window is 4096, this loader's is 8192": opened(small, shuffle=True, window=8192),
        "its rows of the dataset is 73, this loader's is 50": opened(dataset(tmp_path / "fewer", 50), shuffle=True),
        "another dataset": opened(same_rows, shuffle=True),
    }
    for text, loader in others.items():
        with pytest.raises(ValueError, match=text):
            loader.load_state_dict(state)
    with pytest.raises(ValueError, match="no state of a weir loader"):
        opened(small).load_state_dict({"model": 1})


def test_a_mix_takes_datasets_by_weight_and_goes_on_anywhere(tmp_path: Path, opened: Callable[..., weir.Loader]) -> None:
    parts = {dataset(tmp_path / "a", 40): 3.0, dataset(tmp_path / "b", 40): 1.0}
    loader = opened(parts, features=["id"], shuffle=True, samples=80)
    whole = [b for x, _ in loader for b in x[:, 0].tolist()]
    assert len(whole) == 80
    assert flat_features(opened(parts, features=["id"], shuffle=True, samples=80, threads=4)) == whole
    second = opened(parts, features=["id"], shuffle=True, samples=80)
    for taken, _ in enumerate(second, 1):
        if taken % 5 == 0:
            loader.load_state_dict(second.state_dict())
            assert flat_features(loader) == whole[taken * BATCH :]
    with pytest.raises(ValueError, match="above 0"):
        opened({"a": 0.0})


def flat_features(loader: weir.Loader) -> list[float]:
    return [b for x, _ in loader for b in x[:, 0].tolist()]


def test_pickled_loaders_go_on(small: Path, opened: Callable[..., weir.Loader]) -> None:
    loader = opened(small, shuffle=True)
    batches = [ids(b) for b in itertools.islice(loader, 4)]
    text = pickle.dumps(loader)
    assert len(text) < 1500
    with pickle.loads(text) as other:
        assert batches + epoch(other) == epoch(opened(small, shuffle=True))


def test_ranks_come_from_the_environment(small: Path, opened: Callable[..., weir.Loader], monkeypatch: pytest.MonkeyPatch) -> None:
    loader = opened(small)
    whole = epoch(loader)
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ValueError, match="RANK"):
        len(loader)
    monkeypatch.setenv("RANK", "1")
    assert len(loader) == 7  # also where it was opened before
    assert epoch(loader)[:6] == whole[1:18:3]
    assert len(opened(small, rank=0, world_size=1)) == 19
    with pytest.raises(ValueError, match="rank 3 of a world of 3"):
        len(opened(small, rank=3, world_size=3))


def test_two_iterations_side_by_side_are_refused(small: Path, opened: Callable[..., weir.Loader]) -> None:
    loader = opened(small)
    first, second = iter(loader), iter(loader)
    next(first)
    next(second)
    with pytest.raises(weir.Error, match="two loaders"):
        next(first)
    next(second)
    loader.close()
    with pytest.raises(weir.Error, match="closed"):
        next(second)
    assert flat(epoch(loader)) == list(range(ROWS))


def test_batches_held_are_named_and_the_iteration_goes_on_without_them(small: Path, opened: Callable[..., weir.Loader]) -> None:
    loader = opened(small, buffer=64 << 10)
    held = []
    batches = iter(loader)
    with pytest.raises(weir.HeldError, match=r"you hold \d+ batches .* larger buffer="):
        for batch in batches:
            held.append(batch)
    seen = flat(ids(b) for b in held)
    del held, batch
    assert seen + flat(epoch(batches)) == list(range(ROWS))


def test_report_says_who_waited_and_the_log_warns(
    small: Path, opened: Callable[..., weir.Loader], caplog: pytest.LogCaptureFixture
) -> None:
    loader = opened(small)
    assert loader.report().batches == 0
    list(map(ids, loader))
    report = loader.report()
    assert (report.epoch, report.batches, report.rows) == (0, 19, ROWS)
    assert 0 < report.first <= report.waited <= report.seconds and report.slow in ("reading", "making batches", "the model")
    assert str(report).startswith("epoch 0: the model waited ") and "\n" not in str(report)
    assert not caplog.records  # of a moment nothing is said
    meter = loader._meter
    meter.began = meter.ended - 2 - 100 * meter.waited
    with caplog.at_level(logging.WARNING, "weir"):
        loader._ended(0)
        assert not caplog.records
        meter.waited += (meter.ended - meter.began) / 2
        loader._ended(0)
    assert ["the model waited 5" in r.getMessage() for r in caplog.records] == [True]


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"shuffle": "global"}, ValueError, "weir shuffle"),
        ({"features": "nothing*"}, ValueError, "nothing"),
        ({"batch_size": 0}, ValueError, "at least one row"),
        ({"seed": -1}, ValueError, "seed"),
        ({"window": "much"}, ValueError, "is no size"),
        ({"device": "cuda"}, ValueError, "torch"),
        ({"columns": ["id"]}, ValueError, "choose one"),
        ({"output": "xml"}, ValueError, "numpy"),
        ({"colour": 1}, TypeError, "colour"),
        ({"memory": "24MiB"}, MemoryError, "try memory="),
        ({"path": "/nowhere"}, FileNotFoundError, "/nowhere"),
    ],
)
def test_mistakes_are_said_as_python_says_them(
    small: Path, opened: Callable[..., weir.Loader], options: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        len(opened(**{"path": small, "memory": MEMORY, **options}))


def test_damage_is_named(small: Path, tmp_path: Path, opened: Callable[..., weir.Loader]) -> None:
    whole = (small / "part-0.parquet").read_bytes()
    (tmp_path / "bad.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(weir.DataError, match=r"bad\.parquet"):
        len(opened(tmp_path / "bad.parquet"))
